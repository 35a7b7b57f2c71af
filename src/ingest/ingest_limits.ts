/** Limits of ingestion and its journal, with their units in their names. */

/** Journal rows that one transaction deletes; few, so that others need not wait for it. */
export const JOURNAL_PURGE_CHUNK_ROWS = 1_000;
/**
 * Levels of objects and arrays in each member of an event except `properties`; the member itself is the first
 * level. The first step that fails on deeper ones is V8's `JSON.stringify` of an object without a prototype,
 * such as `extra`: at about 5,350 levels, or fewer if the stack is already deep.
 */
export const EVENT_LEVELS_MAX = 1_000;

/** The share of the queue's rows and bytes that one project may use. */
export const QUEUED_BY_ONE_SHARE_MAX = 0.75;

/** Queued rows are flushed after this many turns of the event loop without another request, */
export const GATHER_QUIET_TURNS = 3;
/** or once there are this many, those of a journal block, */
export const GATHER_ROWS = 500;
/** or after this time, even if more arrive. */
export const GATHER_MS_MAX = 3;
/** Rows that are enough to start a flush while another one is running. */
export const FLUSH_BESIDE_ROWS_MIN = 250;
/** A flush that has been running for longer does not hold up smaller ones any more. */
export const FLUSH_BESIDE_MS = 50;
