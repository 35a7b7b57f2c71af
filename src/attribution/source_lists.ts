import hosts from "./data/source_hosts.json" with { type: "json" };
import names from "./data/source_names.json" with { type: "json" };
import sites from "./data/source_sites.json" with { type: "json" };
import { countryNeutral, labelStarts, withoutWww } from "./host.ts";

/** The kinds of known sources. `referral` marks a part of a listed site that is not of that site's kind. */
export const SOURCE_KINDS = [
  "search",
  "social",
  "shopping",
  "video",
  "ai",
  "email",
  "referral",
] as const;
export type SourceKind = typeof SOURCE_KINDS[number];

const mapOf = (list: unknown): ReadonlyMap<string, SourceKind> =>
  new Map(Object.entries(list as Record<string, SourceKind>));

/**
 * The kinds of sources, which are in lower case and without `www.`. An ending `.*` stands for `.com` and every
 * country's ending (`google.*` is google.com, google.de and google.co.uk).
 */
export const SOURCE_LISTS = {
  /** Domains with all of their subdomains. */
  sites: mapOf(sites),
  /** Hosts without their subdomains (mail.yahoo.com is not a search engine), and packages of Android apps. */
  hosts: mapOf(hosts),
  /** Names of sources in campaign links that are not hosts. */
  names: mapOf(names),
} as const;

/**
 * Returns the kind of a source in lower case, which is the host of a referrer or a name in `utm_source`; null: it
 * is in no list. The most specific entry counts: a name or a host before a site, and the innermost of nested
 * sites.
 */
export function kindOfSource(source: string): SourceKind | null {
  const host = withoutWww(source);
  if (host === null) return null;
  const neutral = countryNeutral(host) ?? host;
  const exact = SOURCE_LISTS.names.get(host) ?? SOURCE_LISTS.hosts.get(host) ??
    SOURCE_LISTS.hosts.get(neutral);
  if (exact !== undefined) return exact;
  for (const start of labelStarts(host)) {
    const kind = SOURCE_LISTS.sites.get(host.slice(start)) ??
      SOURCE_LISTS.sites.get(neutral.slice(start));
    if (kind !== undefined) return kind;
  }
  return null;
}
