/** Limits of an import. Units stand in the names; its bodies have those of ingestion. */
import { EVENT_BYTES_MAX, FLUSH_ROWS_MAX } from "../limits.ts";

/** Lines of one body: as many as one flush takes. */
export const IMPORT_LINES_MAX = FLUSH_ROWS_MAX;
/** One line: an event as large as may be, all that a server says of it, and its `extra` apart. */
export const IMPORT_LINE_BYTES_MAX = 3 * EVENT_BYTES_MAX;
/** Of these, what an event may hold without its `extra`: an export tells a path that was only in the URL. */
export const IMPORT_EVENT_BYTES_MAX = EVENT_BYTES_MAX + 32 * 1024;
/** Characters of a place, browser or system: databases of places have up to some hundred. */
export const TOLD_TEXT_LENGTH_MAX = 1_000;
/** Imports that a server remembers to have recorded in the audit. */
export const IMPORTS_REMEMBERED_MAX = 1_000;
