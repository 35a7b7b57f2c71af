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
/** What is shown by that choice. */
export const shownScheme = computed<"light" | "dark">(() =>
  theme.value !== "system" ? theme.value : isSystemDark.value ? "dark" : "light"
);

/**
 * Brings back the choice and keeps the page to it. In a frame it is as the page around it is. Called
 * once.
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
    // The style knows no media query: what is shown is decided here alone.
    document.documentElement.dataset.theme = shownScheme.value;
    if (isFramed) return;
    try {
      localStorage.setItem(STORAGE_KEY, theme.value);
    } catch { /* it then lasts as long as the page */ }
  });
}
