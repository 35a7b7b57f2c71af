import type { Database } from "../db/sql.ts";
import {
  ANALYSE_EVENTS_MAX,
  ANALYSE_EVENTS_MIN,
  ANALYSE_LARGE_EVENTS,
  BATCH_SIZES_KNOWN_MAX,
} from "./projection_limits.ts";

/** Tables that the projection changes a lot, whose sizes the planner must know. */
const PROJECTED_TABLES = [
  "sessions",
  "actors",
  "identities",
  "visitor_days",
  "acquisition_days",
  "terms",
  "referrers",
  "contexts",
  "traffic",
  "segments",
  "journal",
];

/** How many identities the planner assumes (-1: never analyzed), and how many there are, up to $1. */
const KNOWN = `
SELECT c.reltuples::int8 AS known, (SELECT count(*) FROM (SELECT 1 FROM identities LIMIT $1::int) AS met) AS present
FROM pg_class c WHERE c.oid = 'identities'::regclass`;

const SIZE = `
SELECT coalesce(sum(events), 0)::int8 AS events FROM day_totals WHERE project_id = $1::int`;

/** Returns after how many more events ANALYZE is due, given the number at the last one. */
function growthOf(events: number): number {
  const growth = events < ANALYSE_LARGE_EVENTS ? 4 * events : events;
  return Math.min(Math.max(growth, ANALYSE_EVENTS_MIN), ANALYSE_EVENTS_MAX);
}

/** A project's projected events, now and at the last ANALYZE. */
interface ProjectGrowth {
  events: number;
  analyzed: number;
}

/**
 * Runs ANALYZE whenever the tables, or one project's share of them, have grown much. PostgreSQL's autovacuum
 * does so up to a minute later, and only by the growth of whole tables: a new project of a million events
 * beside ten million does not trigger it. The embedded engine has none.
 */
export class TableStatistics {
  /** Events since the last ANALYZE that was due by the tables' growth. */
  #since = 0;
  /** After how many events the next one is due; null: not determined yet. */
  #dueAfter: number | null = null;
  readonly #projects = new Map<number, ProjectGrowth>();

  constructor(private readonly database: Database) {}

  /** To be called after `events` more events of a project were projected. */
  async note(projectId: number, events: number): Promise<void> {
    this.#since += events;
    const project = await this.#growthOf(projectId, events);
    project.events += events;
    await this.#analyzeIfDue(project.events - project.analyzed >= growthOf(project.analyzed));
  }

  /** Catches up on an ANALYZE that an earlier process did not run. */
  async start(): Promise<void> {
    await this.#analyzeIfDue(false);
  }

  async #analyzeIfDue(isProjectDue: boolean): Promise<void> {
    this.#dueAfter ??= await this.#firstDue();
    const isDue = this.#since >= this.#dueAfter;
    if (!isDue && !isProjectDue) return;
    for (const project of this.#projects.values()) project.analyzed = project.events;
    // Autovacuum, which the embedded engine lacks, would remove dead rows.
    const vacuums = isDue && this.database.engine === "embedded";
    const verb = vacuums ? "VACUUM (ANALYZE)" : "ANALYZE";
    for (const table of PROJECTED_TABLES) await this.database.query(`${verb} ${table}`);
    if (!isDue) return;
    this.#since = 0;
    this.#dueAfter = Math.max(await this.#firstDue(), ANALYSE_EVENTS_MIN);
  }

  /** Returns the growth of a project. One not seen before counts as analyzed, without these new events. */
  async #growthOf(projectId: number, events: number): Promise<ProjectGrowth> {
    const known = this.#projects.get(projectId);
    if (known !== undefined) return known;
    const [row] = await this.database.query<{ events: number }>(SIZE, [projectId]);
    const before = Math.max(0, row!.events - events);
    const project = { events: before, analyzed: before };
    if (this.#projects.size >= BATCH_SIZES_KNOWN_MAX) {
      this.#projects.delete(this.#projects.keys().next().value!);
    }
    this.#projects.set(projectId, project);
    return project;
  }

  async #firstDue(): Promise<number> {
    const [row] = await this.database.query<{ known: number; present: number }>(
      KNOWN,
      [ANALYSE_EVENTS_MIN],
    );
    const { known, present } = row!;
    if (known < 0 && present >= ANALYSE_EVENTS_MIN) return 0;
    // Events count as well as identities: by identities alone, one person's million events ran ANALYZE every
    // 50 events, two thirds of the database's work.
    const analyzed = this.#projects.values().reduce((sum, project) => sum + project.analyzed, 0);
    return growthOf(Math.max(known, analyzed));
  }
}
