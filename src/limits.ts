/** Limits that several parts share, with their units in their names; a part's own limits are in its `*_limits.ts`. */

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The size of an ingestion request's body, and how long it may take to arrive. */
export const BODY_WIRE_BYTES_MAX = 1 * MEBIBYTE;
export const BODY_INFLATED_BYTES_MAX = 10 * MEBIBYTE;
export const BODY_IDLE_MS_MAX = 10 * SECOND_MS;
export const BODY_TOTAL_MS_MAX = 30 * SECOND_MS;
/** Bytes of all bodies being read at once; past it a request is answered 503 `overloaded`. */
export const BODIES_IN_FLIGHT_BYTES_MAX = 128 * MEBIBYTE;
/** The share of these that only small bodies may take, so that large, slow ones never keep them out. */
export const SMALL_BODIES_SHARE = 0.25;
export const SMALL_BODY_BYTES = 64 * KIBIBYTE;
/** Bodies that inflate to more than this are inflated one at a time. */
export const LARGE_BODY_BYTES = 1 * MEBIBYTE;
/** About how much is inflated in one step, and how long a request may work before others have a turn. */
export const INFLATED_STEP_BYTES = 64 * KIBIBYTE;
export const SLICE_MS = 4;
/** A body that contains its key, so that its sender is unknown while it is read; and all of these at once. */
export const KEYED_BODY_BYTES_MAX = 64 * KIBIBYTE;
export const KEYED_BODIES_IN_FLIGHT_BYTES_MAX = 8 * MEBIBYTE;
/** How long the refusal of a body with too many values is delayed, so that a client can send only few. */
export const EXCESS_PAUSE_MS = 1 * SECOND_MS;
/**
 * What a body may contain, counted before it is parsed: values (commas and opening brackets), containers (opening
 * brackets), and values outside its events. An event of 20 KB with many properties has 2,000 values, and 500 such
 * events are accepted. 10 MiB of `[],` are 3.5 million arrays, and parsing them would take 4 s and 800 MB.
 * In a body of at most SMALL_BODY_BYTES whose sender is known, only the events are counted.
 */
export const BODY_VALUES_MAX = 1_250_000;
export const BODY_CONTAINERS_MAX = 125_000;
export const ENVELOPE_VALUES_MAX = 1_000;
/** A longer `Content-Type` is not accepted. */
export const CONTENT_TYPE_LENGTH_MAX = 1_000;
/** Bytes of a body that are scanned between two checks whether to continue. */
export const SCAN_STEP_BYTES = 16 * KIBIBYTE;

/** Events. Lengths of text are UTF-16 units, as in JavaScript. */
export const EVENTS_PER_REQUEST_MAX = 500;
export const EVENT_BYTES_MAX = 64 * KIBIBYTE;
/** An event with more values is certainly larger than EVENT_BYTES_MAX: the shortest two take 3 bytes, `[],`. */
export const EVENT_VALUES_MAX = Math.floor(EVENT_BYTES_MAX / 1.5);
export const PROPERTIES_BYTES_MAX = 32 * KIBIBYTE;
export const NESTING_LEVELS_MAX = 10;
export const NAME_LENGTH_MAX = 200;
export const IDENTIFIER_LENGTH_MAX = 200;
export const LOCATION_LENGTH_MAX = 2048;
export const USER_AGENT_LENGTH_MAX = 2048;
/** How much of a user agent is parsed: real ones are shorter, and patterns may backtrack over more. */
export const USER_AGENT_PARSED_LENGTH_MAX = 512;
export const SCREEN_PIXELS_MAX = 1_000_000;

/** Clocks: one that is further off than this is corrected; an event further in the future is clamped. */
export const CLOCK_SKEW_TOLERATED_MS = 5 * MINUTE_MS;
export const FUTURE_TOLERATED_MS = 24 * HOUR_MS;
/** 0001-01-01T00:00:00Z: PostgreSQL prints earlier years with "BC". */
export const TIMESTAMP_MS_MIN = -62_135_596_800_000;

