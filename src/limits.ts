/** Bounds that several parts share, with their units in their names; one part's own stand in its `*_limits.ts`. */

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** What one ingestion request may weigh and how long its body may take. */
export const BODY_WIRE_BYTES_MAX = 1 * MEBIBYTE;
export const BODY_INFLATED_BYTES_MAX = 10 * MEBIBYTE;
export const BODY_IDLE_MS_MAX = 10 * SECOND_MS;
export const BODY_TOTAL_MS_MAX = 30 * SECOND_MS;
/** Bytes of all bodies being read at once; past it a request is answered 503 `overloaded`. */
export const BODIES_IN_FLIGHT_BYTES_MAX = 128 * MEBIBYTE;
/** Of these, what only small bodies may take: large ones, however slow, never keep them out. */
export const SMALL_BODIES_SHARE = 0.25;
export const SMALL_BODY_BYTES = 64 * KIBIBYTE;
/** Bodies that grow beyond this when inflated go on one at a time. */
export const LARGE_BODY_BYTES = 1 * MEBIBYTE;
/** What is inflated in one step, about, and how long one request works on before others have a turn. */
export const INFLATED_STEP_BYTES = 64 * KIBIBYTE;
export const SLICE_MS = 4;
/** A body that brings its own key: nobody is authenticated while it is read. And of all of these at once. */
export const KEYED_BODY_BYTES_MAX = 64 * KIBIBYTE;
export const KEYED_BODIES_IN_FLIGHT_BYTES_MAX = 8 * MEBIBYTE;
/** How long the refusal of a body that holds too much waits: who sends such bodies sends few. */
export const EXCESS_PAUSE_MS = 1 * SECOND_MS;
/**
 * What a body may hold, counted before any of it is parsed: commas and opening brackets, opening
 * brackets alone, and the former beside its events. An event of 20 KB with nothing but properties has
 * 2,000, and 500 of them are taken. 10 MiB of `[],` are 3.5 million arrays: parsed, 4 s and 800 MB.
 * Of a body of at most SMALL_BODY_BYTES whose sender is known, only the events are counted.
 */
export const BODY_VALUES_MAX = 1_250_000;
export const BODY_CONTAINERS_MAX = 125_000;
export const ENVELOPE_VALUES_MAX = 1_000;
/** A longer `Content-Type` is none that is taken. */
export const CONTENT_TYPE_LENGTH_MAX = 1_000;
/** Bytes of a body that are looked at before the next decision whether to go on. */
export const SCAN_STEP_BYTES = 16 * KIBIBYTE;

/** Events. Lengths of text are UTF-16 units, as in JavaScript. */
export const EVENTS_PER_REQUEST_MAX = 500;
export const EVENT_BYTES_MAX = 64 * KIBIBYTE;
/** An event with more brackets and commas that open values is larger for certain: two of them in `[],`. */
export const EVENT_VALUES_MAX = Math.floor(EVENT_BYTES_MAX / 1.5);
export const PROPERTIES_BYTES_MAX = 32 * KIBIBYTE;
export const NESTING_LEVELS_MAX = 10;
export const NAME_LENGTH_MAX = 200;
export const IDENTIFIER_LENGTH_MAX = 200;
export const LOCATION_LENGTH_MAX = 2048;
export const USER_AGENT_LENGTH_MAX = 2048;
/** What is parsed of a user agent: real ones stay below it, and patterns may backtrack over the rest. */
export const USER_AGENT_PARSED_LENGTH_MAX = 512;
export const SCREEN_PIXELS_MAX = 1_000_000;

/** Clocks: a client further off than this is corrected; an event further ahead is clamped. */
export const CLOCK_SKEW_TOLERATED_MS = 5 * MINUTE_MS;
export const FUTURE_TOLERATED_MS = 24 * HOUR_MS;
/** 0001-01-01T00:00:00Z: before it, PostgreSQL would print years "BC". */
export const TIMESTAMP_MS_MIN = -62_135_596_800_000;

