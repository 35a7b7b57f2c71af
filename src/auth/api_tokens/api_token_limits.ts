const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** API tokens of one maker, and of the deployment, including expired ones. */
export const API_TOKENS_PER_MAKER_MAX = 100;
export const API_TOKENS_MAX = 1_000;
/** Characters of a token's `sub`, its name and its maker's; it is cut to this length. */
export const API_TOKEN_SUBJECT_LENGTH_MAX = 400;
/** The life of a token made without `expiresAt`. */
export const API_TOKEN_DEFAULT_MS = 90 * DAY_MS;
/** A looked-up token is refreshed after this, and used for at most that: it ends everywhere by then. */
export const API_TOKEN_FRESH_MS = 400;
export const API_TOKEN_CACHED_MS_MAX = 800;
export const API_TOKENS_CACHED_MAX = 2_000;
/** Its last use is stored at most this often. */
export const API_TOKEN_USE_NOTED_MS = MINUTE_MS;
/** How long an expired token is still listed. */
export const API_TOKEN_LISTED_MS = 30 * DAY_MS;
