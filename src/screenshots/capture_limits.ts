/** Every bound of the captures, with its unit in its name; the rest stand in `limits.ts`. */

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The queue of captures: paths of one job, and of the daily one, the most viewed of so many days. */
export const CAPTURE_PATHS_MAX = 100;
export const CAPTURE_DAILY_PATHS_MAX = 50;
/** What a project's people may have waiting and under way before they queue more: twice the largest job. */
export const CAPTURE_TASKS_MAX = 600;
/** `Retry-After` of a job beyond that: some pictures are taken by then. */
export const CAPTURE_RETRY_AFTER_S = 60;
export const CAPTURE_DAYS = 30;
/** Paths looked at for those that may be photographed. */
export const CAPTURE_CANDIDATES_MAX = 2_000;
/** Hosts told of one path, and the page views after which no older ones are looked at for them. */
export const CAPTURE_HOSTS_MAX = 20;
export const CAPTURE_HOST_VIEWS_ENOUGH = 10_000;
/** Pictures kept of one page and device, and how long those of a page that nobody attempts any more. */
export const CAPTURE_VERSIONS_MAX = 5;
export const CAPTURE_PAGES_KEPT_DAYS = 90;
/** How long finished jobs can be looked up. */
export const CAPTURE_JOBS_KEPT_DAYS = 30;
/** Captures under way at once on the one server that takes them, and how long one may take in all. */
export const CAPTURES_AT_ONCE = 2;
export const CAPTURE_TASK_MS_MAX = 120 * SECOND_MS;
/** Before the second try of what failed in passing, and before the third, which is the last. */
export const CAPTURE_RETRY_MS: readonly number[] = [20 * SECOND_MS, 120 * SECOND_MS];
/** A page in whose capture the server ended so often is left alone. */
export const CAPTURE_LOSSES_MAX = 3;
/** How long a server that takes captures is believed to live after its last sign of life. */
export const CAPTURE_LEASE_MS = 30 * SECOND_MS;
/** Between two looks for work that another server has queued, or that waits for its retry. */
export const CAPTURE_POLL_MS = 5 * SECOND_MS;
/** A command takes captures itself only where no running server has begun to by then. */
export const CAPTURE_PATIENCE_MS = 8 * SECOND_MS;
/** Requests that wait for a job: how long at most, how many, and between two looks. */
export const CAPTURE_WAIT_S_MAX = 120;
export const CAPTURE_WAITERS_MAX = 20;
export const CAPTURE_WAIT_PAUSE_MS = 500;
/** A time of the schedule is made up for if a server that slept comes within it. */
export const CAPTURE_LATENESS_MS_MAX = HOUR_MS;

/** Captures, the browser: one attempt wholly, and the parts of it. */
export const CAPTURE_MS_MAX = 45 * SECOND_MS;
export const CAPTURE_LAUNCH_MS_MAX = 20 * SECOND_MS;
/** One call into the browser; pages that run for ever never answer. */
export const CAPTURE_CALL_MS_MAX = 10 * SECOND_MS;
export const CAPTURE_CLOSE_MS_MAX = 3 * SECOND_MS;
/**
 * One message of the browser. The largest ones are pictures as base64: 1,440 by 30,000 pixels at a byte each, more
 * than noise takes at CAPTURE_JPEG_QUALITY, are 55 MiB.
 */