/** The writer. A flush takes what has gathered, up to these; the queue behind it is bounded too. */
export const FLUSH_ROWS_MAX = 2_000;
export const FLUSH_BYTES_MAX = 4 * MEBIBYTE;
/** Events of a journal block, where a flush has new ones alone: lists decode whole blocks. */
export const JOURNAL_BLOCK_ROWS_MAX = 500;
/** After one that held events that were stored before, so many are looked through for more of them. */
export const FLUSHES_LOOKED_THROUGH = 100;
export const FLUSHES_AT_ONCE_POSTGRES = 2;
export const FLUSHES_AT_ONCE_EMBEDDED = 1;
export const QUEUED_ROWS_MAX = 50_000;
export const QUEUED_BYTES_MAX = 96 * MEBIBYTE;
export const FLUSH_MS_MAX = 15 * SECOND_MS;

/** API keys: how long a looked-up key is believed. Revocation takes effect within this time. */
export const KEY_FRESH_MS = 400;
export const KEY_BELIEVED_MS_MAX = 800;
export const KEYS_CACHED_MAX = 10_000;

/** Bearer tokens: their length, the leeway of `nbf` and `iat` (none for `exp`), the longest life. */
export const TOKEN_LENGTH_MAX = 8 * KIBIBYTE;
export const TOKEN_LEEWAY_S = 30;
export const TOKEN_LIFETIME_S_MAX = 10 * 365 * 86_400;
/** How long the epoch of tokens is believed: a revocation of all tokens takes effect within this time. */
export const TOKEN_EPOCH_FRESH_MS = 400;
export const TOKEN_EPOCH_BELIEVED_MS_MAX = 800;
/** A shorter secret is refused; one below 32 bytes (RFC 7518, 3.2) is taken with a warning. */
export const JWT_SECRET_BYTES_MIN = 8;
export const JWT_SECRET_BYTES_ADVISED = 32;
export const METRICS_TOKEN_LENGTH_ADVISED = 16;
/** An identity provider's key set: how long one fetch may take, is believed, and stops the next. */
export const TOKEN_KEYS_FETCH_MS_MAX = 5 * SECOND_MS;
export const TOKEN_KEYS_BELIEVED_MS = 10 * MINUTE_MS;
export const TOKEN_KEYS_PAUSE_MS = 5 * SECOND_MS;

/** Projects and their keys, as operators manage them. */
export const API_KEY_LENGTH_MIN = 8;
export const API_KEY_LENGTH_MAX = 200;
/** Distinct API keys waiting for one look-up; past it a request is answered 503 `overloaded`. */
export const KEYS_WAITING_MAX = 10_000;
/** Keys that one statement looks up; the others wait for the next. */
export const KEYS_PER_LOOK_UP_MAX = 1_000;
export const KEY_OVERLAP_S_DEFAULT = 86_400;
export const KEY_OVERLAP_S_MAX = 365 * 86_400;
export const PROJECT_ORIGINS_MAX = 100;
export const RETENTION_DAYS_MAX = 36_500;
export const TOKEN_PROJECTS_MAX = 100;
/** The audit: characters of one entry's `who` and `subject` each, what is longer is cut; days it is kept. */
export const AUDIT_SUBJECT_LENGTH_MAX = 500;
export const AUDIT_KEPT_DAYS = 400;
/** The same export by the same hand within this time is one entry. */
export const AUDIT_REPEAT_MS = 1 * HOUR_MS;

/** Bytes of all small JSON bodies being read at once, and mistakes listed in one reply. */
export const JSON_BODIES_IN_FLIGHT_BYTES_MAX = 8 * MEBIBYTE;
export const PROBLEM_PARTS_MAX = 100;

/** Small caches of pure functions: user agents parsed, addresses located, visitors hashed. */
export const USER_AGENTS_CACHED_MAX = 10_000;
export const ADDRESSES_CACHED_MAX = 20_000;
export const VISITOR_HASHES_CACHED_MAX = 50_000;
/** A longer user agent is hashed anew each time, so that the cache holds tens of megabytes at most. */
export const VISITOR_CACHED_USER_AGENT_LENGTH_MAX = 512;
/** How long past midnight a request that was received before it still gets its salts. */
export const SALT_GRACE_MS = 1 * MINUTE_MS;
/** How long the salts' table is waited for to be written anew; who wants a salt waits behind it. */
export const SALT_LOCK_MS_MAX = 1 * SECOND_MS;

