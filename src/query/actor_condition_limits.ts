/** Bounds of conditions on actors: what a read has to count for each of them. */

/** Conditions that are no combination of others. */
export const CONDITION_LEAVES_MAX = 20;
/** Combinations inside one another, the innermost condition included. */
export const CONDITION_LEVELS_MAX = 4;
/** `atLeast` and `atMost`. */
export const CONDITION_TIMES_MAX = 1_000_000;
/** `within` as a number of days: ten years and leap days. */
export const CONDITION_DAYS_MAX = 3_653;
/** What the JSON of the deepest condition, with the values of a filter in it, has of levels; and then some. */
export const CONDITION_JSON_LEVELS_MAX = 16;
