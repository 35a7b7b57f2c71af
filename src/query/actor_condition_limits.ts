/** Limits of conditions on actors, since a read has to count for each of them. */

/** Conditions that combine no others. */
export const CONDITION_LEAVES_MAX = 20;
/** Levels of nesting, the innermost condition included. */
export const CONDITION_LEVELS_MAX = 4;
/** `atLeast` and `atMost`. */
export const CONDITION_TIMES_MAX = 1_000_000;
/** `within` as a number of days: ten years with their leap days. */
export const CONDITION_DAYS_MAX = 3_653;
/** Levels of JSON: more than the deepest condition has, down to the values of its filters. */
export const CONDITION_JSON_LEVELS_MAX = 16;