/** Characters of one fact in the log; what is longer is cut. */
export const LOG_FACT_LENGTH_MAX = 4_000;

/** Proxy headers: what is looked at, from the right. */
export const FORWARDED_LENGTH_MAX = 8 * KIBIBYTE;
export const FORWARDED_ENTRIES_MAX = 100;

/** Reads. */
export const PAGE_ROWS_DEFAULT = 100;
export const PAGE_ROWS_MAX = 1_000;
/** An export reads so many events by themselves first, so that something is there soon. */
export const EXPORT_FIRST_ROWS = 500;
/** Where a window cannot be had it reads a page of so many, or of about so many bytes of lines. */
export const EXPORT_PAGE_ROWS = 20_000;
export const EXPORT_PAGE_BYTES_AIM = 32 * MEBIBYTE;
/** And hands on so many lines of it together. */
export const EXPORT_CHUNK_ROWS = 2_000;
/**
 * Blocks lie in the order of people, and all of a month are read for each window of time: so many events
 * at a time, their lines kept as compressed pieces, cost a twentieth of what pages of 20,000 do. A window
 * has fewer where its lines take more: it ends between two chunks of so many events.
 */
export const EXPORT_WINDOW_ROWS = 400_000;
export const EXPORT_WINDOW_CHUNK_ROWS = 1_000;
export const EXPORT_WINDOW_BYTES_MAX = 96 * MEBIBYTE;
/** Lines, and bytes of them, that are held before they are compressed. */
export const EXPORT_OPEN_ROWS = 16_384;
export const EXPORT_OPEN_BYTES = 16 * MEBIBYTE;
/** Bytes of lines that are handed on together; a single line may be more. */
export const EXPORT_HANDED_BYTES = 4 * MEBIBYTE;
/** Exports under way in a server, and of one project: each may hold 130 MiB until its reader is done. */
export const EXPORTS_MAX = 8;
export const EXPORTS_PER_PROJECT_MAX = 3;
export const EXPORTS_RETRY_AFTER_S = 30;
/** Between two tries to read what the database cannot give now: one that starts again is back by then. */
export const EXPORT_RETRY_PAUSES_MS = [1, 4, 15, 40].map((seconds) => seconds * SECOND_MS);
export const RANGE_YEARS_MAX = 10;
export const RANGE_DAYS_DEFAULT = 30;
/** Time buckets of one series. */
export const BUCKETS_MAX = 2_000;
export const CURSOR_LENGTH_MAX = 2_000;
/** How long after its reply a tail may still go on with its cursor. */
export const TAIL_CURSOR_AGE_MS_MAX = 48 * HOUR_MS;
/** A request is stored at most this long after its receive time: 30 s of body, 15 s of flush, and a margin. */
export const STORE_DELAY_MS_MAX = 2 * MINUTE_MS;
export const REQUEST_JSON_BYTES_MAX = 64 * KIBIBYTE;

/** How long browsers use the SDK before they ask whether it is still the same. */
export const SDK_CACHE_S = 3_600;
/** Of `If-None-Match`, so much is looked at. */
export const TAGS_LENGTH_MAX = 8 * KIBIBYTE;
/** The dashboard's files, whose addresses change with their content. */
export const DASHBOARD_ASSET_CACHE_S = 365 * 86_400;

/**
 * Connections. A proxy keeps an idle connection for 60 s as a rule: it should be the one that closes.
 * A connection costs 14 KB of memory.
 */
export const CONNECTIONS_MAX = 4_096;
/** Descriptors left for the database and files where there are fewer than connections could take. */
export const DESCRIPTORS_RESERVED = 256;
/** Until a head has arrived in full, and until the next request begins. */
export const CONNECTION_HEAD_MS_MAX = 15 * SECOND_MS;
export const CONNECTION_IDLE_MS_MAX = 65 * SECOND_MS;
/** How long a reply that is no stream may take to be taken by its client. */
export const REPLY_SEND_MS_MAX = 5 * MINUTE_MS;
/** How long a client that is still writing may read its last reply. */
export const CONNECTION_LINGER_MS_MAX = 5 * SECOND_MS;
/** Never closed to make room: a new or just answered connection, and a request under way, for so long. */
export const CONNECTION_PROTECTED_MS = 100;
export const ANSWER_PROTECTED_MS = 5 * SECOND_MS;
/** Between two looks for connections past their limit, and after an accept that failed. */
export const CONNECTION_SWEEP_MS = 1 * SECOND_MS;
export const ACCEPT_PAUSE_MS = 100;

