import assert from "node:assert/strict";
import type { Project } from "../../../src/auth/projects.ts";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { TRENDS } from "../../../src/reports/trends/trends.ts";
import { readInterval } from "../../../src/query/buckets.ts";
import { readFilters } from "../../../src/query/filters.ts";
import { readRange } from "../../../src/query/range.ts";
import type { Scope } from "../../../src/query/selection.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import type { Read } from "../../../src/scans/read.ts";
import { differenceOf } from "../../reads/answers.ts";
import { readTrends, type TrendsParams } from "../../reference/trends.ts";
import type { World } from "../../reference/world.ts";
import { answerAsked, type AskedRead } from "../../support/asked_read.ts";
import type { TestDatabase } from "../../support/databases.ts";
import { newRow, openWithProjects } from "../../support/event_rows.ts";
import { timelinesOf } from "../../support/read_timelines.ts";

const PROJECT = { projectId: 1, id: "prj_one", timezone: "UTC" } as Project;
const AS_OF = "2026-03-04T12:00:00Z";

/** A read as the endpoint resolves it. */
function readOf(
  sql: Database,
  parameters: Record<string, string>,
  timelines: Read["timelines"],
  scope: Partial<Scope> = {},
): AskedRead {
  const query = new URLSearchParams({ from: "2026-03-02", to: "2026-03-04", ...parameters });
  const asOfMs = Date.parse(AS_OF);
  const range = readRange(query, PROJECT.timezone, asOfMs);
  return {
    sql,
    project: PROJECT,
    scope: { projectId: 1, siteHost: null, bots: "exclude", filters: readFilters(query), ...scope },
    range,
    interval: readInterval(query, range),
    comparison: null,
    query,
    limit: 100,
    visitorsMin: 1,
    asOfMs,
    timelines,
  };
}

/** What `who` did at a time of March 2026, such as `02 10:00`. */
export function event(
  who: string,
  at: string,
  name: string,
  properties: Record<string, unknown> | null = null,
  members: Partial<EventRow> = {},
): EventRow {
  const occurred_at = new Date(`2026-03-${at.replace(" ", "T")}Z`).toISOString();
  return newRow({
    anonymous_id: who,
    occurred_at,
    name,
    properties: properties === null ? null : JSON.stringify(properties),
    ...members,
  });
}

/** A line of a reply. */
export interface Line {
  readonly event: string | null;
  readonly value: string | null;
  readonly points: readonly { readonly value: number | null }[];
}

export const valuesOf = (points: Line["points"]) => points.map(({ value }) => value);
export const linesOf = (lines: readonly Line[]) =>
  lines.map(({ event, value, points }) => [event, value, valuesOf(points)]);

/** Asks for trends, from 2 to 4 March unless the parameters say otherwise. */
export type Asking = (
  parameters: Record<string, string>,
  scope?: Partial<Scope>,
  // Tests look into replies of every shape.
  // deno-lint-ignore no-explicit-any
) => Promise<any>;

/** What the reference reads of parameters as a URL holds them. */
export function expectedOf(
  events: readonly EventRow[],
  asOfMs: number,
  parameters: Readonly<Record<string, unknown>>,
): readonly unknown[] {
  // The reference knows any event by a name that is not given.
  const named = (name: string, value: unknown) =>
    name === "name" && value === null ? undefined : value;
  const params = Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => {
      const isText = typeof value === "string";
      if (isText && !/^[[{][[{"\]]/.test(value)) return [name, value];
      return [name, JSON.parse(isText ? value : JSON.stringify(value), named)];
    }),
  );
  const own = events.filter(({ project_id }) => project_id === 1);
  const world: World = { project: { timezone: "UTC", siteUrl: null }, events: own, asOfMs };
  return readTrends(world, params as TrendsParams).series;
}

/** A database with these events, projected. Every answer must be that of the reference. */
export async function openTrends(db: TestDatabase, events: readonly EventRow[]): Promise<Asking> {
  const database = await openWithProjects(db);
  await insertEvents(database, events.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
  await createProjection(database).catchUp(1);
  const timelines = timelinesOf(database);
  return async (parameters, scope) => {
    const read = readOf(database, parameters, timelines, scope);
    const { result, query } = await answerAsked(TRENDS, read);
    TRENDS.reply.series!.parse(result.series);
    const asked = { from: "2026-03-02", to: "2026-03-04", ...parameters, ...scope };
    const expected = expectedOf(events, Date.parse(AS_OF), asked);
    assert.equal(differenceOf(result.series, expected), null, JSON.stringify(asked));
    return { ...query, series: result.series };
  };
}
