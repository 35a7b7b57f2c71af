/// <reference lib="dom" />

const controlsOf = (row: Element): HTMLElement[] => [
  ...row.querySelectorAll<HTMLElement>("button, a[href]"),
];

/** The titled part of the page around a control. */
export const partOf = (control: Element | null): Element | null =>
  control?.closest("section, main") ?? null;

/**
 * Moves the focus from a control that disappears, as with the row of what was deleted, to the same one of the
 * next or else the previous row, else to the title of its part. Else it would go to the start of the page.
 */
export function focusBeside(control: HTMLElement, part: Element | null): void {
  const row = control.closest("tr, li");
  // The rows of a table that is gone are still siblings, but cannot have the focus.
  const rows = row?.parentElement?.isConnected ? [...row.parentElement.children] : [];
  const at = rows.indexOf(row!);
  const others = [...rows.slice(at + 1), ...rows.slice(0, Math.max(0, at)).reverse()];
  const beside = others.map(controlsOf).find(({ length }) => length > 0);
  if (beside !== undefined) {
    const place = Math.max(0, controlsOf(row!).indexOf(control));
    beside[Math.min(place, beside.length - 1)]!.focus();
    return;
  }
  const title = part?.querySelector<HTMLElement>("h1, h2");
  if (!title) return;
  title.tabIndex = -1;
  title.focus();
}
