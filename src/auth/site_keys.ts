/**
 * Projects by the host of their site, for pages that name a domain in place of a key (Plausible's
 * `data-domain`).
 */
import { arrayLiteral, type Sql } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import { KEY_BELIEVED_MS_MAX, KEY_FRESH_MS, KEYS_CACHED_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import { RecentCache } from "../recent_cache.ts";
import { type ApiKey, apiKeyOf, type KeyDirectory, type KeysProjectRow } from "./keys.ts";
import { LookUps } from "./look_ups.ts";

/**
 * What a key begins with that names a site: behind it stands a key, or the host of a project's
 * `siteUrl`. A prefix, so that it works wherever a key may stand, and no other key is looked for
 * among the hosts.
 */
export const SITE_KEY_PREFIX = "site:";

interface SiteRow extends KeysProjectRow {
  host: string;
}

interface Site {
  readonly projects: readonly ApiKey[];
  /** When the query was sent: what it found is at least as young as that. */
  readonly askedAtMs: number;
}

/** What is remembered of a name: whose it is. */
interface KnownSite {
  readonly project: ApiKey;
  readonly askedAtMs: number;
  refreshing: boolean;
}

// www and apex are one site, as for referrers and as in Plausible, which cuts `www.` off both.
const LOOK_UP = `
  SELECT s.host, p.project_id, p.public_id, p.ip_storage, p.allowed_origins
  FROM projects p
  CROSS JOIN LATERAL (SELECT regexp_replace(
    lower(substring(p.site_url from '^[A-Za-z]+://(?:[^/?#@]*@)?([^/?#:]+)')), '^www\\.', ''
  ) AS host) s
  WHERE s.host = ANY ($1::text::text[])
  ORDER BY p.project_id`;

const HOST = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,9}$/;

/** A name with letters that no stored host has. */
const INTERNATIONAL = /^[a-z0-9.\u0080-\uffff-]*[\u0080-\uffff][a-z0-9.\u0080-\uffff-]*$/;

/** The host that a name stands for, as `LOOK_UP` finds it; null: it cannot be one. */
function hostOf(name: string): string | null {
  const written = name.trim().toLowerCase();
  const ascii = INTERNATIONAL.test(written) ? URL.parse(`https://${written}`)?.hostname : written;
  const host = ascii?.replace(/\.$/, "").replace(/^www\./, "") ?? "";
  return HOST.test(host) ? host : null;
}

/** The host of a site's address, as `LOOK_UP` finds it; null: it has none that pages could name. */
export function hostOfSite(siteUrl: string | null): string | null {
  return siteUrl === null ? null : hostOf(URL.parse(siteUrl)?.hostname ?? "");
}

/** Whether a name is the host of the site of another project than this one: its pages may send it as a key. */
export async function isSiteOfAnother(sql: Sql, name: string, projectId: number): Promise<boolean> {
  const host = hostOf(name);
  const rows = host === null ? [] : await sql.query<SiteRow>(LOOK_UP, [arrayLiteral([host])]);
  return rows.some(({ project_id }) => project_id !== projectId);
}

/** A project by its site takes what a public key of it takes, and its rate is one for all. */
function siteKey(row: SiteRow): ApiKey {
  return apiKeyOf(`${SITE_KEY_PREFIX}${row.public_id}`, "public", row);
}

/** What is there to look things up with. */
interface SiteTools {
  readonly now: () => number;
  readonly log: Log;
}

/** Sites by the names that pages give them. */
class Sites {
  readonly #keys: KeyDirectory;
  readonly #tools: SiteTools;
  readonly #lookUps: LookUps<Site>;
  #remembered = new RecentCache<string, KnownSite>(KEYS_CACHED_MAX);

  constructor(keys: KeyDirectory, sql: Sql, tools: SiteTools) {
    this.#keys = keys;
    this.#tools = tools;
    this.#lookUps = new LookUps<Site>(async (hosts) => {
      const askedAtMs = tools.now();
      const rows = await sql.query<SiteRow>(LOOK_UP, [arrayLiteral(hosts)]);
      return new Map(
        Array.from(
          Map.groupBy(rows, ({ host }) => host),
          ([host, own]) => [host, { projects: own.map(siteKey), askedAtMs }],
        ),
      );
    });
  }

  async authenticate(name: string): Promise<ApiKey> {
    const known = this.#remembered.get(name);
    const ageMs = known === undefined ? Infinity : this.#tools.now() - known.askedAtMs;
    if (known === undefined || ageMs < 0 || ageMs > KEY_BELIEVED_MS_MAX) {
      return await this.#lookUp(name, known !== undefined);
    }
    if (ageMs > KEY_FRESH_MS && !known.refreshing) this.#refresh(name, known);
    return known.project;
  }

  invalidate(): void {
    this.#remembered = new RecentCache(KEYS_CACHED_MAX);
  }

  /** A key comes before a host of the same text: it was made to be one. */
  async #lookUp(name: string, isKnown: boolean): Promise<ApiKey> {
    let key: ApiKey;
    try {
      key = await this.#keys.authenticate(name);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "invalid_api_key") throw error;
      return await this.#projectOf(name, isKnown, error);
    }
    this.#remembered.delete(name);
    if (key.kind === "public") return key;
    throw new Problem(
      "key_not_allowed_here",
      "Send a secret key as it is, and from servers alone.",
    );
  }

  /** The project of a name that is no key, as `unknown` says of it. */
  async #projectOf(name: string, isKnown: boolean, unknown: Problem): Promise<ApiKey> {
    // An `invalidate` meanwhile leaves this answer in the old cache, where nobody finds it.
    const cache = this.#remembered;
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
 * The directory, and beside keys the sites: a key `site:NAME` is whose the name is, that of the public
 * key that it is, or of the one project whose site has this host. Known hosts are believed as long as
 * known keys are; unknown ones are never remembered.
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
