/** Limits of the captures, with their units in their names. */

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The queue: paths of a job, and of the daily one, which takes the most viewed paths of CAPTURE_DAYS. */
export const CAPTURE_PATHS_MAX = 100;
export const CAPTURE_DAILY_PATHS_MAX = 50;
/** The unfinished captures of a project with which its people may not queue more: twice the largest job. */
export const CAPTURE_TASKS_MAX = 600;
/** `Retry-After` of a job beyond that: by then, some captures are done. */
export const CAPTURE_RETRY_AFTER_S = 60;
export const CAPTURE_DAYS = 30;
/** Paths from which those to capture are chosen. */
export const CAPTURE_CANDIDATES_MAX = 2_000;
/** Hosts that are listed for a path, and the page views after which older ones are not searched for more. */
export const CAPTURE_HOSTS_MAX = 20;
export const CAPTURE_HOST_VIEWS_ENOUGH = 10_000;
/** Captures that are kept of a page and device, and how long they stay after the last attempt. */
export const CAPTURE_VERSIONS_MAX = 5;
export const CAPTURE_PAGES_KEPT_DAYS = 90;
/** How long finished jobs can be looked up. */
export const CAPTURE_JOBS_KEPT_DAYS = 30;
/** Captures that the server which takes them runs at once, and how long one may take in all. */
export const CAPTURES_AT_ONCE = 2;
export const CAPTURE_TASK_MS_MAX = 120 * SECOND_MS;
/** The pauses before the second and third attempt, which is the last, after a temporary failure. */
export const CAPTURE_RETRY_MS: readonly number[] = [20 * SECOND_MS, 120 * SECOND_MS];
/** A page is not attempted again once the server ended this often during its capture. */
export const CAPTURE_LOSSES_MAX = 3;
/** How long a server keeps the right to take captures after it last renewed it. */
export const CAPTURE_LEASE_MS = 30 * SECOND_MS;
/** Between two checks for work that another server has queued, or whose retry is due. */
export const CAPTURE_POLL_MS = 5 * SECOND_MS;
/** A command takes captures itself only if no running server has begun to by then. */
export const CAPTURE_PATIENCE_MS = 8 * SECOND_MS;
/** Requests that wait for a job: how long at most, how many, and the time between two checks. */
export const CAPTURE_WAIT_S_MAX = 120;
export const CAPTURE_WAITERS_MAX = 20;
export const CAPTURE_WAIT_PAUSE_MS = 500;
/** A scheduled time that was missed, such as by a machine that slept, is made up for if it is not older. */
export const CAPTURE_LATENESS_MS_MAX = HOUR_MS;

/** The browser: a whole attempt, and its parts. */
export const CAPTURE_MS_MAX = 45 * SECOND_MS;
export const CAPTURE_LAUNCH_MS_MAX = 20 * SECOND_MS;
/** A call into the browser: pages whose scripts run for ever never answer. */
export const CAPTURE_CALL_MS_MAX = 10 * SECOND_MS;
export const CAPTURE_CLOSE_MS_MAX = 3 * SECOND_MS;
/**
 * A message of the browser. The largest are pictures as base64: 1,440 by 30,000 pixels, at a byte each, which is
 * more than noise takes at CAPTURE_JPEG_QUALITY, are 55 MiB.
 */
