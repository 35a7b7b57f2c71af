import hosts from "./data/source_hosts.json" with { type: "json" };
import names from "./data/source_names.json" with { type: "json" };
import sites from "./data/source_sites.json" with { type: "json" };
import { countryNeutral, labelStarts, withoutWww } from "./host.ts";

/** What a source is known as. `referral` excepts a part of a listed site: it is a site like any. */
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
 * The lists, in lower case and without `www.`. An ending `.*` stands for `.com` and every country's
 * own (`google.*` is google.com, google.de and google.co.uk).
 */
export const SOURCE_LISTS = {
  /** Domains with all that is below them. */
  sites: mapOf(sites),
  /** Hosts of which nothing below is meant (mail.yahoo.com is no search), and Android's packages. */
  hosts: mapOf(hosts),
  /** What campaign links call a source that is not a host. */
  names: mapOf(names),
} as const;

/**
 * What the source is known as: a host as a referrer gives it, or a name as `utm_source` does, in
 * lower case. Null for all that no list holds. The most exact entry counts: a name or a host before
 * a site, and of nested sites the innermost.
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
