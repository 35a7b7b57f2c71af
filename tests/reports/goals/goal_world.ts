import assert from "node:assert/strict";
import type { Project } from "../../../src/auth/projects.ts";
import type { Database } from "../../../src/db/sql.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { GOALS } from "../../../src/reports/goals/goals.ts";
import { deleteGoal, putGoal } from "../../../src/reports/goals/saved_goals.ts";
import { readInterval } from "../../../src/query/buckets.ts";
import { readRange } from "../../../src/query/range.ts";
import type { Scope } from "../../../src/query/selection.ts";
import { answerAsked } from "../../support/asked_read.ts";
import { newRow } from "../../support/event_rows.ts";
import { timelinesOf } from "../../support/read_timelines.ts";

/** What `who` did at a time of March 2026, such as `02 10:00`; `revenue` as JSON text. */
export function event(
  who: string,
  at: string,
  name: string,
  revenue: string | null = null,
  members: Partial<EventRow> = {},
): EventRow {
  const occurred_at = new Date(`2026-03-${at.replace(" ", "T")}Z`).toISOString();
  const properties = revenue === null ? null : `{"revenue":${revenue}}`;
  return newRow({ name, user_id: who, occurred_at, properties, ...members });
}

export type Body = Record<string, unknown>;
export const PURCHASE = { title: "Purchase", match: { name: "purchase" } };
export const ofRevenue = { property: "revenue", currency: "EUR" };

/** A request for a goal, and the parameters of its path. */
function asked(slug: string, body?: unknown) {
  const headers = { "Content-Type": "application/json" };
  const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
  const request = new Request(`http://footfall/v1/goals/${slug}`, { method: "PUT", ...sent });
  return { request, params: { slug } };
}

export const put = (sql: Database, slug: string, body: unknown, projectId = 1) =>
  putGoal({ sql }, { projectId }, asked(slug, body));
export const remove = (sql: Database, slug: string, projectId = 1) =>
  deleteGoal({ sql }, { projectId }, asked(slug));

/** The goals of project 1 by their slugs, over 2 and 3 March unless the parameters say otherwise. */
export async function ask(
  database: Database,
  params: Record<string, string> = {},
  scope: Partial<Scope> = {},
  // Tests look into replies of every shape.
  // deno-lint-ignore no-explicit-any
): Promise<any> {
  const query = new URLSearchParams({
    from: "2026-03-02",
    to: "2026-03-03",
    interval: "day",
    ...params,
  });
  const asOfMs = Date.parse("2026-03-03T18:00:00Z");
  const range = readRange(query, "UTC", asOfMs);
  const { result } = await answerAsked(GOALS, {
    sql: database,
    project: { projectId: 1, timezone: "UTC" } as Project,
    scope: { projectId: 1, siteHost: null, bots: "exclude", filters: [], ...scope },
    range,
    interval: readInterval(query, range),
    comparison: null,
    query,
    limit: 100,
    visitorsMin: 1,
    asOfMs,
    timelines: timelinesOf(database),
  });
  assert.deepEqual(Object.keys(result), ["goals"], "nothing is compared");
  GOALS.reply.goals!.parse(result.goals);
  return Object.fromEntries((result.goals as { slug: string }[]).map((goal) => [goal.slug, goal]));
}
