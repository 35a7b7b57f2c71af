/** The ids of these names in the terms of every project. */
export const PAGE_VIEW = 1;
export const CLICK = 2;
export const SCROLL = 3;
export const RESERVED_NAMES: readonly string[] = ["page_view", "click", "scroll"];

/** Names of custom events have larger ids. */
export const RESERVED_TERM_MAX = SCROLL;

/**
 * Returns the ids of click and scroll, which pages report automatically, except those that a match names.
 * Their events are not steps of a journey, and do not interrupt a strict funnel.
 */
export function unnamedInteractions(
  matches: readonly { readonly name: string | null }[],
): number[] {
  const named = new Set(matches.map(({ name }) => name));
  return [CLICK, SCROLL].filter((id) => !named.has(RESERVED_NAMES[id - 1]!));
}