/** The writer. A flush takes queued batches up to these limits; the queue has limits too. */
export const FLUSH_ROWS_MAX = 2_000;
export const FLUSH_BYTES_MAX = 4 * MEBIBYTE;
/** Events of a journal block if all events of the flush are new. Small, as lists decode whole blocks. */
export const JOURNAL_BLOCK_ROWS_MAX = 500;
/** After a flush with events that were already stored, this many flushes are checked for more of them. */
export const FLUSHES_CHECKED = 100;
export const FLUSHES_AT_ONCE_POSTGRES = 2;
export const FLUSHES_AT_ONCE_EMBEDDED = 1;
export const QUEUED_ROWS_MAX = 50_000;
export const QUEUED_BYTES_MAX = 96 * MEBIBYTE;
export const FLUSH_MS_MAX = 15 * SECOND_MS;

/** API keys: how long a looked-up key is trusted. Revocation takes effect within this time. */
export const KEY_FRESH_MS = 400;
export const KEY_CACHED_MS_MAX = 800;
export const KEYS_CACHED_MAX = 10_000;

/** Bearer tokens: their length, the leeway of `nbf` and `iat` (none for `exp`), the longest life. */
export const TOKEN_LENGTH_MAX = 8 * KIBIBYTE;
export const TOKEN_LEEWAY_S = 30;
export const TOKEN_LIFETIME_S_MAX = 10 * 365 * 86_400;
/** How long the tokens' epoch is trusted: a revocation of all tokens takes effect within this time. */
export const TOKEN_EPOCH_FRESH_MS = 400;
export const TOKEN_EPOCH_CACHED_MS_MAX = 800;
/** A shorter secret is refused; one below 32 bytes (RFC 7518, 3.2) is accepted with a warning. */
export const JWT_SECRET_BYTES_MIN = 8;
export const JWT_SECRET_BYTES_ADVISED = 32;
export const METRICS_TOKEN_LENGTH_ADVISED = 16;
/** An identity provider's key set: how long a fetch may take, is trusted, and delays the next for unknown keys or if it fails. */
export const TOKEN_KEYS_FETCH_MS_MAX = 5 * SECOND_MS;
export const TOKEN_KEYS_CACHED_MS = 10 * MINUTE_MS;
export const TOKEN_KEYS_PAUSE_MS = 5 * SECOND_MS;
export const TOKEN_KEYS_RETRY_MS = 2 * SECOND_MS;

/** Projects and their keys, as operators manage them. */
export const API_KEY_LENGTH_MIN = 8;
export const API_KEY_LENGTH_MAX = 200;
/** Distinct API keys waiting for one look-up; beyond it a request is answered 503 `overloaded`. */
export const KEYS_WAITING_MAX = 10_000;
/** Keys that one statement looks up; the others wait for the next. */
export const KEYS_PER_LOOK_UP_MAX = 1_000;
export const KEY_OVERLAP_S_DEFAULT = 86_400;
export const KEY_OVERLAP_S_MAX = 365 * 86_400;
export const PROJECT_ORIGINS_MAX = 100;
export const RETENTION_DAYS_MAX = 36_500;
export const TOKEN_PROJECTS_MAX = 100;
/** The audit: the characters at which an entry's `who` and `subject` are cut; the days it is kept. */
export const AUDIT_SUBJECT_LENGTH_MAX = 500;
export const AUDIT_KEPT_DAYS = 400;
/** The same export by the same person or token within this time is one entry. */
export const AUDIT_REPEAT_MS = 1 * HOUR_MS;

/** Bytes of all small JSON bodies being read at once, and the mistakes listed in one reply. */
export const JSON_BODIES_IN_FLIGHT_BYTES_MAX = 8 * MEBIBYTE;
export const PROBLEM_PARTS_MAX = 100;

/** Small caches of pure functions: user agents parsed, addresses located, visitors hashed. */
export const USER_AGENTS_CACHED_MAX = 10_000;
export const ADDRESSES_CACHED_MAX = 20_000;
export const VISITOR_HASHES_CACHED_MAX = 50_000;
/** Hashes of longer user agents are not cached, so that the cache takes tens of megabytes at most. */
export const VISITOR_CACHED_USER_AGENT_LENGTH_MAX = 512;
/** How long after midnight a request that was received before it still gets that day's salts. */
export const SALT_GRACE_MS = 1 * MINUTE_MS;
/** How long rewriting the salts' table may wait for its lock: reads of salts queue behind it. */
export const SALT_LOCK_MS_MAX = 1 * SECOND_MS;

