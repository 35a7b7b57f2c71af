/** Limits for files of other products, with their units in their names. They bound the memory of an import. */

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

/** Bytes of a file that are read at once. */
export const READ_BYTES = 64 * KIBIBYTE;
/** One row: a line of JSON, an element of an array, a record of CSV. An event may keep 64 KiB of it. */
export const ROW_BYTES_MAX = 1 * MEBIBYTE;
/** A row that holds a whole visit with all its actions. */
export const VISIT_BYTES_MAX = 8 * MEBIBYTE;
/** Levels of objects and arrays in a row: exports have about six. */
export const ROW_LEVELS_MAX = 64;
/** Objects and arrays in a row: the three million of 8 MiB of `[],` would take 700 MB of memory. */
export const ROW_CONTAINERS_MAX = 100_000;
/** A shorter text is parsed without a scan: it cannot hold too many levels or containers. */
export const ROW_LENGTH_UNSCANNED = 4 * KIBIBYTE;
/** Rows that are converted, or stored, at once. */
export const ROWS_AT_ONCE = 500;
/** Columns of a CSV file. */
export const CSV_COLUMNS_MAX = 200;

/** Inflated bytes beyond which a file may be at most INFLATION_MAX times as large as compressed. */
export const INFLATED_BYTES_TRUSTED = 64 * MEBIBYTE;
/** Real exports shrink to a tenth; a run of zeros to a thousandth. */
export const INFLATION_MAX = 400;
/** Files in a zip: an Amplitude export has several for each hour, 8,760 hours a year. */
export const ZIP_ENTRIES_MAX = 100_000;
/** The table of contents of a zip. */
export const ZIP_DIRECTORY_BYTES_MAX = 32 * MEBIBYTE;

/** A group of rows of a Parquet file, by the uncompressed size that the file states. */
export const PARQUET_GROUP_BYTES_MAX = 512 * MEBIBYTE;
/** Rows of such a group, and values of each of its columns: a few bytes can stand for millions of equal ones. */
export const PARQUET_GROUP_ROWS_MAX = 1024 * 1024;

/** Rows without an id that are remembered, so that equal ones are numbered. */
export const EQUAL_ROWS_REMEMBERED = 1_000_000;

/** Properties from a separate file that are held in memory at once. */
export const JOINED_BYTES_MAX = 64 * MEBIBYTE;

/** Rows among which one must be of the expected product. */
export const ROWS_LOOKED_AT = 100;
/** Events that a dry run shows. */
export const SAMPLE_EVENTS = 3;
/** The maximum number of reasons, of names and of refusals that a dry run lists. */
export const SUMMARY_ROWS_MAX = 20;
/** Distinct names that a dry run counts; further names are counted together. */
export const NAMES_COUNTED_MAX = 1_000;

/** A file that is sent to the server for import. */
export const UPLOAD_BYTES_MAX = 10 * MEBIBYTE;
/** Bytes of all such files in memory at once: as they were sent, and inflated. */
export const UPLOADS_IN_FLIGHT_BYTES_MAX = 64 * MEBIBYTE;
/** How long the server may process such a file; larger imports need the command. */
export const UPLOAD_MS_MAX = 60_000;
/** How much of it may be read in total: to find its product, and Umami's tables several times. */
export const UPLOAD_READ_BYTES_MAX = 32 * UPLOAD_BYTES_MAX;

/** Values of days in one import of daily sums: 70 bytes each in memory, and their texts (0.3 GB in total). */
export const SUMS_GATHERED_MAX = 3_000_000;
