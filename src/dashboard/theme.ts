/// <reference lib="dom" />
import { computed, effect, signal } from "@preact/signals";
import { isFramed } from "./share.ts";

export type Theme = "system" | "light" | "dark";

const STORAGE_KEY = "footfall.theme";
const dark = globalThis.matchMedia?.("(prefers-color-scheme: dark)");

function stored(): Theme {
  try {
    const value = localStorage.getItem(STORAGE_KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

const isSystemDark = signal(dark?.matches ?? false);

/** The person's choice, kept in this browser. */
export const theme = signal<Theme>("system");
/** The scheme that the choice leads to. */
export const shownScheme = computed<"light" | "dark">(() =>
  theme.value !== "system" ? theme.value : isSystemDark.value ? "dark" : "light"
);

/**
 * Restores the choice and applies it to the page. In a frame, the surrounding page decides. Called once.
 */
export function followTheme(): void {
  if (!isFramed) theme.value = stored();
  dark?.addEventListener("change", ({ matches }) => isSystemDark.value = matches);
  // Paper is white, whatever is shown.
  const { dataset } = document.documentElement;
  addEventListener("beforeprint", () => {
    // Charts are drawn already: the style of paper inverts them.
    dataset.drawn = shownScheme.peek();
    dataset.theme = "light";
  });
  addEventListener("afterprint", () => dataset.theme = shownScheme.peek());
  effect(() => {
    // The style sheet has no media query for the scheme: only this attribute decides.
    document.documentElement.dataset.theme = shownScheme.value;
    if (isFramed) return;
    try {
      localStorage.setItem(STORAGE_KEY, theme.value);
    } catch { /* it then lasts as long as the page */ }
  });
}