/** The characters at which a fact in the log is cut. */
export const LOG_FACT_LENGTH_MAX = 4_000;

/** Proxy headers: how much of them is read, from the right. */
export const FORWARDED_LENGTH_MAX = 8 * KIBIBYTE;
export const FORWARDED_ENTRIES_MAX = 100;

/** Reads. */
export const PAGE_ROWS_DEFAULT = 100;
export const PAGE_ROWS_MAX = 1_000;
/** An export reads this many events first, so that the reply begins soon. */
export const EXPORT_FIRST_ROWS = 500;
/** If a window cannot be read, it reads a page of this many events, or of about this many bytes of lines, */
export const EXPORT_PAGE_ROWS = 20_000;
export const EXPORT_PAGE_BYTES_AIM = 32 * MEBIBYTE;
/** and sends this many lines of it together. */
export const EXPORT_CHUNK_ROWS = 2_000;
/**
 * Blocks are ordered by person, so each window of time reads all blocks of its month. Windows of this many
 * events, their lines kept compressed, cost a twentieth of pages of 20,000. A window whose lines take too
 * many bytes has fewer events: it ends between two chunks.
 */
export const EXPORT_WINDOW_ROWS = 400_000;
export const EXPORT_WINDOW_CHUNK_ROWS = 1_000;
export const EXPORT_WINDOW_BYTES_MAX = 96 * MEBIBYTE;
/** Lines, and their bytes, that are gathered before they are compressed. */
export const EXPORT_OPEN_ROWS = 16_384;
export const EXPORT_OPEN_BYTES = 16 * MEBIBYTE;
/** Bytes of lines that are sent together; a single line may be longer. */
export const EXPORT_HANDED_BYTES = 4 * MEBIBYTE;
/** Running exports of a server, and of one project: each may take 130 MiB until its reader is done. */
export const EXPORTS_MAX = 8;
export const EXPORTS_PER_PROJECT_MAX = 3;
export const EXPORTS_RETRY_AFTER_S = 30;
/** Between two attempts to read while the database is unavailable; a restart takes less than all of them. */
export const EXPORT_RETRY_PAUSES_MS = [1, 4, 15, 40].map((seconds) => seconds * SECOND_MS);
export const RANGE_YEARS_MAX = 10;
export const RANGE_DAYS_DEFAULT = 30;
/** Time buckets of one series. */
export const BUCKETS_MAX = 2_000;
export const CURSOR_LENGTH_MAX = 2_000;
/** How long after its reply a tail may still continue from its cursor. */
export const TAIL_CURSOR_AGE_MS_MAX = 48 * HOUR_MS;
/** A request is stored at most this long after its receive time: 30 s of body, 15 s of flush, and a margin. */
export const STORE_DELAY_MS_MAX = 2 * MINUTE_MS;
export const REQUEST_JSON_BYTES_MAX = 64 * KIBIBYTE;

/** How long browsers use the SDK before they ask whether it has changed. */
export const SDK_CACHE_S = 3_600;
/** How much of `If-None-Match` is read. */
export const TAGS_LENGTH_MAX = 8 * KIBIBYTE;
/** The dashboard's files, whose addresses change with their content. */
export const DASHBOARD_ASSET_CACHE_S = 365 * 86_400;

/**
 * Connections. A connection costs 14 KB of memory. A proxy usually closes an idle one after 60 s, and it
 * should do so before the server does.
 */
export const CONNECTIONS_MAX = 4_096;
/** File descriptors left for the database and files if the system allows fewer than connections could take. */
export const DESCRIPTORS_RESERVED = 256;
/** The time until a head has arrived in full, and until the next request begins. */
export const CONNECTION_HEAD_MS_MAX = 15 * SECOND_MS;
export const CONNECTION_IDLE_MS_MAX = 65 * SECOND_MS;
/** How long a client may take to receive a reply that is not a stream. */
export const REPLY_SEND_MS_MAX = 5 * MINUTE_MS;
/** How long a client that is still sending has to read its last reply. */
export const CONNECTION_LINGER_MS_MAX = 5 * SECOND_MS;
/** For this long, a new or just answered connection, and a running request, is never closed to make room. */
export const CONNECTION_PROTECTED_MS = 100;
export const ANSWER_PROTECTED_MS = 5 * SECOND_MS;
/** Between two searches for connections past their limit, and after a failed accept. */
export const CONNECTION_SWEEP_MS = 1 * SECOND_MS;
export const ACCEPT_PAUSE_MS = 100;

