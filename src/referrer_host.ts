/** Hosts of referrers, in SQL: the fold and the reads must tell them alike. */

/** The host of an address, in lower case; null where it is none. */
export function hostOfAddress(address: string): string {
  const host = String
    .raw`'^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(\[[0-9A-Fa-f:.]+\]|[^/?#:@\\]+)'`;
  return `lower(substring(${address} from ${host}))`;
}

/** A host as withoutWww makes it: without a leading `www.` and the root's dot. */
export function bareHost(host: string): string {
  return `nullif(regexp_replace(${host}, '^www\\.|\\.$', '', 'g'), '')`;
}

/**
 * The host of a referrer without `www.`; null where there is none, or where it is one of these own
 * hosts: the event's, or the site's.
 */
export function foreignHost(referrer: string, ...own: readonly string[]): string {
  const bare = bareHost(hostOfAddress(referrer));
  return `(CASE WHEN ${bare} IN (${own.map(bareHost).join(", ")}) THEN NULL ELSE ${bare} END)`;
}
