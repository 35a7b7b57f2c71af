/** Limits of ingestion and its journal, with their units in their names. */

/** How long a journal row stays after its projection: live tails read it, and a tail's cursor is valid as long. */
export const JOURNAL_KEPT_MS = 48 * 3_600_000;
/** Journal rows that one transaction deletes; it is kept short for the sake of others. */
export const JOURNAL_PURGE_CHUNK_ROWS = 1_000;
