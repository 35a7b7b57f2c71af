/** The site of an http or https URL; null if it is none. */
export function siteOf(siteUrl: string): URL | null {
  const url = URL.parse(siteUrl);
  return url !== null && isWeb(url) && url.hostname !== "" ? url : null;
}

/** Whether an address is one that a site can have. */
export function isWeb({ protocol }: URL): boolean {
  return protocol === "https:" || protocol === "http:";
}

/**
 * A host name as hosts are compared: lower case, punycode, no port, no dot at its end. Null if the
 * text is no host, such as a name with a space.
 */
export function hostName(text: string): string | null {
  const url = URL.parse(`http://${text.trim()}`) ?? URL.parse(`http://[${text.trim()}]`);
  // Anything beside host and port makes another text of it: a user, a path, a query.
  if (url === null || url.href !== `http://${url.host}/`) return null;
  return url.hostname.replace(/\.$/, "") || null;
}

/** Whether two host names are one site's: `www.` in front of either makes no difference. */
export function isSameSite(one: string, other: string): boolean {
  return withoutWww(one) === withoutWww(other);
}

function withoutWww(host: string): string {
  return host.toLowerCase().replace(/\.$/, "").replace(/^www\./, "");
}

/** Whether a host is the other one or a part of it. */
export function isWithin(host: string, parent: string): boolean {
  return host === parent || host.endsWith(`.${parent}`);
}
