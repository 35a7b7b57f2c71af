/**
 * Finds projects by the host of their site, for pages that send a domain instead of a key (Plausible's
 * `data-domain`).
 */
import { arrayLiteral, type Sql } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import { KEY_CACHED_MS_MAX, KEY_FRESH_MS, KEYS_CACHED_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import { RecentCache } from "../recent_cache.ts";
import { type ApiKey, apiKeyOf, type KeyDirectory, type KeysProjectRow } from "./keys.ts";
import { LookUps } from "./look_ups.ts";

/**
 * The prefix of a key that names a site: a key, or the host of a project's `siteUrl`, follows. With a prefix it
 * works wherever a key does, and other keys need not be looked up among the hosts.
 */
export const SITE_KEY_PREFIX = "site:";

interface SiteRow extends KeysProjectRow {
  site_host: string;
}

interface Site {
  readonly projects: readonly ApiKey[];
  /** When the query was sent: its result is no older than that. */
  readonly askedAtMs: number;
}

/** The project that a name belongs to. */
interface KnownSite {
  readonly project: ApiKey;
  readonly askedAtMs: number;
  refreshing: boolean;
}

/** The list is joined: `= ANY` would read it anew for each project. */
const LOOK_UP = `
  SELECT site_host, project_id, public_id, ip_storage, allowed_origins
  FROM projects JOIN (SELECT unnest($1::text::text[]) AS site_host) AS wanted USING (site_host)
  ORDER BY project_id`;

/** `www.` is dropped from names and sites, as for referrers and in Plausible. */
const withoutWww = (host: string) => host.replace(/^www\./, "");

/** Returns the projects of sites by their hosts without `www.`. */
async function sitesOf(sql: Sql, hosts: readonly string[]): Promise<Map<string, SiteRow[]>> {
  const spellings = hosts.flatMap((host) => [host, `www.${host}`]);
  const rows = await sql.query<SiteRow>(LOOK_UP, [arrayLiteral(spellings)]);
  return Map.groupBy(rows, ({ site_host }) => withoutWww(site_host));
}

const HOST = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,9}$/;

/** A name with letters beyond ASCII; hosts are stored in Punycode. */
const INTERNATIONAL = /^[a-z0-9.\u0080-\uffff-]*[\u0080-\uffff][a-z0-9.\u0080-\uffff-]*$/;

/** Returns the host that a name means, without `www.`; null: it is not a host. */
function hostOf(name: string): string | null {
  const written = name.trim().toLowerCase();
  const ascii = INTERNATIONAL.test(written) ? URL.parse(`https://${written}`)?.hostname : written;
  const host = withoutWww(ascii?.replace(/\.$/, "") ?? "");
  return HOST.test(host) ? host : null;
}

/** Returns the host of a site's URL, without `www.`; null: it has none that pages could send. */
export function hostOfSite(siteUrl: string | null): string | null {
  return siteUrl === null ? null : hostOf(URL.parse(siteUrl)?.hostname ?? "");
}

/** Whether a name is the host of another project's site, so that its pages may send it instead of a key. */
export async function isSiteOfAnother(sql: Sql, name: string, projectId: number): Promise<boolean> {
  const host = hostOf(name);
  const rows = host === null ? [] : (await sitesOf(sql, [host])).get(host) ?? [];
  return rows.some(({ project_id }) => project_id !== projectId);
}

/** The site's key: it may do what a public key may, and all names of the site share its rate limit. */
function siteKey(row: SiteRow): ApiKey {
  return apiKeyOf(`${SITE_KEY_PREFIX}${row.public_id}`, "public", row);
}

interface SiteTools {
  readonly now: () => number;
  readonly log: Log;
}

/** Looks up the sites that pages name. */
class Sites {
  readonly #keys: KeyDirectory;
  readonly #tools: SiteTools;
  readonly #lookUps: LookUps<Site>;
  #known = new RecentCache<string, KnownSite>(KEYS_CACHED_MAX);

  constructor(keys: KeyDirectory, sql: Sql, tools: SiteTools) {
    this.#keys = keys;
    this.#tools = tools;
    this.#lookUps = new LookUps<Site>(async (hosts) => {
      const askedAtMs = tools.now();
      const sites = await sitesOf(sql, hosts);
      return new Map(
        Array.from(sites, ([host, own]) => [host, { projects: own.map(siteKey), askedAtMs }]),
      );
    });
  }

  async authenticate(name: string): Promise<ApiKey> {
    const known = this.#known.get(name);
    const ageMs = known === undefined ? Infinity : this.#tools.now() - known.askedAtMs;
    if (known === undefined || ageMs < 0 || ageMs > KEY_CACHED_MS_MAX) {
      return await this.#lookUp(name, known !== undefined);
    }
    if (ageMs > KEY_FRESH_MS && !known.refreshing) this.#refresh(name, known);
    return known.project;
  }

  invalidate(): void {
    this.#known = new RecentCache(KEYS_CACHED_MAX);
  }

  /** Looks for a key first: a key that reads like a host was adopted on purpose. */
  async #lookUp(name: string, isKnown: boolean): Promise<ApiKey> {
    let key: ApiKey;
    try {
      key = await this.#keys.authenticate(name);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "invalid_api_key") throw error;
      return await this.#projectOf(name, isKnown, error);
    }
    this.#known.delete(name);
    if (key.kind === "public") return key;
    throw new Problem(
      "key_not_allowed_here",
      "Send a secret key without `site:`, and only from servers.",
    );
  }

  /** The project whose site a name is. Throws `unknown` if there is none. */
  async #projectOf(name: string, isKnown: boolean, unknown: Problem): Promise<ApiKey> {
    // After an `invalidate` meanwhile, the answer goes to the old cache, which nobody reads any more.
    const cache = this.#known;
    const host = hostOf(name);
    const site = host === null ? null : await this.#lookUps.ask(host, isKnown);
    const [project, another] = site?.projects ?? [];
    if (site !== null && project !== undefined && another === undefined) {
      cache.set(name, { project, askedAtMs: site.askedAtMs, refreshing: false });
      return project;
    }
    cache.delete(name);
    if (another === undefined) throw unknown;
    const several = "Several projects have this host in their siteUrl: send a key instead.";
    throw new Problem("invalid_api_key", several);
  }

  #refresh(name: string, known: KnownSite): void {
    known.refreshing = true;
    this.#lookUp(name, true).catch((error) => {
      known.refreshing = false;
      const { keyId } = known.project;
      this.#tools.log.debug("site not refreshed", { keyId, reason: String(error) });
    });
  }
}

/**
 * Adds sites to a key directory: `site:NAME` stands for the public key NAME, else for the one project whose site
 * has the host NAME. Known hosts are cached as long as known keys; unknown ones are not.
 */
export function withSiteKeys(keys: KeyDirectory, sql: Sql, tools: SiteTools): KeyDirectory {
  const sites = new Sites(keys, sql, tools);
  return {
    authenticate: (key) =>
      key.startsWith(SITE_KEY_PREFIX)
        ? sites.authenticate(key.slice(SITE_KEY_PREFIX.length))
        : keys.authenticate(key),
    invalidate() {
      keys.invalidate();
      sites.invalidate();
    },
  };
}
