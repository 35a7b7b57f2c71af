const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How many a project may have. */
export const DIGESTS_MAX = 50;
export const ALERTS_MAX = 100;
export const WEBHOOKS_MAX = 20;
/** Receivers of one digest or alert. */
export const RECEIVING_PEOPLE_MAX = 50;
export const RECEIVING_WEBHOOKS_MAX = 10;
/** Projects of one digest. */
export const DIGEST_PROJECTS_MAX = 10;
/** Questions of one digest, for each project. */
export const DIGEST_QUESTIONS_MAX = 10;

/** The span of a threshold. */
export const THRESHOLD_SPAN_MS_MIN = 5 * MINUTE_MS;
export const THRESHOLD_SPAN_MS_MAX = 90 * DAY_MS;
/** The span of a silence. */
export const SILENCE_MINUTES_MIN = 5;
export const SILENCE_MINUTES_MAX = 7 * 24 * 60;
/** Without an event in this span, there was nothing that could fall silent. */
export const SILENCE_REMEMBERED_MS = 30 * DAY_MS;
/** The least and the largest score of findings that an alert may wait for. */
export const FINDING_SCORE_MIN = 0;
export const FINDING_SCORE_MAX = 1000;

/** How often the job runs that makes and checks what is due. */
export const CHECKS_RUN_EVERY_MS = MINUTE_MS;

/** How often each kind of alert is checked, counted from the beginning of the minute of its last check. */
export const THRESHOLD_EVERY_MS = 5 * MINUTE_MS;
export const SILENCE_EVERY_MS = MINUTE_MS;
export const UNUSUAL_EVERY_MS = HOUR_MS;
export const FINDING_EVERY_MS = 6 * HOUR_MS;

/** How many earlier weeks say what is usual, and how many are needed at least. */
export const UNUSUAL_WEEKS = 8;
export const UNUSUAL_WEEKS_MIN = 4;
/** A count is unusual if chance causes it less often than this, and if it differs by this part and this number. */
export const UNUSUAL_CHANCE_MAX = 0.001;
export const UNUSUAL_CHANGE_MIN = 0.2;
export const UNUSUAL_COUNT_MIN = 10;

/** How long one server has to make a digest or check an alert, and to send a message, before another may do it. */
export const CHECK_CLAIM_MS = 5 * MINUTE_MS;
export const SEND_CLAIM_MS = MINUTE_MS;
/** Messages that one server sends at once. */
export const SENDS_AT_ONCE = 5;
/** The longest run: the next one begins with the next minute. */
export const NOTIFICATION_RUN_MS_MAX = 50 * SECOND_MS;

/** How long after its time a digest waits for its days to be counted; less than the day until the next one. */
export const DIGEST_WAIT_MS_MAX = 6 * HOUR_MS;

/** How long a stopping server waits for its run. */
export const SHUTDOWN_NOTIFICATIONS_MS_MAX = SECOND_MS;

/** The wait after each try. After as many retries, a message has failed. */
export const RETRY_AFTER_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
];
/** How long one try may take in all, its connection to one address, and the look-up of the name. */
export const WEBHOOK_MS_MAX = 10 * SECOND_MS;
export const WEBHOOK_CONNECT_MS_MAX = 3 * SECOND_MS;
export const WEBHOOK_RESOLVE_MS_MAX = 5 * SECOND_MS;
/** The most that is sent, and that is read of an answer, of which only the status matters. */
export const WEBHOOK_BODY_BYTES_MAX = 24 * 1024;
export const WEBHOOK_ANSWER_HEAD_BYTES_MAX = 16 * 1024;
/** Random bytes of a secret: Standard Webhooks asks for 24 to 64. */
export const WEBHOOK_SECRET_BYTES = 32;

export const DELIVERY_KEPT_MS = 30 * DAY_MS;
/** How long an unsubscribe link is valid. */
export const UNSUBSCRIBE_TTL_S = 366 * 24 * 60 * 60;

/** Rows of each list of a digest, and its findings. */
export const DIGEST_ROWS = 5;
export const DIGEST_FINDINGS = 3;
/** Characters of a text from events in a message. */
export const MESSAGE_TEXT_LENGTH_MAX = 120;
/** Characters of a question in words, with its conditions. */
export const QUESTION_NAME_LENGTH_MAX = 240;
