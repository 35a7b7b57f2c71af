/** What members of a project may hold, whether a request or the configuration gives them. */

/** Whether it is the name of an IANA time zone. */
export function isTimezone(name: string): boolean {
  // Offsets such as +01:00 are no names: PostgreSQL reads their sign the other way round.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    // Stricter than Intl, which takes abbreviations such as PST that no calendar can be made of.
    new Temporal.ZonedDateTime(0n, name);
    return true;
  } catch {
    return false;
  }
}

/** Without a backslash, which URLs read as a slash and the look-up of sites as a part of the host. */
export function isSiteUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" &&
    url.password === "" && !text.includes("\\");
}

/** The host of a URL as the look-ups of sites read it, and what stands before and behind it. */
const AROUND_HOST = /^([A-Za-z]+:\/\/)([^/?#:]+)(.*)$/s;

/**
 * A site's URL whose host is written as URLs of events have it: `https://müller.example/ü` is
 * `https://xn--mller-kva.example/ü`. All else stays as it was sent.
 */
export function normalSiteUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.hostname.startsWith("[")) return text;
  const [, scheme, host, rest] = AROUND_HOST.exec(text) ?? [];
  // `https:shop.example` is a URL too, in which no look-up finds a host.
  if (host === undefined) return url.href;
  return host.toLowerCase() === url.hostname ? text : `${scheme}${url.hostname}${rest}`;
}
