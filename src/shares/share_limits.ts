/** Shares of one project. */
export const SHARES_MAX = 100;
/** Origins whose pages may hold a share in a frame. */
export const SHARE_ORIGINS_MAX = 20;
/** Filters of a share; its visitors may add as many. */
export const SHARE_FILTERS_MAX = 10;
/** How many visitors a group must have to be shown; 1: every group is. */
export const MINIMUM_VISITORS_MIN = 1;
export const MINIMUM_VISITORS_DEFAULT = 3;
export const MINIMUM_VISITORS_MAX = 1_000;
/** The life of the tokens of a share's page. */
export const SHARE_TOKEN_S = 15 * 60;
/** A looked-up share is refreshed after this, and used for at most that: a change takes effect everywhere by then. */
export const SHARE_FRESH_MS = 400;
export const SHARE_CACHED_MS_MAX = 800;
export const SHARES_CACHED_MAX = 1_000;
/** Passwords of one share that may fail within SIGN_IN_ATTEMPTS_MS, from one network, and from all. */
export const SHARE_ATTEMPTS_MAX = 10;
export const SHARE_ATTEMPTS_OF_ALL_MAX = 200;
/**
 * Passwords of one project's shares that are being hashed or wait for it: only a part of all that may wait, so that
 * people can still sign in while many open a share.
 */
export const SHARE_HASHES_PER_PROJECT_MAX = 10;
/** A share's password, in UTF-16 units. It may be short: it is passed on by people, and protects only aggregates. */
export const SHARE_PASSWORD_LENGTH_MIN = 8;
