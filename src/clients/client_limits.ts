/** Limits for clients of other products. Names end with the unit. */

/**
 * How many decompressed bytes of a body are searched for a key, before anybody is authenticated. With a valid
 * key, the ordinary limits apply to the whole body.
 */
export const UNKNOWN_BODY_BYTES_MAX = 1_048_576;
/**
 * What such a body may contain, counted before it is parsed: commas and opening brackets, and opening
 * brackets alone. Events of 500 bytes have some 40 and 6. Parsing as many takes 25 ms at most.
 */
export const UNKNOWN_BODY_VALUES_MAX = 150_000;
export const UNKNOWN_BODY_CONTAINERS_MAX = 20_000;
/** How many possible keys of a larger body are looked up. */
export const KEYS_TRIED_MAX = 3;
/** Events of one request, including those past the limit, which are listed as rejected. */
export const LISTED_EVENTS_MAX = 10_000;
/** The name and the equals sign that a form begins with. */
export const FORM_NAME_LENGTH_MAX = 64;
/** Domains of one Plausible event: each is looked up before anybody is authenticated. */
export const DOMAINS_PER_EVENT_MAX = 20;
