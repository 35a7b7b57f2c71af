import type { Sql } from "../db/sql.ts";
import { Dictionaries } from "./dictionaries.ts";
import { Identities } from "./identities.ts";
import { LocalDays } from "./local_days.ts";
import type { ProjectedProject } from "./projected_project.ts";
import { KNOWN_ENTRIES_MAX } from "./projection_limits.ts";
import { ValueNumbers } from "./value_numbers.ts";

/** The cached state of a project; all of it can be read again. */
export interface KnownProject {
  /** The version of the links that was read; other transactions may change identities and erase words. */
  linksVersion: number;
  readonly values: ValueNumbers;
  dictionaries: Dictionaries;
  identities: Identities;
  days: LocalDays;
  /** When a recount that failed on an unreadable segment may be retried, by `performance.now()`. */
  recountAgainAtMs: number;
}

async function openDictionaries(tx: Sql, projectId: number, siteHost: string | null) {
  const dictionaries = new Dictionaries(siteHost);
  await dictionaries.open(tx, projectId);
  return dictionaries;
}

/** Starts the cache of a project. */
export async function openKnownProject(
  tx: Sql,
  projectId: number,
  { site_host, timezone, links_version }: ProjectedProject,
): Promise<KnownProject> {
  const values = new ValueNumbers();
  await values.open(tx, projectId);
  return {
    linksVersion: links_version,
    values,
    dictionaries: await openDictionaries(tx, projectId, site_host),
    identities: new Identities(),
    days: new LocalDays(timezone),
    recountAgainAtMs: -Infinity,
  };
}

/** Added to the entries of each project for its other caches, mainly its local days. */
const ENTRIES_MIN = 1_000;
/** This many projects stay cached whatever their size, since large ones take longest to read again. */
const PROJECTS_KNOWN_MIN = 8;

const entriesOf = ({ values, dictionaries, identities }: KnownProject): number =>
  ENTRIES_MIN + values.entries + dictionaries.entries + identities.entries;

/** The caches of the projects that were projected lately. */
export class KnownProjects {
  /** Ordered by last use, most recent last. */
  readonly #known = new Map<number, KnownProject>();

  constructor(readonly entriesMax = KNOWN_ENTRIES_MAX) {}

  /** Returns the cache of a project, renewed if it is stale or full. */
  async get(tx: Sql, projectId: number, project: ProjectedProject): Promise<KnownProject> {
    const { site_host, timezone, links_version } = project;
    let known = this.#known.get(projectId);
    if (known?.dictionaries.siteHost !== site_host || known.linksVersion !== links_version) {
      known = await openKnownProject(tx, projectId, project);
    }
    this.#use(projectId, known);
    if (known.days.timezone !== timezone) known.days = new LocalDays(timezone);
    if (known.dictionaries.isFull) {
      known.dictionaries = await openDictionaries(tx, projectId, site_host);
    }
    if (known.identities.isFull) known.identities = new Identities();
    return known;
  }

  /** Keeps a project, and as many of those used before it as fit. */
  #use(projectId: number, known: KnownProject): void {
    this.#known.delete(projectId);
    this.#known.set(projectId, known);
    const shareOf = (kept: KnownProject) =>
      Math.min(entriesOf(kept), this.entriesMax / PROJECTS_KNOWN_MIN);
    let entries = this.#known.values().reduce((sum, kept) => sum + shareOf(kept), 0);
    for (const [id, kept] of this.#known) {
      if (entries <= this.entriesMax) return;
      entries -= shareOf(kept);
      this.#known.delete(id);
    }
  }

  /** To be called after a rollback: the cache may hold numbers that were never stored. */
  evict(projectId: number): void {
    this.#known.delete(projectId);
  }
}