/** Stopping: the longest time from the signal to the exit. */
export const SHUTDOWN_MS_MAX = 10 * SECOND_MS;
/** `Retry-After` of a 503, in whole seconds. */
export const RETRY_AFTER_S = 2;

/** The database. */
export const DATABASE_CONNECT_MS_MAX = 3 * SECOND_MS;
/** The embedded engine has one session: whoever waits longer for it gets an error. */
export const DATABASE_TURN_MS_MAX = 15 * SECOND_MS;
/** The embedded engine counts as idle after this long without a query. */
export const DATABASE_IDLE_MS = 20;
export const DATABASE_PING_MS_MAX = 2 * SECOND_MS;
export const DATABASE_CLOSE_MS_MAX = 5 * SECOND_MS;
/** How much later than the server's own `statement_timeout` we stop waiting for its answer. */
export const DATABASE_STATEMENT_MARGIN_MS = 2 * SECOND_MS;
/** How long a running file operation of an embedded engine that was ended may take to finish. */
export const DATABASE_FENCE_MS_MAX = 5 * SECOND_MS;
/** Between two attempts to restart an embedded engine. */
export const DATABASE_START_PAUSE_MS = 1 * SECOND_MS;
/** The embedded engine writes a checkpoint after this much of its log, and then reuses the log's files. */
export const DATABASE_LOG_BYTES_MAX = 64 * MEBIBYTE;
/**
 * The embedded engine's disk. Below DISK_FULL_BYTES of free space it refuses writes, as its log needs room even for
 * a rollback; with DISK_SPACE_AGAIN_BYTES more it accepts them again. "Low" is a share of the disk, within bounds.
 */
export const DISK_FULL_BYTES = 48 * MEBIBYTE;
export const DISK_SPACE_AGAIN_BYTES = 16 * MEBIBYTE;
export const DISK_LOW_SHARE = 0.05;
export const DISK_LOW_BYTES_MIN = 256 * MEBIBYTE;
export const DISK_LOW_BYTES_MAX = 10 * 1_024 * MEBIBYTE;
export const DISK_LOOK_MS = SECOND_MS / 2;
/** A file that is deleted if the engine must start on a full disk, and made while there is plenty of space. */
export const DISK_RESERVE_BYTES = 32 * MEBIBYTE;
export const DISK_RESERVE_PAUSE_MS = 10 * SECOND_MS;
/** The database ends a transaction that waits longer than this for its client, and frees its locks. */
export const DATABASE_IDLE_IN_TRANSACTION_MS_MAX = MINUTE_MS;
export const DATABASE_KEEP_ALIVE_S = 30;
export const DATABASE_CONNECTION_AGE_MS_MAX = 30 * MINUTE_MS;
export const PREPARED_STATEMENTS_PER_CONNECTION_MAX = 500;
/** While stopping: how long running requests may take before the rest of their bodies is dropped. */
export const SHUTDOWN_GRACE_MS = 3 * SECOND_MS;
/** Then: how long a running transaction of the projection may take to end. */
export const SHUTDOWN_PROJECTION_MS_MAX = 1 * SECOND_MS;
/** Then: how long connections may take to close once every request is answered. */
export const SHUTDOWN_CONNECTIONS_MS_MAX = 1 * SECOND_MS;
/** Between two attempts to reach a database that is unavailable at start. */
export const PREPARE_PAUSE_MS = 1 * SECOND_MS;
/**
 * Database connections of one server: for ingestion and administration, for reads, and for the
 * projection, which takes two for its transactions and one to look for more.
 */
