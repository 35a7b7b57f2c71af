import type { Database } from "../db/sql.ts";
import {
  ANALYSE_EVENTS_MAX,
  ANALYSE_EVENTS_MIN,
  ANALYSE_LARGE_EVENTS,
  BATCH_SIZES_KNOWN_MAX,
} from "./projection_limits.ts";

/** Tables that the projection changes much; plans need to know their sizes. */
const PROJECTED_TABLES = [
  "sessions",
  "actors",
  "identities",
  "visitor_days",
  "acquisition_days",
  "terms",
  "contexts",
  "traffic",
  "segments",
  "journal",
];

/** How many identities the planner knows of: -1 where nobody ever told it; and how many there are, up to $1. */
const KNOWN = `
SELECT c.reltuples::int8 AS known, (SELECT count(*) FROM (SELECT 1 FROM identities LIMIT $1::int) AS met) AS present
FROM pg_class c WHERE c.oid = 'identities'::regclass`;

const SIZE = `
SELECT coalesce(sum(events), 0)::int8 AS events FROM day_totals WHERE project_id = $1::int`;

/** After how many more events the planner is told of what held so many. */
function growthOf(events: number): number {
  const growth = events < ANALYSE_LARGE_EVENTS ? 4 * events : events;
  return Math.min(Math.max(growth, ANALYSE_EVENTS_MIN), ANALYSE_EVENTS_MAX);
}

/** How many events were projected of a project, and how many of them the planner was told of. */
interface ProjectGrowth {
  events: number;
  told: number;
}

/**
 * Tells the planner what the tables hold, whenever they, or what they hold of one project, have grown
 * much: PostgreSQL would do so by itself a minute later, and of the tables alone: beside ten million
 * events a new project of a million is no growth. The embedded engine never does.
 */
export class TableStatistics {
  readonly #database: Database;
  #since = 0;
  /** After how many events the planner is told next; null: it is not known what it knows. */
  #dueAfter: number | null = null;
  readonly #projects = new Map<number, ProjectGrowth>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** So many events of a project were projected since this was called last. */
  async note(projectId: number, events: number): Promise<void> {
    this.#since += events;
    const project = await this.#growthOf(projectId, events);
    project.events += events;
    await this.#tellIfDue(project.events - project.told >= growthOf(project.told));
  }

  /** Tells what nobody told the planner before this process began. */
  async start(): Promise<void> {
    await this.#tellIfDue(false);
  }

  async #tellIfDue(isProjectDue: boolean): Promise<void> {
    this.#dueAfter ??= await this.#firstDue();
    const isDue = this.#since >= this.#dueAfter;
    if (!isDue && !isProjectDue) return;
    for (const project of this.#projects.values()) project.told = project.events;
    await this.#tell(isDue);
    if (!isDue) return;
    this.#since = 0;
    this.#dueAfter = Math.max(await this.#firstDue(), ANALYSE_EVENTS_MIN);
  }

  /** What is not known yet is taken for told, but for these events: what grew before was noted then. */
  async #growthOf(projectId: number, events: number): Promise<ProjectGrowth> {
    const known = this.#projects.get(projectId);
    if (known !== undefined) return known;
    const [row] = await this.#database.query<{ events: number }>(SIZE, [projectId]);
    const before = Math.max(0, row!.events - events);
    const project = { events: before, told: before };
    if (this.#projects.size >= BATCH_SIZES_KNOWN_MAX) {
      this.#projects.delete(this.#projects.keys().next().value!);
    }
    this.#projects.set(projectId, project);
    return project;
  }

  async #firstDue(): Promise<number> {
    const [row] = await this.#database.query<{ known: number; present: number }>(
      KNOWN,
      [ANALYSE_EVENTS_MIN],
    );
    const { known, present } = row!;
    if (known < 0 && present >= ANALYSE_EVENTS_MIN) return 0;
    // A few people may do a lot. By their number alone the planner was told every 50 events of one
    // person's million, which was two thirds of the database's work.
    const told = this.#projects.values().reduce((sum, project) => sum + project.told, 0);
    return growthOf(Math.max(known, told));
  }

  /** What updates leave behind, the embedded engine does not clear away by itself either. */
  async #tell(vacuums: boolean): Promise<void> {
    const verb = vacuums && this.#database.engine === "embedded" ? "VACUUM (ANALYZE)" : "ANALYZE";
    for (const table of PROJECTED_TABLES) await this.#database.query(`${verb} ${table}`);
  }
}
