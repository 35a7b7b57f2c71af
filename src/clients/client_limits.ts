/** Limits of other people's clients. Units stand in the names. */

/**
 * A body whose key stands within it, not compressed any more, up to where its key is looked for: nobody is
 * authenticated before. With a good key in it the ordinary limits hold for all of it.
 */
export const UNKNOWN_BODY_BYTES_MAX = 1_048_576;
/**
 * What such a body may hold, counted before it is parsed: commas and opening brackets, and opening
 * brackets alone. Events of 500 bytes have some 40 and 6. Parsed, so many take 25 ms at most.
 */
export const UNKNOWN_BODY_VALUES_MAX = 150_000;
export const UNKNOWN_BODY_CONTAINERS_MAX = 20_000;
/** Members that may be the key and are looked up, of a body that is larger. */
export const KEYS_TRIED_MAX = 3;
/** Events of one request, with those that it has too many and that are listed as rejected. */
export const LISTED_EVENTS_MAX = 10_000;
/** The name and the equals sign that a form begins with. */
export const FORM_NAME_LENGTH_MAX = 64;
/** Domains of one event of Plausible's: each is looked up, before anybody is authenticated. */
export const DOMAINS_PER_EVENT_MAX = 20;
