/** Limits of ingestion and its journal. Units stand in the names. */

/** How long a journal row stays after its projection: live tails read it, for as long as a tail's cursor holds. */
export const JOURNAL_KEPT_MS = 48 * 3_600_000;
/** Journal rows that one transaction deletes, so that others need not wait for it. */
export const JOURNAL_PURGE_CHUNK_ROWS = 1_000;
/**
 * Levels of objects and arrays in each member of an event but `properties`, the member itself being
 * the first. The first step on an event's way to end is V8's `JSON.stringify` of an object without a
 * prototype, which `extra` is: at some 5,350 levels, at fewer where the stack is deep already.
 */
export const EVENT_LEVELS_MAX = 1_000;
