/** The most labels that an entry of the source lists has. */
const LABELS_MAX = 5;
const COUNTRY = /^[a-z]{2}$/;

/** Returns a host in lower case, without a leading `www.` and a final dot; null if nothing is left. */
export function withoutWww(host: string | null): string | null {
  if (host === null) return null;
  const lower = host.trim().toLowerCase();
  const start = lower.startsWith("www.") ? 4 : 0;
  return lower.slice(start, lower.endsWith(".") ? -1 : undefined) || null;
}

/**
 * Returns a host with `*` in place of an ending that differs between the countries of a site: `com`, a country's
 * two letters, or these after `co` or `com` (`google.co.uk` → `google.*`). Null for any other ending.
 */
export function countryNeutral(host: string): string | null {
  const top = host.lastIndexOf(".");
  if (top <= 0) return null;
  const ending = host.slice(top + 1);
  if (ending === "com") return `${host.slice(0, top)}.*`;
  if (!COUNTRY.test(ending)) return null;
  const second = host.lastIndexOf(".", top - 1);
  const label = host.slice(second + 1, top);
  const shared = second > 0 && (label === "co" || label === "com");
  return `${host.slice(0, shared ? second : top)}.*`;
}

/** Returns where each of the last LABELS_MAX labels of a host begins, in order. */
export function labelStarts(host: string): number[] {
  const starts: number[] = [];
  for (let end = host.length; starts.length < LABELS_MAX && end >= 0;) {
    const dot = end === 0 ? -1 : host.lastIndexOf(".", end - 1);
    starts.unshift(dot + 1);
    end = dot;
  }
  return starts;
}

const ADDRESS = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:@\\]+)/;
/** A host in brackets: the one that may hold colons. */
const BRACKETED = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/(?:[^/?#@]*@)?(\[[0-9A-Fa-f:.]+\])/;
const NOT_ASCII = /[^ -~]/;

/** The host of an address, in lower case, as the hosts of pages are written (`xn--…`); null where it is none. */
export function hostOfAddress(address: string | null): string | null {
  const host = address === null ? null : writtenHost(address);
  return host !== null && NOT_ASCII.test(host)
    ? URL.parse(`https://${host}`)?.hostname ?? host
    : host;
}

function writtenHost(address: string): string | null {
  const plain = ADDRESS.exec(address)?.[1] ?? "";
  const bracketed = plain === "" || plain[0] === "[" ? BRACKETED.exec(address)?.[1] ?? "" : "";
  return (bracketed.length > plain.length ? bracketed : plain).toLowerCase() || null;
}

const WWW_OR_ROOT = /^www\.|\.$/g;
const bare = (host: string | null): string | null => host?.replace(WWW_OR_ROOT, "") || null;

/** The host of a referrer without `www.`; null where there is none, or where it is the event's own. */
export function foreignHost(referrer: string, own: string | null): string | null {
  const host = bare(hostOfAddress(referrer));
  return host === bare(own) ? null : host;
}