export const CAPTURE_MESSAGE_BYTES_MAX = 96 * MEBIBYTE;
/** Pages after which a browser is replaced, how long an idle one stays, and the heap of one page. */
export const CAPTURE_PAGES_PER_BROWSER_MAX = 50;
export const CAPTURE_BROWSER_IDLE_MS = 30 * SECOND_MS;
export const CAPTURE_HEAP_MEBIBYTES_MAX = 512;
/** A profile folder without a lock is one that is being made, unless it is this old. */
export const CAPTURE_PROFILE_AGE_MS_MIN = MINUTE_MS;
/** A visit, wholly, and of it: until the page answers, until it is loaded, and until it is quiet after that. */
export const CAPTURE_VISIT_MS_MAX = 30 * SECOND_MS;
export const CAPTURE_NAVIGATION_MS_MAX = 15 * SECOND_MS;
export const CAPTURE_LOAD_MS_MAX = 8 * SECOND_MS;
/** A page whose scripts let nobody else in for so long is given up: meanwhile it may eat memory. */
export const CAPTURE_BUSY_MS_MAX = 5 * SECOND_MS;
export const CAPTURE_QUIET_MS_MAX = 4 * SECOND_MS;
/** Quiet: this long no request under way, or longer at most so many; and this long nothing new in the document. */
export const CAPTURE_NETWORK_IDLE_MS = 250;
export const CAPTURE_NETWORK_QUIET_MS = 1_000;
export const CAPTURE_NETWORK_QUIET_REQUESTS = 2;
/** A page that waits so long for a few last parts is looked at without them. */
export const CAPTURE_STALLED_MS = 2_500;
export const CAPTURE_DOM_QUIET_MS = 300;
/** A page that announces to send visitors elsewhere within this time is waited for. */
export const CAPTURE_REFRESH_MS_MAX = 3 * SECOND_MS;
/** Requests of one page, and times that scripts may send a visitor elsewhere. */
export const CAPTURE_REQUESTS_MAX = 800;
export const CAPTURE_NAVIGATIONS_MAX = 8;
/** Refusing consent: by the rules of known banners, and until a refused banner is gone. */
export const CAPTURE_CONSENT_RULES_MS_MAX = 4 * SECOND_MS;
export const CAPTURE_CONSENT_GONE_MS_MAX = 1_500;
/** What is looked at of a page's text. */
export const CAPTURE_TEXT_LENGTH_MAX = 4_000;
export const CAPTURE_HEADINGS_MAX = 20;
/** The picture: scrolling through, waiting for images, and what it may be. */
export const CAPTURE_SCROLL_MS_MAX = 6 * SECOND_MS;
export const CAPTURE_IMAGES_MS_MAX = 3 * SECOND_MS;
export const CAPTURE_SCREENSHOT_MS_MAX = 20 * SECOND_MS;
export const CAPTURE_HEIGHT_PX_MAX = 30_000;
export const CAPTURE_JPEG_QUALITY = 70;

/** Captures' egress, of one capture: bytes both ways, and connections that a page asks for. */
export const EGRESS_BYTES_MAX = 60 * MEBIBYTE;
export const EGRESS_CONNECTIONS_MAX = 600;
/** At once; more wait. */
export const EGRESS_CONNECTIONS_AT_ONCE_MAX = 100;
/** What the browser may say before its request is known, and how long that may take. */
export const EGRESS_HEAD_BYTES_MAX = 64 * KIBIBYTE;
export const EGRESS_HEAD_MS_MAX = 10 * SECOND_MS;
/** A server's head, as large as Chromium takes it, and the interim ones before it. */
export const EGRESS_ANSWER_HEAD_BYTES_MAX = 256 * KIBIBYTE;
export const EGRESS_INTERIM_ANSWERS_MAX = 10;
/** A look-up, one address that is dialled, and how many of a host are. */
export const EGRESS_RESOLVE_MS_MAX = 5 * SECOND_MS;
export const EGRESS_CONNECT_MS_MAX = 5 * SECOND_MS;
export const EGRESS_ADDRESSES_DIALLED_MAX = 4;
/** Silence of both sides that ends a connection. */
export const EGRESS_IDLE_MS_MAX = 30 * SECOND_MS;
/** After a refusal: how long the browser may take to read it and leave. */
export const EGRESS_LINGER_MS_MAX = 1 * SECOND_MS;
/** Passed on at a time. */
export const EGRESS_CHUNK_BYTES = 32 * KIBIBYTE;

/** Captures, paths that are visited without anybody's asking: characters, percent-encoded. */
export const CAPTURE_PATH_LENGTH_MAX = 500;
