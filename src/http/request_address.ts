/** Longer names are no host: DNS allows 253 characters, a port adds six, brackets two. */
const HOST_LENGTH_MAX = 300;
/** RFC 3986, 3.2: a name or IPv4 address, or an IPv6 address in brackets; then a port. Or nothing. */
export const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d{0,5})?$/;
/** Stands where the host would: nothing here depends on the name that a client used. */
const SOME_ORIGIN = "http://footfall";

/**
 * Where a request wants to go, by its request target alone; null where `Host` is no host. The target
 * is what stands in the first line (`/path?query`, or a whole URL), or what a listener has made of
 * it and of `host`: so the host is looked at first, since `Host: a/metrics?` would make another path
 * of any.
 */
export function requestAddress(target: string, host: string | null): URL | null {
  if (host !== null && (host.length > HOST_LENGTH_MAX || !HOST.test(host))) return null;
  return URL.parse(target.startsWith("/") ? SOME_ORIGIN + target : target);
}
