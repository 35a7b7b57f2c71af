/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import type { Changes } from "./location_query.ts";
import { go, hrefFor } from "./location_state.ts";

interface ViewLinkProps {
  /** The changes to the address. */
  readonly to: Changes;
  readonly class?: string;
  readonly isCurrent?: boolean;
  /** What it leads to, shown on hover. */
  readonly title?: string;
  /** Its accessible name, if its content has none. */
  readonly label?: string | undefined;
  /** Reached by other keys than Tab. */
  readonly isOutsideTabOrder?: boolean;
  readonly children: ComponentChildren;
}

/** A link to another view, or to another part of one. */
export function ViewLink(
  { to, isCurrent = false, isOutsideTabOrder = false, title, label, children, ...rest }:
    ViewLinkProps,
) {
  return (
    <a
      class={rest.class}
      href={hrefFor(to)}
      title={title}
      aria-label={label}
      tabIndex={isOutsideTabOrder ? -1 : undefined}
      aria-current={isCurrent ? "page" : undefined}
      onClick={(event) => {
        // The browser opens another tab or window.
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
