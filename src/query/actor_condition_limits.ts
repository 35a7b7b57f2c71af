/** Bounds of conditions on actors, for each of which a read has to count. */

/** Conditions that are no combination of others. */
export const CONDITION_LEAVES_MAX = 20;
/** Levels of nesting, the innermost condition included. */
export const CONDITION_LEVELS_MAX = 4;
/** `atLeast` and `atMost`. */
export const CONDITION_TIMES_MAX = 1_000_000;
/** `within` as a number of days: ten years and leap days. */
export const CONDITION_DAYS_MAX = 3_653;
/** Levels of JSON: more than the deepest condition has with the values of a filter in it. */
export const CONDITION_JSON_LEVELS_MAX = 16;
