/** Limits of ingestion and its journal. Units stand in the names. */

/** How long a journal row stays after its projection: live tails read it, for as long as a tail's cursor holds. */
export const JOURNAL_KEPT_MS = 48 * 3_600_000;
/** Journal rows that one transaction deletes, so that others need not wait for it. */
export const JOURNAL_PURGE_CHUNK_ROWS = 1_000;
