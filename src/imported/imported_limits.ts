/** Limits for daily sums that are imported from other products, with their units in their names. */

const MEBIBYTE = 1024 * 1024;

/** One request: bytes of its JSON, and its days. Each dimension of a day counts as one. */
export const IMPORTED_BODY_BYTES_MAX = 4 * MEBIBYTE;
export const IMPORTED_DAYS_PER_REQUEST_MAX = 2_000;
/** Values of one day; pages have the most. */
export const IMPORTED_VALUES_PER_DAY_MAX = 20_000;
/** One figure of one value on one day. */
export const IMPORTED_FIGURE_MAX = 2_000_000_000;
/** The text of one value, in UTF-16 units; paths are the longest. */
export const IMPORTED_VALUE_LENGTH_MAX = 2_048;
