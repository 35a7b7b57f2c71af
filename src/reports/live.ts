import { z } from "zod";
import { LIVE_PAGES_MAX } from "../limits.ts";
import { factConditions, type Scope } from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import { PAGE_VIEW } from "../selection/terms.ts";
import type { Read } from "../walks/read.ts";
import type { Answer, Report } from "./report.ts";

const MINUTE_MS = 60_000;
const LONG_MINUTES = 30;
const SHORT_MINUTES = 5;

/** From so long ago up to now, both ends included. */
function lastMinutes(minutes: number, asOfMs: number) {
  return { fromMs: asOfMs - minutes * MINUTE_MS, toMs: asOfMs + 1 };
}

async function visitorsOf({ sql, scope, asOfMs }: Read) {
  const params = new SqlParams();
  const conditions = factConditions(params, scope, lastMinutes(LONG_MINUTES, asOfMs));
  const recent = params.ms(lastMinutes(SHORT_MINUTES, asOfMs).fromMs);
  const [row] = await sql.query<{ short: number; long: number }>(
    `SELECT count(DISTINCT f.actor_id) FILTER (WHERE f.tick >= ${recent} << 16)::int AS short,
      count(DISTINCT f.actor_id)::int AS long
    FROM facts f WHERE ${conditions}`,
    params.values,
  );
  return { last5Minutes: row!.short, last30Minutes: row!.long };
}

async function pagesOf({ sql, scope, asOfMs }: Read) {
  const params = new SqlParams();
  const conditions = factConditions(params, scope, lastMinutes(SHORT_MINUTES, asOfMs));
  return await sql.query<{ path: string; visitors: number }>(
    `SELECT t.term AS path, count(DISTINCT f.actor_id)::int AS visitors
    FROM facts f JOIN terms t ON t.project_id = f.project_id AND t.term_id = f.path_id
    WHERE ${conditions}
    GROUP BY t.term ORDER BY visitors DESC, t.term COLLATE "C" LIMIT ${params.int(LIVE_PAGES_MAX)}`,
    params.values,
  );
}

/** Page views of each minute of the clock, the running one last. */
async function seriesOf({ sql, scope, asOfMs, range: { timezone } }: Read) {
  const runningMs = Math.floor(asOfMs / MINUTE_MS) * MINUTE_MS;
  const firstMs = runningMs - (LONG_MINUTES - 1) * MINUTE_MS;
  const viewsAt = await viewsByMinute(sql, scope, { fromMs: firstMs, toMs: asOfMs + 1 });
  return Array.from({ length: LONG_MINUTES }, (_, i) => {
    const startMs = firstMs + i * MINUTE_MS;
    const local = Temporal.Instant.fromEpochMilliseconds(startMs).toZonedDateTimeISO(timezone);
    return {
      start: new Date(startMs).toISOString(),
      label: local.toPlainDateTime().toString({ smallestUnit: "minute" }).replace("T", " "),
      complete: startMs + MINUTE_MS <= asOfMs,
      pageviews: viewsAt.get(startMs / MINUTE_MS) ?? 0,
    };
  });
}

async function viewsByMinute(
  sql: Read["sql"],
  scope: Scope,
  span: { readonly fromMs: number; readonly toMs: number },
): Promise<Map<number, number>> {
  const params = new SqlParams();
  // The name is no condition: an index by name and path would be read for all of time.
  const rows = await sql.query<{ minute: number; views: number }>(
    `SELECT (f.tick >> 16) / ${MINUTE_MS} AS minute,
      count(*) FILTER (WHERE f.name_id = ${PAGE_VIEW})::int AS views
    FROM facts f WHERE ${factConditions(params, scope, span)}
    GROUP BY minute`,
    params.values,
  );
  return new Map(rows.map(({ minute, views }) => [minute, views]));
}

async function answer(read: Read): Promise<Answer> {
  return {
    query: { from: null, to: null, interval: null, compare: "none", limit: null, cursor: null },
    result: {
      visitors: await visitorsOf(read),
      pages: await pagesOf(read),
      series: await seriesOf(read),
    },
  };
}

/** `GET /v1/live`: who is there now. */
export const LIVE: Report = {
  path: "/v1/live",
  summary: "Who is there now; with `Accept: text/event-stream`, updates as they happen",
  parameters: {
    from: "Of no effect here",
    to: "Of no effect here",
    interval: "Of no effect here",
    compare: "Of no effect here",
    limit: "Of no effect here",
  },
  semantics:
    "Visitors: distinct actors of selected events, technical names ($…) apart, in the last 5 and 30 minutes up to `asOf`, both " +
    "ends included. Pages: the 10 paths with the most visitors in the last 5 minutes, by any selected event " +
    "that has a path. Series: selected page views in each minute of the clock, the running one and the 29 " +
    "before it. Events of the future are not counted until they are due.",
  reply: {
    visitors: z.object({ last5Minutes: z.int(), last30Minutes: z.int() }),
    pages: z.array(z.object({ path: z.string(), visitors: z.int() }))
      .meta({ description: "Most visitors first, then by path." }),
    series: z.array(z.object({
      start: z.iso.datetime(),
      label: z.string().meta({ description: "Local time", example: "2026-10-25 02:13" }),
      complete: z.boolean().meta({ description: "False while the minute runs." }),
      pageviews: z.int(),
    })).meta({ description: "The last 30 minutes of the clock, oldest first." }),
  },
  ask: () => ({ answer }),
};
