const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** API tokens of one maker, and of the deployment, those that have expired included. */
export const API_TOKENS_PER_MAKER_MAX = 100;
export const API_TOKENS_MAX = 1_000;
/** Characters of the `sub` of a token: its name, and of whom it is; what is longer is cut. */
export const API_TOKEN_SUBJECT_LENGTH_MAX = 400;
/** Life of a token whose end is not said. */
export const API_TOKEN_DEFAULT_MS = 90 * DAY_MS;
/** How long it is believed that a token is not revoked: it ends everywhere within this time. */
export const API_TOKEN_FRESH_MS = 400;
export const API_TOKEN_BELIEVED_MS_MAX = 800;
export const API_TOKENS_CACHED_MAX = 2_000;
/** Its last use is written down at most this often. */
export const API_TOKEN_USE_NOTED_MS = MINUTE_MS;
/** How long a token that has expired is still listed. */
export const API_TOKEN_LISTED_MS = 30 * DAY_MS;
