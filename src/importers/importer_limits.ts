/** Bounds of files of other products, each with its unit. What memory a file takes follows from them. */

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

/** What is read of a file at once. */
export const READ_BYTES = 64 * KIBIBYTE;
/** One row: a line of JSON, an element of an array, a record of CSV. An event keeps 64 KiB of it. */
export const ROW_BYTES_MAX = 1 * MEBIBYTE;
/** A row that holds a whole visit with everything it did. */
export const VISIT_BYTES_MAX = 8 * MEBIBYTE;
/** Levels of objects and arrays in a row: exports have some six. */
export const ROW_LEVELS_MAX = 64;
/** Objects and arrays in a row: 8 MiB of `[],` would be three million, and take 700 MB. */
export const ROW_CONTAINERS_MAX = 100_000;
/** A shorter text holds neither too many levels nor too many containers for JSON to be read. */
export const ROW_LENGTH_UNSCANNED = 4 * KIBIBYTE;
/** Rows of one step from file to events. */
export const ROWS_AT_ONCE = 500;
/** Columns of a CSV file. */
export const CSV_COLUMNS_MAX = 200;

/** Inflated bytes from which on a compressed file must not be as much larger than it was. */
export const INFLATED_BYTES_TRUSTED = 64 * MEBIBYTE;
/** Real exports shrink to a tenth; a run of zeros to a thousandth. */
export const INFLATION_MAX = 400;
/** Files in a zip: an Amplitude export has some for each hour of a year. */
export const ZIP_ENTRIES_MAX = 100_000;
/** The table of contents of a zip. */
export const ZIP_DIRECTORY_BYTES_MAX = 32 * MEBIBYTE;

/** A group of rows of a Parquet file, as its own notes tell its size uncompressed. */
export const PARQUET_GROUP_BYTES_MAX = 512 * MEBIBYTE;

/** Rows without an id of their own that are kept in mind, so that equal ones get ordinals. */
export const EQUAL_ROWS_REMEMBERED = 1_000_000;

/** What is held at once of properties that stand in a file of their own. */
export const JOINED_BYTES_MAX = 64 * MEBIBYTE;

/** Rows among which a file's source must show itself. */
export const ROWS_LOOKED_AT = 100;
/** Events that a dry run shows. */
export const SAMPLE_EVENTS = 3;
/** Reasons, names and refusals that a dry run lists each. */
export const SUMMARY_ROWS_MAX = 20;
/** Distinct names that a dry run counts; what comes after them is counted as one. */
export const NAMES_COUNTED_MAX = 1_000;

/** A file that is sent to the server to be imported there. */
export const UPLOAD_BYTES_MAX = 10 * MEBIBYTE;
/** How long the server works on it; what takes longer is for the command. */
export const UPLOAD_MS_MAX = 60_000;

/** Values of days in one import of daily sums: all are held, 70 bytes of memory each (0.3 GB in all). */
export const SUMS_GATHERED_MAX = 3_000_000;
