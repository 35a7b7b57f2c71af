/// <reference lib="dom" />

const controlsOf = (row: Element): HTMLElement[] => [
  ...row.querySelectorAll<HTMLElement>("button, a[href]"),
];

/** The titled part of the page that a control stands in. */
export const partOf = (control: Element | null): Element | null =>
  control?.closest("section, main") ?? null;

/**
 * Puts the focus beside a control that has gone or is about to, as the row of what was deleted: on the next row's,
 * else on that of the row before, else on the title of its part. It would fall to the beginning of the page.
 */
export function focusBeside(control: HTMLElement, part: Element | null): void {
  const row = control.closest("tr, li");
  // Of a table that has gone the rows still stand beside each other.
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