export const CAPTURE_MESSAGE_BYTES_MAX = 96 * MEBIBYTE;
/** Pages after which a browser is replaced, how long an idle one stays, and the heap of a page. */
export const CAPTURE_PAGES_PER_BROWSER_MAX = 50;
export const CAPTURE_BROWSER_IDLE_MS = 30 * SECOND_MS;
export const CAPTURE_HEAP_MEBIBYTES_MAX = 512;
/** A profile folder without a lock is still being made unless it is older than this. */
export const CAPTURE_PROFILE_AGE_MS_MIN = MINUTE_MS;
/** A whole visit, and its parts: until the page answers, until it is loaded, and until it is then quiet. */
export const CAPTURE_VISIT_MS_MAX = 30 * SECOND_MS;
export const CAPTURE_NAVIGATION_MS_MAX = 15 * SECOND_MS;
export const CAPTURE_LOAD_MS_MAX = 8 * SECOND_MS;
/** A page whose scripts block all others for this long is given up, as it may use more and more memory. */
export const CAPTURE_BUSY_MS_MAX = 5 * SECOND_MS;
export const CAPTURE_QUIET_MS_MAX = 4 * SECOND_MS;
/** Quiet: no running request for this long, or few of them for longer, and an unchanged document. */
export const CAPTURE_NETWORK_IDLE_MS = 250;
export const CAPTURE_NETWORK_QUIET_MS = 1_000;
export const CAPTURE_NETWORK_QUIET_REQUESTS = 2;
/** A page that waits this long for its last few requests is captured without them. */
export const CAPTURE_STALLED_MS = 2_500;
export const CAPTURE_DOM_QUIET_MS = 300;
/** A page that announces a navigation within this time is followed. */
export const CAPTURE_REFRESH_MS_MAX = 3 * SECOND_MS;
/** Requests of a page, and navigations by its scripts. */
export const CAPTURE_REQUESTS_MAX = 800;
export const CAPTURE_NAVIGATIONS_MAX = 8;
/** Refusing consent: by the rules for known banners, and until a refused banner is gone. */
export const CAPTURE_CONSENT_RULES_MS_MAX = 4 * SECOND_MS;
export const CAPTURE_CONSENT_GONE_MS_MAX = 1_500;
/** How much of a page's text is read. */
export const CAPTURE_TEXT_LENGTH_MAX = 4_000;
export const CAPTURE_HEADINGS_MAX = 20;
/** The picture: scrolling through the page, waiting for images, taking it, and its size and quality. */
export const CAPTURE_SCROLL_MS_MAX = 6 * SECOND_MS;
export const CAPTURE_IMAGES_MS_MAX = 3 * SECOND_MS;
export const CAPTURE_SCREENSHOT_MS_MAX = 20 * SECOND_MS;
export const CAPTURE_HEIGHT_PX_MAX = 30_000;
export const CAPTURE_JPEG_QUALITY = 70;

/** The egress of a capture: bytes in both directions, and connections in all. */
export const EGRESS_BYTES_MAX = 60 * MEBIBYTE;
export const EGRESS_CONNECTIONS_MAX = 600;
/** Connections at once; more wait. */
export const EGRESS_CONNECTIONS_AT_ONCE_MAX = 100;
/** The head of the browser's request to the proxy, and how long it may take. */
export const EGRESS_HEAD_BYTES_MAX = 64 * KIBIBYTE;
export const EGRESS_HEAD_MS_MAX = 10 * SECOND_MS;
/** The head of a server's response, as large as Chromium takes it, and the interim responses before it. */
export const EGRESS_ANSWER_HEAD_BYTES_MAX = 256 * KIBIBYTE;
export const EGRESS_INTERIM_ANSWERS_MAX = 10;
/** A look-up, a connection to an address, and the addresses of a host that are tried. */
export const EGRESS_RESOLVE_MS_MAX = 5 * SECOND_MS;
export const EGRESS_CONNECT_MS_MAX = 5 * SECOND_MS;
export const EGRESS_ADDRESSES_DIALLED_MAX = 4;
/** How long both sides may be silent before the connection is ended. */
export const EGRESS_IDLE_MS_MAX = 30 * SECOND_MS;
/** How long the browser may take to read a refusal and close the connection. */
export const EGRESS_LINGER_MS_MAX = 1 * SECOND_MS;
/** Bytes that are forwarded at a time. */
export const EGRESS_CHUNK_BYTES = 32 * KIBIBYTE;

/** Paths that the daily job may visit: their characters, percent-encoded. */
export const CAPTURE_PATH_LENGTH_MAX = 500;
