/** Limits of an import, with their units in their names; its bodies have the limits of ingestion. */
import { EVENT_BYTES_MAX, FLUSH_ROWS_MAX } from "../limits.ts";

/** Lines of one body: as many as one flush takes. */
export const IMPORT_LINES_MAX = FLUSH_ROWS_MAX;
/** A line: the largest event, what a server adds to it, and its `extra`. */
export const IMPORT_LINE_BYTES_MAX = 3 * EVENT_BYTES_MAX;
/** A line without its `extra`: an export repeats a path that was only in the URL. */
export const IMPORT_EVENT_BYTES_MAX = EVENT_BYTES_MAX + 32 * 1024;
/** Characters of a place, browser or system; names in databases of places have up to some hundred. */
export const STATED_TEXT_LENGTH_MAX = 1_000;
/** Imports that a server remembers as recorded in the audit. */
export const IMPORTS_REMEMBERED_MAX = 1_000;
