import { RANGE_YEARS_MAX } from "../limits.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** Maximum events and journal rows of one transaction, and events of a project's first transaction. */
export const PROJECTION_EVENTS_MAX = 20_000;
export const PROJECTION_EVENTS_MAX_EMBEDDED = 16_000;
export const PROJECTION_EVENTS_FIRST = 10_000;
export const PROJECTION_EVENTS_FIRST_EMBEDDED = 1_000;
export const PROJECTION_ROWS_MAX = 5_000;
/** About how many bytes of journal blocks one transaction reads, and how many characters of text. */
export const PROJECTION_BLOCK_BYTES_AIM = 16 * 1024 * 1024;
export const PROJECTION_TEXT_CHARACTERS_AIM = 32 * 1024 * 1024;
/** The time a transaction aims at by taking fewer or more events, but not below `…_AIM_EVENTS_MIN`. */
export const PROJECTION_AIM_MS = 1 * SECOND_MS;
/**
 * Shorter on the embedded engine, where reads and ingestion wait for the transaction. 65 ms of it go to the
 * rollups of a day, however few the events: with 250 ms, only two thirds as many events a second are
 * projected.
 */
export const PROJECTION_AIM_MS_EMBEDDED = 500;
export const PROJECTION_AIM_EVENTS_MIN = 1_000;
/** The time limit of a transaction and of each statement; after it, half as many events are tried. */
export const PROJECTION_MS_MAX = 5 * SECOND_MS;
/** The time limit of a statement that settles a project after a change of its settings. */
export const SETTLING_STATEMENT_MS_MAX = 15 * SECOND_MS;
/** How long an event that fails alone is set aside before it is tried again. */
export const SET_ASIDE_MS = 10 * MINUTE_MS;
/** How often an event must fail alone before it is set aside, if machine or database may be the cause. */
export const FAILURES_ALONE_MAX = 3;
/** Number of projects that one server projects at once. */
export const PROJECTIONS_AT_ONCE_POSTGRES = 2;
export const PROJECTIONS_AT_ONCE_EMBEDDED = 1;
/** Pauses: while nothing is pending, after a failure, and while another server projects the project. */
export const PROJECTION_PAUSE_MS = 1 * SECOND_MS;
export const PROJECTION_FAILURE_PAUSE_MS = 1 * SECOND_MS;
export const PROJECTION_ELSEWHERE_PAUSE_MS = 50;
/**
 * On the embedded engine the projection rests three times as long as it worked, unless a read waits for it,
 * and only while others use the engine: without them, the backlog of an import is projected up to four
 * times as fast.
 */
export const PROJECTION_REST_SHARE_EMBEDDED = 3;
/** A project with more segments has them merged at any time; otherwise only while nothing is projected. */
export const SEGMENTS_UNMERGED_MAX = 100;
export const MERGING_PAUSE_MS = 1 * SECOND_MS;
/** How long an idle worker may take to close its connections. */
export const PROJECTION_CLOSE_MS_MAX = 1 * SECOND_MS;
/**
 * How often the worker is pinged, and how many pings in a row may go unanswered before it counts as lost.
 * That is a minute; nothing holds its thread for longer than a few seconds.
 */
export const PROJECTION_SIGN_PAUSE_MS = 10 * SECOND_MS;
export const PROJECTION_SIGNS_OWED_MAX = 6;
/**
 * A recount deletes this many rollup rows per statement, then counts slices of this many actors, or, if these
 * have more, of about this many sessions.
 */
export const ROLLUP_ROWS_DELETED_AT_ONCE = 200_000;
export const RECOUNT_SLICE_ACTORS = 5_000;
export const RECOUNT_SLICE_SESSIONS = 50_000;
/** How long until a recount that failed on an unreadable segment is retried. */
export const RECOUNT_AGAIN_MS = 10 * MINUTE_MS;
/**
 * How many days back links of the acquisition rollup reach; earlier days are stored as this many days back.
 * Reads only ask whether a linked day lies before their range, and no range is longer. So events of thousands
 * of years do not lengthen rows.
 */
export const LINK_DAYS_MAX = 366 * RANGE_YEARS_MAX + 2;
/** Rows of the acquisition rollup that are changed in memory before they are stored: 1 KB each. */
export const ACQUISITION_ROWS_HELD_MAX = 100_000;
/**
 * About how many expired events, and at most about how many days of them, one transaction deletes; and how
 * many ids one statement deletes.
 */
export const EXPIRED_EVENTS_AIM = 500_000;
export const EXPIRED_DAYS_AIM = 1_000;
export const IDS_DELETED_AT_ONCE = 10_000;
/** Journal rows that one statement reads when events are removed from them. */
export const JOURNAL_ROWS_READ_AT_ONCE = 100;
/**
 * When visits of a known actor change, the rollup needs the neighbouring visits with the same values. The
 * newest sessions are read first, then this many on each side of the change, then all.
 */
export const NEWEST_VISITS = 64;
export const NEAR_VISITS = 1_024;
/** What is cached of all projects together, in rows and texts of 100 to 400 bytes; and the limits of each cache. */
export const KNOWN_ENTRIES_MAX = 2_000_000;
export const KNOWN_TEXTS_MAX = 100_000;
export const KNOWN_CHARACTERS_MAX = 4 * 1024 * 1024;
/** Number of projects whose batch sizes, and whose growth for ANALYZE, are kept in memory. */
export const BATCH_SIZES_KNOWN_MAX = 100;
/** Dictionary rows that one statement reads or reclassifies, as a range of numbers (gaps count). */
export const DICTIONARY_ROWS_AT_ONCE = 20_000;
/** Number of UTC days whose local days are cached per project. */
export const KNOWN_DAYS_MAX = 10_000;
/**
 * ANALYZE runs after this many projected events, then whenever their number has grown fivefold; from
 * ANALYSE_LARGE_EVENTS on whenever it has doubled, and at least every ANALYSE_EVENTS_MAX. Without it, a
 * filter on the titles of 200 events took 4 s. With ANALYZE at each doubling from the start, a new server
 * ingested its first 70,000 events a fifth more slowly.
 */
export const ANALYSE_EVENTS_MIN = 50;
export const ANALYSE_LARGE_EVENTS = 20_000;
export const ANALYSE_EVENTS_MAX = 1_000_000;
