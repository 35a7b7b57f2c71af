/** Parses a site URL; null if it is not an http or https URL with a host. */
export function siteOf(siteUrl: string): URL | null {
  const url = URL.parse(siteUrl);
  return url !== null && isWeb(url) && url.hostname !== "" ? url : null;
}

/** Whether an address is http or https. */
export function isWeb({ protocol }: URL): boolean {
  return protocol === "https:" || protocol === "http:";
}

/**
 * Returns a host name for comparison: in lower case and punycode, without a port and a final dot. Null if the
 * text is not a host, such as a name with a space.
 */
export function hostName(text: string): string | null {
  const url = URL.parse(`http://${text.trim()}`) ?? URL.parse(`http://[${text.trim()}]`);
  // Anything besides host and port, such as a user, a path or a query, would change the text.
  if (url === null || url.href !== `http://${url.host}/`) return null;
  return url.hostname.replace(/\.$/, "") || null;
}

/** Whether two host names are of the same site; `www.` in front of either makes no difference. */
export function isSameSite(one: string, other: string): boolean {
  return withoutWww(one) === withoutWww(other);
}

function withoutWww(host: string): string {
  return host.toLowerCase().replace(/\.$/, "").replace(/^www\./, "");
}

/** Whether a host is `parent` or a subdomain of it. */
export function isWithin(host: string, parent: string): boolean {
  return host === parent || host.endsWith(`.${parent}`);
}
