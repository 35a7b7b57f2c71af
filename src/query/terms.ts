/** Ids that these names have among the terms of every project. */
export const PAGE_VIEW = 1;
export const CLICK = 2;
export const SCROLL = 3;
export const RESERVED_NAMES: readonly string[] = ["page_view", "click", "scroll"];

/** Ids of the names that are not up to this are those of custom events. */
export const RESERVED_TERM_MAX = SCROLL;
