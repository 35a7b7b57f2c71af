/** Characters of a property's values that the database compares in one statement. */
export const PROPERTY_BATCH_LENGTH_MAX = 4_000_000;
/** Numbers of a property that are gathered before equal ones are merged into counts. */
export const FIGURES_GATHERED_MAX = 1_000_000;
/** Lazy columns that are loaded together for a read's filters; more are loaded in turns. */
export const LAZY_COLUMNS_AT_ONCE = 6;
/**
 * A thread that helps with a scan stops once other work has taken this many milliseconds of the thread, plus
 * `SPARE_TIME_OTHERS_SHARE` of the time that the scan has.
 */
export const SPARE_TIME_GRACE_MS = 5;
export const SPARE_TIME_OTHERS_SHARE = 0.25;
/** The most requests a worker has: the current one and the next. */
export const WORKER_REQUESTS_MAX = 2;
/**
 * Values of a property up to this many characters are kept as text while they are counted; longer ones are
 * read again.
 */
export const PROPERTY_TEXT_LENGTH_KEPT = 256;
