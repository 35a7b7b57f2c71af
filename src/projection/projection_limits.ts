/** Limits of the projection. */
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** Events and journal rows of one transaction, and events of a project's first one. */
export const PROJECTION_EVENTS_MAX = 20_000;
export const PROJECTION_EVENTS_MAX_EMBEDDED = 4_000;
export const PROJECTION_EVENTS_FIRST = 10_000;
export const PROJECTION_EVENTS_FIRST_EMBEDDED = 1_000;
export const PROJECTION_ROWS_MAX = 5_000;
/** Bytes of the journal's blocks that one transaction reads at about, and characters of the events' texts. */
export const PROJECTION_BLOCK_BYTES_AIM = 16 * 1024 * 1024;
export const PROJECTION_TEXT_CHARACTERS_AIM = 32 * 1024 * 1024;
/** What a transaction aims at, by taking fewer events or more; not fewer than these for it. */
export const PROJECTION_AIM_MS = 1 * SECOND_MS;
/** The embedded engine has one session: reads and ingestion wait while the projection has it. */
export const PROJECTION_AIM_MS_EMBEDDED = 250;
export const PROJECTION_AIM_EVENTS_MIN = 1_000;
/** What a transaction may take, and each of its statements: past it half as many events are tried. */
export const PROJECTION_MS_MAX = 5 * SECOND_MS;
/** What one statement may take that brings up to date what was made of a project earlier. */
export const SETTLING_STATEMENT_MS_MAX = 15 * SECOND_MS;
/** How long an event that cannot be projected even by itself is set aside, before it is tried again. */
export const SET_ASIDE_MS = 10 * MINUTE_MS;
/** How often an event fails by itself, where the machine or the database may be to blame, before it is set aside. */
export const FAILURES_ALONE_MAX = 3;
/** Projects projected at once by one server. */
export const PROJECTIONS_AT_ONCE_POSTGRES = 2;
export const PROJECTIONS_AT_ONCE_EMBEDDED = 1;
/** Pauses: where nothing is pending, after a failure, and while another server projects the project. */
export const PROJECTION_PAUSE_MS = 1 * SECOND_MS;
export const PROJECTION_FAILURE_PAUSE_MS = 1 * SECOND_MS;
export const PROJECTION_ELSEWHERE_PAUSE_MS = 50;
/**
 * On the embedded engine the projection rests this much longer than it worked, but for what a read waits
 * for, and no longer than somebody else uses the engine: what an import has left is counted up to four
 * times as fast once nobody else is there.
 */
export const PROJECTION_REST_SHARE_EMBEDDED = 3;
/** Segments are merged while nothing is to be projected; but where a project has more, at any time. */
export const SEGMENTS_UNMERGED_MAX = 100;
export const MERGING_PAUSE_MS = 1 * SECOND_MS;
/** How long a worker of which nothing is asked may take to close its connections. */
export const PROJECTION_CLOSE_MS_MAX = 1 * SECOND_MS;
/**
 * How often the worker is asked for a sign of life, and how many of these it may owe in a row before it
 * is taken for lost: a minute, since nothing in it holds its thread for longer than a few seconds.
 */
export const PROJECTION_SIGN_PAUSE_MS = 10 * SECOND_MS;
export const PROJECTION_SIGNS_OWED_MAX = 6;
/** Actors whose rollups are counted again in one slice. */
export const RECOUNT_SLICE_ACTORS = 5_000;
/** Events that one transaction forgets at about, and ids that one statement does. */
export const FORGOTTEN_EVENTS_AIM = 500_000;
export const IDS_DELETED_AT_ONCE = 10_000;
/** Journal rows that one statement reads, when somebody is erased. */
export const JOURNAL_ROWS_READ_AT_ONCE = 100;
/**
 * Sessions of a known actor that are looked at first where its visits change, the newest, and then on
 * both sides of the change, before all are: by those with the same values the rollup is told.
 */
export const NEWEST_VISITS = 64;
export const NEAR_VISITS = 1_024;
/** Projects whose dictionaries and identities are kept in memory, and what is kept of one. */
export const PROJECTS_KNOWN_MAX = 10;
export const KNOWN_TEXTS_MAX = 100_000;
export const KNOWN_CHARACTERS_MAX = 4 * 1024 * 1024;
/** Projects of which it is remembered how large their batches are, and how far the planner knows them. */
export const BATCH_SIZES_KNOWN_MAX = 100;
/** Local days that are kept in memory of a project's time zone. */
export const KNOWN_DAYS_MAX = 10_000;
/**
 * The planner is told of the tables' sizes after so many projected events, then whenever they have
 * grown fivefold, large ones whenever they have doubled. Untold, it took 4 s for a filter on the
 * titles of 200 events; told at each doubling, a new server took in its first 70,000 a fifth more slowly.
 */
export const ANALYSE_EVENTS_MIN = 50;
export const ANALYSE_LARGE_EVENTS = 20_000;
export const ANALYSE_EVENTS_MAX = 1_000_000;
