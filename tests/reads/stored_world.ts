import assert from "node:assert/strict";
import { createProject, patchProject, type Project } from "../../src/auth/projects.ts";
import type { Database } from "../../src/db/sql.ts";
import type { ImportedDimension } from "../../src/imported/imported_sums.ts";
import { storeImportedDays } from "../../src/imported/imported_store.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { ACQUISITION } from "../../src/reports/acquisition/acquisition.ts";
import { getEvents } from "../../src/reports/events/events_endpoint.ts";
import { ExportSeats } from "../../src/reports/events/export_seats.ts";
import { FUNNELS, SAVED_FUNNEL } from "../../src/reports/funnels/funnels.ts";
import { GOALS } from "../../src/reports/goals/goals.ts";
import { HEATMAP_PATHS } from "../../src/reports/heatmaps/heatmap_paths.ts";
import { createHeatmaps } from "../../src/reports/heatmaps/heatmaps.ts";
import { createInsights } from "../../src/reports/insights/insights.ts";
import { JOURNEYS } from "../../src/reports/journeys/journeys.ts";
import { KPIS } from "../../src/reports/kpis/kpis.ts";
import { LIVE } from "../../src/reports/live/live.ts";
import { getOverview } from "../../src/reports/overview/overview.ts";
import { PAGES } from "../../src/reports/pages/pages.ts";
import { PERSON_TIMELINE } from "../../src/reports/visits/person_timeline.ts";
import type { Report } from "../../src/reports/answer/report.ts";
import { getReport, type ReportServices } from "../../src/reports/answer/report_endpoint.ts";
import { RETENTION } from "../../src/reports/retention/retention.ts";
import { TRENDS } from "../../src/reports/trends/trends.ts";
import { VISIT } from "../../src/reports/visits/visit.ts";
import { PEOPLE, VISITS } from "../../src/server/listed_reports.ts";
import { VITALS } from "../../src/reports/vitals/vitals.ts";
import { putFunnel } from "../../src/reports/funnels/saved_funnels.ts";
import { putGoal } from "../../src/reports/goals/saved_goals.ts";
import { putSegment } from "../../src/reports/segments/saved_segments.ts";
import type { ScanPool } from "../../src/scans/scan_pool.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { mergeOnce } from "../../src/projection/merging.ts";
import { createProjection, type Projection } from "../../src/projection/projection.ts";
import type { ReadParams } from "../reference/filters.ts";
import type { FunnelParams } from "../reference/funnel.ts";
import type { GoalDefinition } from "../reference/goals.ts";
import type { ParamsOf, ReadName } from "../reference/reads.ts";
import type { World } from "../reference/world.ts";
import type { TestDatabase } from "../support/databases.ts";
import { IN_PLACE } from "../support/in_place.ts";

export const REPORTS: { readonly [R in ReadName]: Report } = {
  kpis: KPIS,
  acquisition: ACQUISITION,
  pages: PAGES,
  funnels: FUNNELS,
  retention: RETENTION,
  goals: GOALS,
  trends: TRENDS,
  journeys: JOURNEYS,
  insights: createInsights({ basePath: "" }),
  visits: VISITS,
  actors: PEOPLE,
  heatmaps: createHeatmaps({ basePath: "", nextRunMs: () => null }),
  "heatmaps/paths": HEATMAP_PATHS,
  vitals: VITALS,
  live: LIVE,
};

/** However slow the machine is, and its workers are to start. */
const READ_MS_MAX = 600_000;

/** Parameters as a URL carries them: structured ones as JSON. */
export function queryOf(params: Readonly<Record<string, unknown>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    query.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return query;
}

export type Answer = Record<string, unknown>;

/** Which rows are listed. */
interface Page {
  readonly limit?: number;
  readonly cursor?: string;
}

/** A database that histories are stored in, each in a project of its own, and asked about. */
export class Store {
  readonly #database: Database;
  readonly #projection: Projection;
  // Too small for all: what is asked for again is partly here and partly not.
  readonly #segments = new SegmentCache(20_000);
  readonly #pool: ScanPool;

  private constructor(database: Database, pool: ScanPool) {
    this.#database = database;
    this.#pool = pool;
    this.#projection = createProjection(database);
  }

  /** `pool`: who follows actors. */
  static async open(db: TestDatabase, pool = IN_PLACE): Promise<Store> {
    const database = await db.open();
    return new Store(database, pool);
  }

  /** The same, asked with other workers. */
  with(pool: ScanPool): Store {
    return new Store(this.#database, pool);
  }

  get database(): Database {
    return this.#database;
  }

  get engine(): Database["engine"] {
    return this.#database.engine;
  }

  async newProject({ timezone, siteUrl }: World["project"]): Promise<Project> {
    return await createProject(this.#database, {
      name: "Test",
      siteUrl,
      timezone,
      allowedOrigins: [],
      ipStorage: null,
      retentionDays: null,
    });
  }

