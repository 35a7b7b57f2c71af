/** The longest valid host: DNS allows 253 characters, a port adds six, brackets two. */
const HOST_LENGTH_MAX = 300;
/**
 * Matches a host by RFC 3986, 3.2: a name, an IPv4 address or an IPv6 address in brackets, then a port; or
 * nothing.
 */
export const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d{0,5})?$/;
/** Takes the place of the host, since no handler depends on the name that a client used. */
const SOME_ORIGIN = "http://footfall";

/**
 * Returns the address of a request by its request target alone; null if `Host` is not a valid host.
 * @param target the target in the first line (`/path?query`, or a whole URL), or the URL that a listener
 * made of it and of `host`. The host is checked first, because `Host: a/metrics?` would turn any path into
 * another.
 */
export function requestAddress(target: string, host: string | null): URL | null {
  if (host !== null && (host.length > HOST_LENGTH_MAX || !HOST.test(host))) return null;
  return URL.parse(target.startsWith("/") ? SOME_ORIGIN + target : target);
}

/**
 * Returns the address of a request without the base path, which a proxy may have removed already; null if
 * `Host` is not a valid host.
 */
export function addressBelow(basePath: string, request: Request): URL | null {
  const url = requestAddress(request.url, request.headers.get("host"));
  if (url !== null && basePath !== "" && `${url.pathname}/`.startsWith(`${basePath}/`)) {
    url.pathname = url.pathname.slice(basePath.length) || "/";
  }
  return url;
}
