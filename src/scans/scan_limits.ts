/** Characters of a property's values that the database compares in one statement. */
export const PROPERTY_BATCH_LENGTH_MAX = 4_000_000;
/** Numbers of a property that are gathered before equal ones are counted together. */
export const FIGURES_MET = 1_000_000;
/** Lazy columns that are loaded together for a read's filters; where there are more, they take turns. */
export const LAZY_COLUMNS_AT_ONCE = 6;
/**
 * A thread that helps with a scan stops once other work has taken this many milliseconds of it, plus
 * `SPARE_TIME_OTHERS_SHARE` of a millisecond for each that it has visited.
 */
export const SPARE_TIME_GRACE_MS = 5;
export const SPARE_TIME_OTHERS_SHARE = 0.25;
/** Requests that a worker has at most: the one it is at, and the next. */
export const WORKER_REQUESTS_MAX = 2;
/** Characters of a property's value up to which its text is kept while it is counted; longer ones are read again. */
export const PROPERTY_TEXT_LENGTH_KEPT = 256;
