/** Rules for the values of a project, whether they come from a request or from the configuration. */

/** Whether a text is the name of an IANA time zone. */
export function isTimezone(name: string): boolean {
  // Offsets such as +01:00 are refused: PostgreSQL reads their sign the other way round.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    // Stricter than Intl, which takes abbreviations such as PST that no calendar can be made of.
    new Temporal.ZonedDateTime(0n, name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a text is an http or https URL without user or password. A backslash is refused too: URL parsers read
 * it as a slash, but the look-up of sites as a part of the host.
 */
export function isSiteUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" &&
    url.password === "" && !text.includes("\\");
}

/** The part before a URL's host, the host as the look-ups of sites read it, and the rest. */
const AROUND_HOST = /^([A-Za-z]+:\/\/)([^/?#:]+)(.*)$/s;

/**
 * Returns a site's URL with its host as in the URLs of events: `https://müller.example/ü` becomes
 * `https://xn--mller-kva.example/ü`. The rest stays as it was sent.
 */
export function normalSiteUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.hostname.startsWith("[")) return text;
  const [, scheme, host, rest] = AROUND_HOST.exec(text) ?? [];
  // `https:shop.example` is also a URL, but the look-ups find no host in it.
  if (host === undefined) return url.href;
  return host.toLowerCase() === url.hostname ? text : `${scheme}${url.hostname}${rest}`;
}
