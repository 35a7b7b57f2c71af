const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** RFC 5321, 4.5.3.1.3: a path of 256 octets, without its brackets. */
export const EMAIL_LENGTH_MAX = 254;

/** Passwords, in characters as people count them, and in UTF-16 units: long passphrases are welcome. */
export const PASSWORD_CHARACTERS_MIN = 10;
export const PASSWORD_LENGTH_MAX = 1_000;
/** Password hashes that are made at once, of 32 MiB each, and requests that may wait for one. */
export const PASSWORD_HASHES_AT_ONCE = 2;
export const PASSWORD_HASHES_WAITING_MAX = 40;

/** Sign-ins that may fail within this time, for one account and for one network. */
export const SIGN_IN_ATTEMPTS_MAX = 10;
export const SIGN_IN_ATTEMPTS_MS = 15 * MINUTE_MS;

/** A session ends after it was unused for so long; its use is stored at most this often. */
export const SESSION_UNUSED_MS_MAX = 30 * DAY_MS;
export const SESSION_USE_NOTED_MS = MINUTE_MS;
/** The life of the tokens that are issued to a session. */
export const SESSION_TOKEN_S = 15 * 60;
/** A looked-up session is refreshed after this, and used for at most that: it ends everywhere by then. */
export const SESSION_FRESH_MS = 400;
export const SESSION_CACHED_MS_MAX = 800;
export const SESSIONS_CACHED_MAX = 10_000;
/** Sessions of one person; a further one replaces the one that was unused for longest. */
export const SESSIONS_PER_PERSON_MAX = 100;

/** The life of links that work once: the first owner's, invitations and those for a new password. */
export const OWNER_LINK_MS = 24 * HOUR_MS;
export const INVITATION_MS = 7 * DAY_MS;
/** How long an ended link is kept, to be told from a forged one. */
export const LINK_REMEMBERED_MS = 30 * DAY_MS;

/** People of one deployment. */
export const PEOPLE_MAX = 10_000;