/** Stopping: from the signal to the exit, at most this. */
export const SHUTDOWN_MS_MAX = 10 * SECOND_MS;
/** `Retry-After` of a 503, in whole seconds. */
export const RETRY_AFTER_S = 2;

/** The database. */
export const DATABASE_CONNECT_MS_MAX = 3 * SECOND_MS;
/** The embedded engine has one session: whoever has waited so long for it is told that it is busy. */
export const DATABASE_TURN_MS_MAX = 15 * SECOND_MS;
/** For so long nobody asks the embedded engine for anything, before it is said that nobody uses it. */
export const DATABASE_IDLE_MS = 20;
export const DATABASE_PING_MS_MAX = 2 * SECOND_MS;
export const DATABASE_CLOSE_MS_MAX = 5 * SECOND_MS;
/** How much later than the server's own `statement_timeout` we stop waiting for its answer. */
export const DATABASE_STATEMENT_MARGIN_MS = 2 * SECOND_MS;
/** How long the operation on its folder that an ended embedded engine is in may take to end. */
export const DATABASE_FENCE_MS_MAX = 5 * SECOND_MS;
/** Between two tries to start an embedded engine again. */
export const DATABASE_START_PAUSE_MS = 1 * SECOND_MS;
/** The embedded engine writes a checkpoint after so much of its log, which is then used again. */
export const DATABASE_LOG_BYTES_MAX = 64 * MEBIBYTE;
/**
 * The embedded engine's disk. Below the first it takes no writes: its log needs room even for a
 * rollback. It takes them again with the second on top. Low is a share of the disk within two bounds.
 */
export const DISK_FULL_BYTES = 48 * MEBIBYTE;
export const DISK_SPACE_AGAIN_BYTES = 16 * MEBIBYTE;
export const DISK_LOW_SHARE = 0.05;
export const DISK_LOW_BYTES_MIN = 256 * MEBIBYTE;
export const DISK_LOW_BYTES_MAX = 10 * 1_024 * MEBIBYTE;
export const DISK_LOOK_MS = SECOND_MS / 2;
/** A file that is given up for an engine that must start on a full disk, made once there is plenty of space. */
export const DISK_RESERVE_BYTES = 32 * MEBIBYTE;
export const DISK_RESERVE_PAUSE_MS = 10 * SECOND_MS;
/** A transaction that waits longer than this for its client is ended by the server, and its locks with it. */
export const DATABASE_IDLE_IN_TRANSACTION_MS_MAX = MINUTE_MS;
export const DATABASE_KEEP_ALIVE_S = 30;
export const DATABASE_CONNECTION_AGE_MS_MAX = 30 * MINUTE_MS;
export const PREPARED_STATEMENTS_PER_CONNECTION_MAX = 500;
/** Within it: how long requests under way may take before their bodies are given up. */
export const SHUTDOWN_GRACE_MS = 3 * SECOND_MS;
/** Then: how long a transaction of the projection may take to end by itself. */
export const SHUTDOWN_PROJECTION_MS_MAX = 1 * SECOND_MS;
/** After it: how long connections may take to end once every request is answered. */
export const SHUTDOWN_CONNECTIONS_MS_MAX = 1 * SECOND_MS;
/** Between two tries to reach a database that was away at start. */
export const PREPARE_PAUSE_MS = 1 * SECOND_MS;
/**
 * Database connections of one server: for ingestion and administration, for reads, and for the
 * projection, which takes two for its transactions and one to look for more.
 */
export const WRITE_CONNECTIONS_MAX = 5;
export const READ_CONNECTIONS_MAX = 5;
export const PROJECTION_CONNECTIONS_MAX = 3;
export const REPLICA_CHECK_CONNECTIONS_MAX = 2;

