import type { Project } from "../../../src/auth/projects.ts";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import type { Report } from "../../../src/reports/answer/report.ts";
import { readInterval } from "../../../src/query/buckets.ts";
import { readFilters } from "../../../src/query/filters.ts";
import { readRange } from "../../../src/query/range.ts";
import type { BotChoice } from "../../../src/query/selection.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import type { FunnelParams } from "../../reference/funnel.ts";
import type { World } from "../../reference/world.ts";
import { answerAsked, type AskedRead } from "../../support/asked_read.ts";
import { timelinesOf } from "../../support/read_timelines.ts";

/** Parameters as a URL holds them. */
export function queryOf(params: Readonly<Record<string, unknown>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    query.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return query;
}

// Ids of names that share a name bit in runs: 1 and 32; 2, 33 and 64.
const CROWDED_NAMES = `
  INSERT INTO terms (project_id, term_id, digest, term)
  SELECT $1::int, id, substr(encode(sha256(term::bytea), 'hex'), 1, 32)::uuid, term
  FROM (VALUES (32, 'view'), (33, 'cart'), (64, 'buy')) AS known (id, term)`;

/** A new project that holds these events, projected. @returns its number */
export async function storeWorld(
  database: Database,
  { project: { timezone, siteUrl }, events }: Pick<World, "project" | "events">,
): Promise<number> {
  const [project] = await database.query<{ project_id: number }>(
    `INSERT INTO projects (public_id, name, timezone, site_url)
    VALUES ('prj_' || md5(random()::text), 'World', $1::text, $2::text) RETURNING project_id`,
    [timezone, siteUrl],
  );
  const { project_id } = project!;
  await database.query(CROWDED_NAMES, [project_id]);
  const rows: EventRow[] = events.map((row) => ({ ...row, project_id }));
  rows.sort((a, b) => a.event_id < b.event_id ? -1 : 1);
  await insertEvents(database, rows);
  await createProjection(database).catchUp(project_id);
  return project_id;
}

/** Returns the answer of a report for a project, in a snapshot like those of the endpoint. */
export function answerOf(
  report: Report,
  database: Database,
  projectId: number,
  query: URLSearchParams,
  { asOfMs, project, slug }: Pick<World, "asOfMs" | "project"> & { readonly slug?: string },
): Promise<Readonly<Record<string, unknown>>> {
  const range = readRange(query, project.timezone, asOfMs);
  const siteHost = project.siteUrl === null ? null : new URL(project.siteUrl).hostname;
  const bots = (query.get("bots") ?? "exclude") as BotChoice;
  return database.transaction(async (sql) => {
    await sql.script("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    const read: AskedRead = {
      sql,
      project: { projectId, timezone: project.timezone } as Project,
      scope: { projectId, siteHost, bots, filters: readFilters(query) },
      range,
      interval: readInterval(query, range),
      comparison: null,
      query,
      ...slug === undefined ? {} : { params: { slug } },
      limit: 100,
      visitorsMin: 1,
      asOfMs,
      timelines: timelinesOf(sql, projectId),
    };
    return (await answerAsked(report, read)).result;
  });
}

/** A funnel of the reference's parameters. */
export function funnelQuery(params: FunnelParams): URLSearchParams {
  return queryOf({ ...params });
}