  async change({ id }: Project, settings: World["project"]): Promise<Project> {
    return await patchProject(this.#database, id, settings, true);
  }

  /** Stores rows as the writer does: in one statement, sorted by key. */
  async insert({ projectId }: Project, rows: readonly EventRow[]): Promise<void> {
    const own = rows.map((row) => ({ ...row, project_id: projectId }));
    await insertEvents(this.#database, own.sort((a, b) => a.event_id < b.event_id ? -1 : 1));
  }

  async projectPending({ projectId }: Project): Promise<void> {
    await this.#projection.catchUp(projectId);
    while (await mergeOnce(this.#database, projectId));
  }

  async saveGoals(project: Project, goals: readonly GoalDefinition[]): Promise<void> {
    for (const { slug, ...body } of goals) {
      await putGoal({ sql: this.#database }, project, putting(slug, body));
    }
  }

  /** Saves the segments of a world; goals that they ask for are saved before. */
  async saveSegments(project: Project, { segments = [] }: World): Promise<void> {
    for (const { slug, ...body } of segments) {
      await putSegment({ sql: this.#database }, project, putting(slug, body));
    }
  }

  /** Stores the daily sums of other products that a world has. */
  async importDays({ projectId }: Project, { imported = [] }: World): Promise<void> {
    for (const [source, days] of Map.groupBy(imported, ({ source }) => source)) {
      const sent = days.map((day) => ({
        ...day,
        dimension: day.dimension as ImportedDimension,
        rows: [...day.rows],
      }));
      await storeImportedDays(this.#database, projectId, source, sent);
    }
  }

  /** A project with all of a world in it. */
  async projectOf(world: World, goals: readonly GoalDefinition[] = []): Promise<Project> {
    const project = await this.newProject(world.project);
    if (world.events.length > 0) await this.insert(project, world.events);
    await this.importDays(project, world);
    await this.saveGoals(project, goals);
    await this.saveSegments(project, world);
    return project;
  }

  /** The reply's body to a read at some moment, which must succeed. */
  async ask<R extends ReadName>(
    project: Project,
    asOfMs: number,
    read: R,
    params: ParamsOf[R] & Page,
  ): Promise<Answer> {
    return await this.#ask(project, asOfMs, REPORTS[read], { ...params });
  }

  /** The same of a funnel that is saved before. */
  async askSaved(project: Project, asOfMs: number, params: FunnelParams): Promise<Answer> {
    const { steps, window, order, entry, exclude, by, ...shared } = params;
    const body = { title: "Saved", steps, window, order, entry, exclude, by };
    await putFunnel({ sql: this.#database }, project, putting("saved", body));
    return await this.#ask(project, asOfMs, SAVED_FUNNEL, shared, { slug: "saved" });
  }

  /** The reply's body to the list of some projects at some moment. */
  async overview(
    projects: readonly Project[],
    asOfMs: number,
    params: Readonly<Record<string, unknown>>,
  ): Promise<Answer> {
    const { request } = exchangeOf("overview", params);
    const services = this.#services(asOfMs);
    const named = (one: string | null) =>
      Promise.resolve(projects.filter(({ id }) => one === null || id === one));
    const response = await getOverview(services, request, named);
    assert.equal(response.status, 200);
    return await response.json();
  }

  /** The events of a visit's story or of a person's timeline, of all pages in order. */
  async story(
    project: Project,
    asOfMs: number,
    of: "visit" | "person",
    id: string,
    params: ReadParams & Page,
  ): Promise<Answer[]> {
    const report = of === "visit" ? VISIT : PERSON_TIMELINE;
    const events: Answer[] = [];
    let cursor: unknown = null;
    do {
      const page = cursor === null ? {} : { cursor };
      const answer = await this.#ask(project, asOfMs, report, { ...params, ...page }, { id });
      events.push(...answer.events as Answer[]);
      cursor = answer.nextCursor;
    } while (cursor !== null);
    return events;
  }

  /** The ids of the events that `GET /v1/events` tells, of all pages in order. */
  async eventIds(project: Project, asOfMs: number, params: ReadParams & Page): Promise<string[]> {
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page = cursor === null ? {} : { cursor };
      const exchange = exchangeOf("events", { ...params, ...page });
      const exports = new ExportSeats();
      const response = await getEvents({ ...this.#services(asOfMs), project, exports }, exchange);
      const { events, nextCursor } = await response.json();
      ids.push(...events.map(({ eventId }: { eventId: string }) => eventId));
      cursor = nextCursor;
    } while (cursor !== null);
    return ids;
  }

  #services(asOfMs: number): ReportServices {
    return {
      reads: this.#database,
      // However long it takes on a slow machine: what is asked for here is exact.
      projection: {
        catchUp: (projectId) => this.#projection.catchUp(projectId),
        catchUpWithin: (projectId) => this.#projection.catchUp(projectId),
      },
      segments: this.#segments,
      pool: this.#pool,
      readTimeoutMs: READ_MS_MAX,
      now: () => asOfMs,
    };
  }

  async #ask(
    project: Project,
    asOfMs: number,
    report: Report,
    given: Readonly<Record<string, unknown>>,
    params: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const asked = { ...exchangeOf(report.path.slice("/v1/".length), given), project, params };
    const response = await getReport(this.#services(asOfMs), report, asked);
    assert.equal(response.status, 200);
    return await response.json();
  }
}

function exchangeOf(path: string, params: Readonly<Record<string, unknown>>) {
  const url = new URL(`http://footfall.test/v1/${path}?${queryOf(params)}`);
  const request = new Request(url);
  return { request, url, params: {}, who: null, requestId: "test", peer: null };
}

function putting(slug: string, body: unknown) {
  const request = new Request(`http://footfall.test/${slug}`, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return { request, params: { slug } };
}
