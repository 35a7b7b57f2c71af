const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What a project may have of each. */
export const DIGESTS_MAX = 50;
export const ALERTS_MAX = 100;
export const WEBHOOKS_MAX = 20;
/** To how many one digest or alert goes. */
export const TOLD_PEOPLE_MAX = 50;
export const TOLD_WEBHOOKS_MAX = 10;
/** Projects that one digest tells of. */
export const DIGEST_PROJECTS_MAX = 10;
/** Questions that one digest asks beside its own, of each project. */
export const DIGEST_QUESTIONS_MAX = 10;

/** How far back a threshold looks. */
export const THRESHOLD_SPAN_MS_MIN = 5 * MINUTE_MS;
export const THRESHOLD_SPAN_MS_MAX = 90 * DAY_MS;
/** How long no event must have come. */
export const SILENCE_MINUTES_MIN = 5;
export const SILENCE_MINUTES_MAX = 7 * 24 * 60;
/** Where nothing came in so long either, nothing has fallen silent. */
export const SILENCE_REMEMBERED_MS = 30 * DAY_MS;
/** The least and the largest score of findings that an alert may wait for. */
export const FINDING_SCORE_MIN = 0;
export const FINDING_SCORE_MAX = 1000;

/** How often the job runs that looks at what is due. */
export const LOOKS_RUN_EVERY_MS = MINUTE_MS;

/** How often each kind of alert is looked at, counted from the beginning of the minute of its last look. */
export const THRESHOLD_EVERY_MS = 5 * MINUTE_MS;
export const SILENCE_EVERY_MS = MINUTE_MS;
export const UNUSUAL_EVERY_MS = HOUR_MS;
export const FINDING_EVERY_MS = 6 * HOUR_MS;

/** Weeks whose same weekday says what is usual, and how few of them say nothing. */
export const UNUSUAL_WEEKS = 8;
export const UNUSUAL_WEEKS_MIN = 4;
/** Unusual is what chance brings about less often than this, and what is this far off besides. */
export const UNUSUAL_CHANCE_MAX = 0.001;
export const UNUSUAL_CHANGE_MIN = 0.2;
export const UNUSUAL_COUNT_MIN = 10;

/** How long one server has to look at a digest or an alert, and to send a message, before another may. */
export const LOOK_CLAIM_MS = 5 * MINUTE_MS;
export const SEND_CLAIM_MS = MINUTE_MS;
/** Messages that one server sends at once. */
export const SENDS_AT_ONCE = 5;
/** How long one run goes on: another one begins with the next minute, or as soon as this one has ended. */
export const TOLD_RUN_MS_MAX = 50 * SECOND_MS;

/** How long a server that stops waits for what it is sending. */
export const SHUTDOWN_TOLD_MS_MAX = SECOND_MS;

/** How long after each try the next one comes. After the last of them a message has failed. */
export const RETRY_AFTER_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
];
/** How long a receiver has for the whole of one try, to be connected to at one address, and to be looked up. */
export const WEBHOOK_MS_MAX = 10 * SECOND_MS;
export const WEBHOOK_CONNECT_MS_MAX = 3 * SECOND_MS;
export const WEBHOOK_RESOLVE_MS_MAX = 5 * SECOND_MS;
/** What is sent at most, and what is read of an answer: its head, of which the status counts. */
export const WEBHOOK_BODY_BYTES_MAX = 24 * 1024;
export const WEBHOOK_ANSWER_HEAD_BYTES_MAX = 16 * 1024;
/** Random bytes of a secret: Standard Webhooks asks for 24 to 64. */
export const WEBHOOK_SECRET_BYTES = 32;

export const DELIVERY_KEPT_MS = 30 * DAY_MS;
/** How long the link that ends a person's messages works. */
export const UNSUBSCRIBE_TTL_S = 366 * 24 * 60 * 60;

/** Rows of each list of a digest, and findings that it tells. */
export const DIGEST_ROWS = 5;
export const DIGEST_FINDINGS = 3;
/** Characters of a text from events in a message. */
export const TOLD_TEXT_LENGTH_MAX = 120;
/** Characters of what a question is called, its conditions included. */
export const QUESTION_NAME_LENGTH_MAX = 240;