export const WRITE_CONNECTIONS_MAX = 5;
export const READ_CONNECTIONS_MAX = 5;
export const PROJECTION_CONNECTIONS_MAX = 3;
export const REPLICA_CHECK_CONNECTIONS_MAX = 2;

/** Sessions: a longer pause between two events of an actor starts a new session. */
export const SESSION_GAP_MS = 30 * MINUTE_MS;
/** How long a read waits for the projection: with a running transaction, less than a second in all. */
export const PROJECTION_WAIT_MS_MAX = 850;
/** How long the choice of the site and the pages to capture waits for it. */
export const PROJECTION_JOB_WAIT_MS_MAX = 10 * SECOND_MS;
/** Up to this many projected events of a project, its reads use only hash joins. */
export const HASH_JOINS_EVENTS_MAX = 100_000;

/** The share of a change on a note's day and later if it begins with the note; the notes of a finding. */
export const INSIGHT_NOTE_SHARE_MIN = 2 / 3;
export const INSIGHT_NOTES_MAX = 3;

/** Reads: filters, matches and other JSON in a parameter. */
export const FILTERS_MAX = 20;
export const FILTER_VALUES_MAX = 100;
export const FILTER_TEXT_LENGTH_MAX = 2_048;
export const PARAMETER_JSON_LENGTH_MAX = 64 * KIBIBYTE;
export const PARAMETER_JSON_LEVELS_MAX = 10;
export const LABEL_LENGTH_MAX = 200;
/**
 * Warnings of a read; and for each warning, the values that are suggested, the values that they are chosen from,
 * and the rows of a dictionary that are searched for these.
 */
export const WARNINGS_MAX = 10;
export const SUGGESTIONS_MAX = 3;
export const SUGGESTION_CANDIDATES_MAX = 2_000;
export const SUGGESTION_ROWS_MAX = 10_000;
/** Patterns of `matches`: their length, nesting, one repetition, and the states with all repetitions written out. */
export const PATTERN_LENGTH_MAX = 200;
export const PATTERN_LEVELS_MAX = 10;
export const PATTERN_REPETITION_MAX = 100;
export const PATTERN_STATES_MAX = 500;
/** Anchors and word boundaries in a pattern. */
export const PATTERN_ANCHORS_MAX = 8;
/** A path of 2,048 characters, each escaped in JSON, as base64. */
export const ROW_CURSOR_LENGTH_MAX = 20_000;

/** Heatmaps: a path pattern, each character of which may be compared with each of a path. */
export const HEATMAP_PATTERN_LENGTH_MAX = 500;
/** Elements of a page that a read lists by their clicks. */
export const HEATMAP_ELEMENTS_MAX = 100;

/** Live updates: the pause between two queries, the longest silence, and when a client reconnects. */
export const LIVE_INTERVAL_MS = 2 * SECOND_MS;
export const LIVE_HEARTBEAT_MS = 15 * SECOND_MS;
export const LIVE_RETRY_MS = 3 * SECOND_MS;
/** Streams open at once on a server; beyond it a request is answered 503 `overloaded`. */
export const LIVE_LISTENERS_MAX = 200;
/** Those of one project, and with one token; beyond it a request is answered 429 `too_many_streams`. */
export const LIVE_LISTENERS_PER_PROJECT_MAX = 100;
export const LIVE_LISTENERS_PER_TOKEN_MAX = 40;
/** Queries for all streams at once, so that other reads keep most of the read connections. */
export const LIVE_LOOKS_AT_ONCE = 2;
/** Paths that the live view lists. */
export const LIVE_PAGES_MAX = 10;

/** Trends: events in one read, values that `by` tells apart, and points of all lines together. */
export const TREND_EVENTS_MAX = 10;
export const TREND_VALUES_MAX = 25;
export const TREND_POINTS_MAX = 100_000;

/** Retention: cells of a cohort, its own period included. */
export const RETENTION_PERIODS_DEFAULT = 7;
export const RETENTION_PERIODS_MAX = 60;

/** Goals of a project, points of all their series in one reply, and the fixed value of a conversion. */
export const GOALS_MAX = 200;
export const GOAL_POINTS_MAX = 100_000;
export const GOAL_FIXED_VALUE_MAX = 1_000_000_000_000;

