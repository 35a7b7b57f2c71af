import type { Project } from "../../../src/auth/projects.ts";
import type { Database, Sql } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { readInterval } from "../../../src/query/buckets.ts";
import { readComparison } from "../../../src/query/comparison.ts";
import { readFilters } from "../../../src/query/filters.ts";
import { readRange } from "../../../src/query/range.ts";
import type { Read } from "../../../src/scans/read.ts";
import { type AskedRead } from "../../support/asked_read.ts";
import { newRow } from "../../support/event_rows.ts";
import { timelinesOf } from "../../support/read_timelines.ts";

export type Dice = () => number;

/** The same numbers in [0, 1) for the same seed. */
export function diceOf(seed: number): Dice {
  let state = seed * 2_654_435_761 >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pick<T>(dice: Dice, values: readonly T[]): T {
  return values[Math.floor(dice() * values.length)]!;
}

/** A Poisson number: how many exponential steps fit. */
export function poisson(dice: Dice, mean: number): number {
  const step = () => -Math.log(1 - dice());
  let count = 0;
  for (let at = step(); at <= mean; at += step()) count++;
  return count;
}

/** A read as the endpoint resolves it. */
export function readOf(
  sql: Sql,
  parameters: Record<string, string> | URLSearchParams,
  asOf: string,
  project: Partial<Project> = {},
): AskedRead {
  const query = new URLSearchParams(parameters);
  const asOfMs = Date.parse(asOf);
  const whose = { projectId: 1, id: "prj_one", timezone: "UTC", ...project } as Project;
  const range = readRange(query, whose.timezone, asOfMs);
  const bots = (query.get("bots") || "exclude") as Read["scope"]["bots"];
  return {
    sql,
    project: whose,
    scope: { projectId: whose.projectId, siteHost: null, bots, filters: readFilters(query) },
    range,
    interval: readInterval(query, range),
    comparison: readComparison(query, range, whose.timezone, asOfMs),
    query,
    limit: 100,
    visitorsMin: 1,
    asOfMs,
    timelines: timelinesOf(sql, whose.projectId),
  };
}

/** One visit: a few page views, some seconds apart. */
export function visit(
  dice: Dice,
  who: string,
  atMs: number,
  views: number,
  members: Partial<EventRow>,
): EventRow[] {
  return Array.from({ length: views }, (_, i) =>
    newRow({
      anonymous_id: who,
      name: "page_view",
      path: `/${Math.floor(dice() * 5)}`,
      device: "d",
      ...members,
      ...i > 0 ? { utm_source: null, utm_medium: null, utm_campaign: null } : {},
      occurred_at: new Date(atMs + i * 20_000).toISOString(),
    }));
}

const CHUNK = 5_000;

export async function store(database: Database, rows: readonly EventRow[]): Promise<void> {
  for (let i = 0; i < rows.length; i += CHUNK) {
    const sorted = rows.slice(i, i + CHUNK).sort((a, b) => a.event_id < b.event_id ? -1 : 1);
    await insertEvents(database, sorted);
  }
}
