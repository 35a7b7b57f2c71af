/** Limits of the upgrade, with their units in their names. */

/** Earlier events that are moved into the journal in one transaction. */
export const MOVED_EVENTS = 2_000;
/** Rows of the journal that may wait for the projection; more pause the move. */
export const MOVED_ROWS_WAITING_MAX = 8;
/** How long to wait for the projection, and after a failure. */
export const UPGRADE_PAUSE_MS = 200;
export const UPGRADE_FAILURE_PAUSE_MS = 5_000;
/** How long to wait for events that the projection has set aside. */
export const UPGRADE_ASIDE_PAUSE_MS = 5_000;
/** How long dropping the old table may hold up ingestion. */
export const UPGRADE_LOCK_MS_MAX = 2_000;
/** How long a statement that searches all earlier events for one person's may take. */
export const UPGRADE_SCAN_MS_MAX = 600_000;
/** Expired earlier events that are deleted in one transaction. */
export const EXPIRED_AT_ONCE = 10_000;