/** Sessions: a longer pause between two events of one actor cuts. */
export const SESSION_GAP_MS = 30 * MINUTE_MS;
/** How long a read waits for the projection: with a transaction that is under way, less than a second in all. */
export const PROJECTION_WAIT_MS_MAX = 850;
/** How long the choice of the pages that are photographed, and of their site, waits for it. */
export const PROJECTION_JOB_WAIT_MS_MAX = 10 * SECOND_MS;
/** Up to so many projected events of a project, its reads join by hash alone. */
export const HASH_JOINS_EVENTS_MAX = 100_000;

/** How much of a change lies on a note's day and later, where it begins with the note; notes of a finding. */
export const INSIGHT_NOTE_SHARE_MIN = 2 / 3;
export const INSIGHT_NOTES_MAX = 3;

/** Reads: structure. Filters, matches and what else comes as JSON in a parameter. */
export const FILTERS_MAX = 20;
export const FILTER_VALUES_MAX = 100;
export const FILTER_TEXT_LENGTH_MAX = 2_048;
export const PARAMETER_JSON_LENGTH_MAX = 64 * KIBIBYTE;
export const PARAMETER_JSON_LEVELS_MAX = 10;
export const LABEL_LENGTH_MAX = 200;
/**
 * Warnings of one read; for each, the values that one is suggested of, and how many rows of a
 * dictionary are looked at for them.
 */
export const WARNINGS_MAX = 10;
export const SUGGESTIONS_MAX = 3;
export const SUGGESTION_CANDIDATES_MAX = 2_000;
export const SUGGESTION_ROWS_MAX = 10_000;
/** Patterns of `matches`: their text, one repetition, and what all repetitions written out come to. */
export const PATTERN_LENGTH_MAX = 200;
export const PATTERN_LEVELS_MAX = 10;
export const PATTERN_REPETITION_MAX = 100;
export const PATTERN_STATES_MAX = 500;
/** Places between characters that one pattern names. */
export const PATTERN_ANCHORS_MAX = 8;
/** A path of 2,048 characters, each escaped in JSON, as base64. */
export const ROW_CURSOR_LENGTH_MAX = 20_000;

/** Heatmaps: a path pattern, each character of which may be compared with each of a path. */
export const HEATMAP_PATTERN_LENGTH_MAX = 500;
/** Elements of a page that one read lists by their clicks. */
export const HEATMAP_ELEMENTS_MAX = 100;

/** Live updates: the pause between two looks, the longest silence, and how soon to come back. */
export const LIVE_INTERVAL_MS = 2 * SECOND_MS;
export const LIVE_HEARTBEAT_MS = 15 * SECOND_MS;
export const LIVE_RETRY_MS = 3 * SECOND_MS;
/** Streams open at once on one server; past it a request is answered 503 `overloaded`. */
export const LIVE_LISTENERS_MAX = 200;
/** Of them, of one project and with one token; past it a request is answered 429 `too_many_streams`. */
export const LIVE_LISTENERS_PER_PROJECT_MAX = 100;
export const LIVE_LISTENERS_PER_TOKEN_MAX = 40;
/** Looks for all streams at once: of the read connections, most stay for everybody else. */
export const LIVE_LOOKS_AT_ONCE = 2;
/** Paths told of the last minutes. */
export const LIVE_PAGES_MAX = 10;

/** Trends: events in one read, values told apart by `by`, and points of all lines together. */
export const TREND_EVENTS_MAX = 10;
export const TREND_VALUES_MAX = 25;
export const TREND_POINTS_MAX = 100_000;

/** Retention: cells of a cohort, its own period included. */
export const RETENTION_PERIODS_DEFAULT = 7;
export const RETENTION_PERIODS_MAX = 60;

/** Goals: of one project, points of all their series in one reply, and what one conversion is worth. */
export const GOALS_MAX = 200;
export const GOAL_POINTS_MAX = 100_000;
export const GOAL_FIXED_VALUE_MAX = 1_000_000_000_000;

