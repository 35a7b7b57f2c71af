const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

/**
 * The JSON body of a route that needs no credentials. The largest valid one (a password, a name, an address and
 * a link's secret) fits even if each of its characters is written as an escape of six.
 */
export const ANYONE_JSON_BYTES_MAX = 10 * KIBIBYTE;
/** Bytes of all of these being read at once; beyond it such a request is answered 503 `overloaded`. */
export const ANYONE_JSON_BODIES_IN_FLIGHT_BYTES_MAX = 4 * MEBIBYTE;
