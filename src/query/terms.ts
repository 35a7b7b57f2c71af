/** The ids of these names in the terms of every project. */
export const PAGE_VIEW = 1;
export const CLICK = 2;
export const SCROLL = 3;
export const RESERVED_NAMES: readonly string[] = ["page_view", "click", "scroll"];

/** Names of custom events have larger ids. */
export const RESERVED_TERM_MAX = SCROLL;