/** Funnels: steps, events that must not happen in between, the window, groups told apart, and how many are kept. */
export const FUNNEL_STEPS_MAX = 10;
export const FUNNEL_EXCLUSIONS_MAX = 10;
export const FUNNEL_WINDOW_MS_MAX = 366 * DAY_MS;
export const FUNNEL_GROUPS_MAX = 25;
export const FUNNELS_MAX = 200;

/** Journeys: steps of a way, and values of a step that are told by themselves. */
export const JOURNEY_STEPS_MIN = 2;
export const JOURNEY_STEPS_MAX = 10;
export const JOURNEY_TOP_MAX = 20;

/** Insights: goals and values of one dimension looked at, weeks looked back, and how many of them suffice. */
export const INSIGHT_GOALS_MAX = 10;
export const INSIGHT_VALUES_MAX = 50;
export const INSIGHT_WEEKS = 4;
export const INSIGHT_WEEKS_MIN = 2;
/** What counts as a large change: as a fraction of before, and by itself (of counts, and of rates). */
export const INSIGHT_CHANGE_MIN = 0.2;
export const INSIGHT_COUNT_CHANGE_MIN = 10;
export const INSIGHT_RATE_CHANGE_MIN = 0.05;
/** The share of findings that may be chance. */
export const INSIGHT_FALSE_DISCOVERIES = 0.05;
/** How much more than its share of before a value must have of a change to explain it: 0 its share, 1 all. */
export const INSIGHT_EXPLAINED_MIN = 0.5;
/** How much of a change must lie in another one, or be explained by others, to have one cause with them. */
export const INSIGHT_CAUSE_SHARE = 2 / 3;
/** Changes that are looked at for what they have in common, and causes among them, which are the findings. */
export const INSIGHT_GROUPED_MAX = 200;
export const INSIGHT_CAUSES_MAX = 20;
/** Characters of a value in a sentence. */
export const INSIGHT_SHOWN_LENGTH_MAX = 80;

/** Stopping: how long what is under way may take to be given back. */
export const SHUTDOWN_CAPTURES_MS_MAX = 1 * SECOND_MS;

/** Timelines, reading: MiB of what is loaded that are kept (`READ_CACHE_MIB`), and bytes of one statement. */
export const READ_CACHE_MIB_MIN = 16;
export const READ_CACHE_MIB_DEFAULT = 320;
export const READ_CACHE_MIB_MAX = 65_536;
export const SEGMENT_FETCH_BYTES_MAX = 16 * MEBIBYTE;
/** About what is in memory at once, in two parts, of a read that needs more than the cache may hold. */
export const SCAN_PART_BYTES_MAX = 128 * MEBIBYTE;
/** Threads that count for reads. */
export const SCAN_WORKERS_MAX = 64;
/** Scans: what is visited in place, as sending it to a worker and back takes a millisecond or two. */
export const SCAN_IN_PLACE_EVENTS_MAX = 131_072;
/** Tasks of a scan for each worker, so that all end at about the same time. */
export const SCAN_TASKS_PER_WORKER = 4;
/** Pieces of about 16,384 events that a task has at most: 30 ms or so, after which another read may be next. */
export const SCAN_TASK_CUTS_MAX = 16;
/** Shared memory beside the read cache: what is given back is kept while all is within both. */
export const SHARED_FREE_BYTES_MAX = 64 * MEBIBYTE;
/** Ids of events that are looked up at once. */
export const TIMELINE_IDS_LOOKED_UP = 4_000;
/** The list of stored events: those that are read whole at once, where many are of one millisecond. */
export const LISTED_ROWS_AT_ONCE = 4_000;
/** Rows of the journal that a list or a tail of events looks at together. */
export const BLOCKS_AT_ONCE = 20;
/** Visitors of a part of a day whose days are looked up one by one. */
export const TAIL_ACTORS_LOOKED_UP_MAX = 5_000;

/** Insights, by timelines: numbers of 4 bytes that values are counted by at once; at least those of one match. */
export const INSIGHT_CELLS_MAX = 16_000_000;
/** Cells that the slices of changes are told apart by, of everything and of each goal: 1.2 MB each. */
export const INSIGHT_JOINT_CELLS_MAX = 20_000;
