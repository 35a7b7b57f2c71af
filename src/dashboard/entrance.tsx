/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Mark } from "./icons.tsx";

interface EntranceProps {
  readonly title: string;
  /** What happened, if the person did not ask for it. */
  readonly message?: string | null;
  readonly children: ComponentChildren;
}

/** The frame of the pages before the dashboard: signing in, links, outages. */
export function Entrance({ title, message = null, children }: EntranceProps) {
  useEffect(() => {
    const before = document.title;
    document.title = `${title} · Footfall`;
    return () => {
      document.title = before;
    };
  }, [title]);
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <p class="brand">
          <Mark size={32} /> <span>Footfall</span>
        </p>
        <h1 class="view-title">{title}</h1>
        {message !== null && <p class="banner" role="alert">{message}</p>}
        {children}
      </div>
    </main>
  );
}

/** The "or" between two ways to sign in. */
export function Or() {
  return (
    <p class="or">
      <span>or</span>
    </p>
  );
}
