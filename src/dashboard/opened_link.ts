/// <reference lib="dom" />
import { signal } from "@preact/signals";

/** A single-use link: to become the owner, to join, or to choose a new password. */
export interface OpenedLink {
  readonly kind: "setup" | "invitation" | "reset";
  readonly secret: string;
}

function readFragment(): OpenedLink | null {
  const match = /^#(setup|invitation|reset)=(.+)$/.exec(globalThis.location?.hash ?? "");
  return match === null
    ? null
    : { kind: match[1] as OpenedLink["kind"], secret: decodeURIComponent(match[2]!) };
}

/** The link that the page was opened by; null: none, or it was used. */
export const openedLink = signal<OpenedLink | null>(readFragment());

/**
 * Removes the secret from the address. Until then it stays, so that a page that is reloaded, also by a phone,
 * continues where it was.
 */
export function leaveLink(): void {
  history.replaceState(history.state, "", location.pathname + location.search);
  openedLink.value = null;
}

/** Follows links opened in this tab, which change only the fragment. Called once. */
export function followLinks(): void {
  addEventListener("hashchange", () => {
    openedLink.value = readFragment() ?? openedLink.peek();
  });
}
