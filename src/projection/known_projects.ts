import type { Sql } from "../db/sql.ts";
import { RecentCache } from "../recent_cache.ts";
import { Dictionaries } from "./dictionaries.ts";
import { Identities } from "./identities.ts";
import { LocalDays } from "./local_days.ts";
import type { ProjectedProject } from "./projected_project.ts";
import { PROJECTS_KNOWN_MAX } from "./projection_limits.ts";
import { ValueNumbers } from "./value_numbers.ts";

/** What is remembered of a project: it can be read again. */
export interface KnownProject {
  readonly siteHost: string | null;
  /** As of which version of the links: others may change identities, and erase words. */
  linksVersion: number;
  readonly values: ValueNumbers;
  dictionaries: Dictionaries;
  identities: Identities;
  days: LocalDays;
}

/** Of a project as it stands now, what is known at first. */
export async function newlyKnown(
  tx: Sql,
  projectId: number,
  { site_host, timezone, links_version }: ProjectedProject,
): Promise<KnownProject> {
  const dictionaries = new Dictionaries(site_host);
  await dictionaries.open(tx, projectId);
  return {
    siteHost: site_host,
    linksVersion: links_version,
    values: new ValueNumbers(),
    dictionaries,
    identities: new Identities(),
    days: new LocalDays(timezone),
  };
}

/** The projects that were projected lately. */
export class KnownProjects {
  readonly #known = new RecentCache<number, KnownProject>(PROJECTS_KNOWN_MAX);

  /** What is known of a project, as it stands now. */
  async of(tx: Sql, projectId: number, project: ProjectedProject): Promise<KnownProject> {
    const { site_host, timezone, links_version } = project;
    let known = this.#known.get(projectId);
    if (known?.siteHost !== site_host || known.linksVersion !== links_version) {
      known = await newlyKnown(tx, projectId, project);
      this.#known.set(projectId, known);
    }
    if (known.days.timezone !== timezone) known.days = new LocalDays(timezone);
    if (known.dictionaries.isFull) {
      known.dictionaries = new Dictionaries(site_host);
      await known.dictionaries.open(tx, projectId);
    }
    if (known.identities.isFull) known.identities = new Identities();
    return known;
  }

  /** After numbers were given out that are not stored. */
  forget(projectId: number): void {
    this.#known.delete(projectId);
  }
}
