/// <reference lib="dom" />
import { signal } from "@preact/signals";

/** Links that let somebody in once: to be the owner, to join, to choose a new password. */
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

/** The link that the page was opened by; null: none, or it is done with. */
export const openedLink = signal<OpenedLink | null>(readFragment());

/**
 * Takes the secret out of the address. Until then it stays: a page that is reloaded, or that a phone
 * put away, goes on where it was.
 */
export function leaveLink(): void {
  history.replaceState(history.state, "", location.pathname + location.search);
  openedLink.value = null;
}

/** A link opened in this very tab changes nothing but the fragment. Called once. */
export function followLinks(): void {
  addEventListener("hashchange", () => {
    openedLink.value = readFragment() ?? openedLink.peek();
  });
}