/** Funnels: steps, events that must not happen in between, the window, groups, and saved funnels of a project. */
export const FUNNEL_STEPS_MAX = 10;
export const FUNNEL_EXCLUSIONS_MAX = 10;
export const FUNNEL_WINDOW_MS_MAX = 366 * DAY_MS;
export const FUNNEL_GROUPS_MAX = 25;
export const FUNNELS_MAX = 200;

/** Journeys: steps, and values of a step that are listed by themselves. */
export const JOURNEY_STEPS_MIN = 2;
export const JOURNEY_STEPS_MAX = 10;
export const JOURNEY_TOP_MAX = 20;

/** Insights: goals and values of a dimension that are compared, the weeks before, and how many of them suffice. */
export const INSIGHT_GOALS_MAX = 10;
export const INSIGHT_VALUES_MAX = 50;
export const INSIGHT_WEEKS = 4;
export const INSIGHT_WEEKS_MIN = 2;
/** A large change: as a fraction of the value before, and in absolute terms (of counts, and of rates). */
export const INSIGHT_CHANGE_MIN = 0.2;
export const INSIGHT_COUNT_CHANGE_MIN = 10;
export const INSIGHT_RATE_CHANGE_MIN = 0.05;
/** The share of findings that may be chance. */
export const INSIGHT_FALSE_DISCOVERIES = 0.05;
/** How far a value's part of a change exceeds its share before if it explains the change: 0 not at all, 1 all of it. */
export const INSIGHT_EXPLAINED_MIN = 0.5;
/** The part of a change that must be within another one, or be explained by others, to share their cause. */
export const INSIGHT_CAUSE_SHARE = 2 / 3;
/** Changes that are grouped by what they have in common, and the causes found, which are the findings. */
export const INSIGHT_GROUPED_MAX = 200;
export const INSIGHT_CAUSES_MAX = 20;
/** Characters of a value in a sentence. */
export const INSIGHT_SHOWN_LENGTH_MAX = 80;

/** Stopping: how long it may take to return running captures to the queue. */
export const SHUTDOWN_CAPTURES_MS_MAX = 1 * SECOND_MS;

/** Timelines: MiB of loaded segments that are kept (`READ_CACHE_MIB`), and bytes that one statement fetches. */
export const READ_CACHE_MIB_MIN = 16;
export const READ_CACHE_MIB_DEFAULT = 320;
export const READ_CACHE_MIB_MAX = 65_536;
export const SEGMENT_FETCH_BYTES_MAX = 16 * MEBIBYTE;
/** About how much of a read that needs more than the cache is in memory at once, as two parts. */
export const SCAN_PART_BYTES_MAX = 128 * MEBIBYTE;
/** Threads that count for reads. */
export const SCAN_WORKERS_MAX = 64;
/** Scans: up to this many are visited in place, as sending them to a worker takes a millisecond or two. */
export const SCAN_IN_PLACE_EVENTS_MAX = 131_072;
/** Tasks of a scan per worker, so that all workers finish at about the same time. */
export const SCAN_TASKS_PER_WORKER = 4;
/** Pieces of about 16,384 events in a task: it takes about 30 ms, and then another read may have a turn. */
export const SCAN_TASK_CUTS_MAX = 16;
/** Freed shared memory that is kept for reuse, beside the read cache. */
export const SHARED_FREE_BYTES_MAX = 64 * MEBIBYTE;
/** Ids of events that are looked up together. */
export const TIMELINE_IDS_LOOKED_UP = 4_000;
/** The list of stored events: those that are read whole together if many are of the same millisecond. */
export const LISTED_ROWS_AT_ONCE = 4_000;
/** Rows of the journal that a list or a tail of events reads together. */
export const BLOCKS_AT_ONCE = 20;
/** Visitors of a part of a day whose days are looked up by id; if there are more, all days are read. */
export const TAIL_ACTORS_LOOKED_UP_MAX = 5_000;

/** Insights from timelines: counters of 4 bytes that are counted at once; at least those of one match. */
export const INSIGHT_CELLS_MAX = 16_000_000;
/** Cells of overlapping slices of changes, for everything and for each goal: 1.2 MB each. */
export const INSIGHT_JOINT_CELLS_MAX = 20_000;
