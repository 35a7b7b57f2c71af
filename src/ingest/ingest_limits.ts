/** Limits of ingestion and its journal, with their units in their names. */

/** How long a journal row stays after its projection: live tails read it, and a tail's cursor is valid as long. */
export const JOURNAL_KEPT_MS = 48 * 3_600_000;
/** Journal rows that one transaction deletes; it is kept short for the sake of others. */
export const JOURNAL_PURGE_CHUNK_ROWS = 1_000;
/**
 * Levels of objects and arrays in each member of an event but `properties`, the member itself being
 * the first. The first step on an event's way to end is V8's `JSON.stringify` of an object without a
 * prototype, which `extra` is: at some 5,350 levels, at fewer where the stack is deep already.
 */
export const EVENT_LEVELS_MAX = 1_000;

/** Of the rows and bytes that may wait, what those of one project may be, before it is refused more. */
export const QUEUED_BY_ONE_SHARE_MAX = 0.75;

/** Turns of the event loop without another request, after which what waits is stored. */
export const GATHER_QUIET_TURNS = 3;
/** Rows with which it is stored without waiting for more: those of a journal block. */
export const GATHER_ROWS = 500;
/** The time after which it is stored however many more arrive. */
export const GATHER_MS_MAX = 3;
/** Rows with which a flush starts beside another one. */
export const FLUSH_BESIDE_ROWS_MIN = 250;
/** A flush that is under way for so long no longer holds up fewer rows than these. */
export const FLUSH_BESIDE_MS = 50;
