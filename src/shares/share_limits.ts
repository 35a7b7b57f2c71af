/** Shares of one project. */
export const SHARES_MAX = 100;
/** Origins whose pages may hold a share in a frame. */
export const SHARE_ORIGINS_MAX = 20;
/** Filters of a share: as many again are left for whoever reads it. */
export const SHARE_FILTERS_MAX = 10;
/** How many visitors a group must have to be told. With one, every group is. */
export const MINIMUM_VISITORS_MIN = 1;
export const MINIMUM_VISITORS_DEFAULT = 3;
export const MINIMUM_VISITORS_MAX = 1_000;
/** Life of the tokens by which a share's page reads. */
export const SHARE_TOKEN_S = 15 * 60;
/** How long it is believed what a share is: a change or its end holds everywhere within this time. */
export const SHARE_FRESH_MS = 400;
export const SHARE_CACHED_MS_MAX = 800;
export const SHARES_CACHED_MAX = 1_000;
/** Passwords that may fail within SIGN_IN_ATTEMPTS_MS: of one share from one network, and from all. */
export const SHARE_ATTEMPTS_MAX = 10;
export const SHARE_ATTEMPTS_OF_ALL_MAX = 200;
/**
 * Passwords of one project's shares that are hashed or wait for it: a part of all that may wait, so that
 * people still sign in while many enter, of whom those who know the password fail no attempt.
 */
export const SHARE_HASHES_PER_PROJECT_MAX = 10;
/** A password of a share, in UTF-16 units: it is passed on by word of mouth, and behind it lie sums. */
export const SHARE_PASSWORD_LENGTH_MIN = 8;
