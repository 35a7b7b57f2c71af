import { z } from "zod";
import type { VisitRun } from "../../timelines/run_walk.ts";
import { LIVE_PAGES_MAX } from "../../limits.ts";
import { SqlParams } from "../../query/sql_params.ts";
import { withoutTechnical } from "../../query/technical.ts";
import { PAGE_VIEW } from "../../query/terms.ts";
import { type EventTest, eventTest } from "../../scans/event_tests.ts";
import type { Read } from "../../scans/read.ts";
import { selectHistories, walkSelectedRuns } from "../../scans/selected_histories.ts";
import type { Answer, Report } from "../report.ts";

const MINUTE_MS = 60_000;
const LONG_MINUTES = 30;
const SHORT_MINUTES = 5;

/** Who is there, and what they look at: few, so that each is kept by name. */
class LiveWalk {
  readonly lastLong = new Set<number>();
  readonly lastShort = new Set<number>();
  /** By path, in the last minutes. */
  readonly actorsOn = new Map<number, Set<number>>();
  /** Page views, by the minute of the clock since 1970. */
  readonly viewsAt = new Map<number, number>();

  constructor(readonly asOfMs: number, readonly test: EventTest) {}

  /** From the last event of a stretch back to the first one that counts. */
  readonly visit: VisitRun = (actor, segment, start, end) => {
    const { fromMs, times, names, paths, contexts, marks } = segment;
    const longAgo = this.asOfMs - LONG_MINUTES * MINUTE_MS;
    const shortAgo = this.asOfMs - SHORT_MINUTES * MINUTE_MS;
    for (let at = end - 1; at >= start; at--) {
      const ms = fromMs + times[at]!;
      if (ms < longAgo) return;
      const [name, path] = [names[at]!, paths[at]!];
      if (ms > this.asOfMs) continue;
      if (!this.test.passes(name, path, contexts[at]!, actor, marks[at]!)) continue;
      this.lastLong.add(actor);
      const minute = Math.floor(ms / MINUTE_MS);
      if (name === PAGE_VIEW) this.viewsAt.set(minute, (this.viewsAt.get(minute) ?? 0) + 1);
      if (ms < shortAgo) continue;
      this.lastShort.add(actor);
      if (path !== 0) this.#addTo(path, actor);
    }
  };

  #addTo(path: number, actor: number): void {
    const actors = this.actorsOn.get(path);
    if (actors === undefined) this.actorsOn.set(path, new Set([actor]));
    else actors.add(actor);
  }
}

/** Everything that was selected in the last minutes; both ends are included. */
async function walkLive(read: Read): Promise<LiveWalk> {
  const { sql, scope, asOfMs } = read;
  const span = { fromMs: asOfMs - LONG_MINUTES * MINUTE_MS, toMs: asOfMs + 1 };
  const selected = await selectHistories(read, span);
  const { histories, eventFilters } = selected;
  const filters = withoutTechnical(eventFilters);
  const walk = new LiveWalk(
    asOfMs,
    await eventTest(sql, scope, scope.bots, filters, histories.bits),
  );
  await walkSelectedRuns(sql, selected, walk.visit);
  return walk;
}

/** The paths with the most visitors, most first, then by path. */
async function pagesOf({ sql, scope }: Read, { actorsOn }: LiveWalk) {
  const sizes = [...actorsOn.values()].map(({ size }) => size).sort((a, b) => b - a);
  const least = sizes[LIVE_PAGES_MAX - 1] ?? 0;
  const shown = [...actorsOn].filter(([, { size }]) => size >= least);
  const params = new SqlParams();
  const counts = [
    params.ints(shown.map(([path]) => path)),
    params.ints(shown.map(([, { size }]) => size)),
  ];
  return await sql.query<{ path: string; visitors: number }>(
    `SELECT t.term AS path, c.visitors
    FROM unnest(${counts.join(", ")}) AS c (path_id, visitors)
    JOIN terms t ON t.project_id = ${params.int(scope.projectId)} AND t.term_id = c.path_id
    ORDER BY c.visitors DESC, t.term COLLATE "C" LIMIT ${params.int(LIVE_PAGES_MAX)}`,
    params.values,
  );
}

/** Page views of each minute of the clock, the running one last. */
function seriesOf({ asOfMs, range: { timezone } }: Read, { viewsAt }: LiveWalk) {
  const running = Math.floor(asOfMs / MINUTE_MS);
  return Array.from({ length: LONG_MINUTES }, (_, i) => {
    const minute = running - LONG_MINUTES + 1 + i;
    const startMs = minute * MINUTE_MS;
    const local = Temporal.Instant.fromEpochMilliseconds(startMs).toZonedDateTimeISO(timezone);
    return {
      start: new Date(startMs).toISOString(),
      label: local.toPlainDateTime().toString({ smallestUnit: "minute" }).replace("T", " "),
      complete: minute < running,
      pageviews: viewsAt.get(minute) ?? 0,
    };
  });
}

async function answer(read: Read): Promise<Answer> {
  const walk = await walkLive(read);
  return {
    query: { from: null, to: null, interval: null, compare: "none", limit: null, cursor: null },
    result: {
      visitors: { last5Minutes: walk.lastShort.size, last30Minutes: walk.lastLong.size },
      pages: await pagesOf(read, walk),
      series: seriesOf(read, walk),
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
