/** Characters of a property's values that the database compares at once. */
export const PROPERTY_BATCH_LENGTH_MAX = 4_000_000;
/** Numbers of a property that are kept one by one before they are counted. */
export const FIGURES_MET = 1_000_000;
/** Lazy columns that a read's filters have loaded together: of many filters, those after wait for the next. */
export const LAZY_COLUMNS_AT_ONCE = 6;
/**
 * Milliseconds that others may take of a thread that helps with a scan, beside a share of its own work,
 * before it counts as busy.
 */
export const SPARE_TIME_GRACE_MS = 5;
/** What others may take of it for each millisecond that it visits. */
export const SPARE_TIME_OTHERS_SHARE = 0.25;
