import { z } from "zod";
import { LIVE_PAGES_MAX } from "../../limits.ts";
import { localTime } from "../../query/local_dates.ts";
import { keyedRow } from "../../db/keyed_rows.ts";
import { SqlParams } from "../../query/sql_params.ts";
import { NO_EFFECT } from "../../query/without_effect.ts";
import type { Read } from "../../scans/read.ts";
import type { Answer, Report } from "../answer/report.ts";
import { selectEvents } from "../../scans/selected_events.ts";
import { LIVE_COUNTS, type LiveCounts, MINUTE_MS } from "./live_visitor.ts";
import { type Filter, readJson } from "../../query/filters.ts";
import { type NumberedRead, PlaceText, refuseListed } from "../behind/behind.ts";
import { NEWEST_PEOPLE } from "../newest/newest_people_visitor.ts";

const LONG_MINUTES = 30;
const SHORT_MINUTES = 5;

/** Counts the selected events of the last minutes; both ends are included. */
async function countLive(read: Read): Promise<LiveCounts> {
  const { asOfMs } = read;
  const longAgoMs = asOfMs - LONG_MINUTES * MINUTE_MS;
  const shortAgoMs = asOfMs - SHORT_MINUTES * MINUTE_MS;
  const span = { fromMs: longAgoMs, toMs: asOfMs + 1 };
  const { selected, test } = await selectEvents(read, span, { isCounting: true });
  return await selected.scan(
    LIVE_COUNTS,
    () => ({ test, asOfMs, longAgoMs, shortAgoMs }),
    { byRun: true },
  );
}

/** Returns the paths with the most visitors, most first, ties by path. */
async function pagesOf({ sql, scope }: Read, { actorsOn }: LiveCounts) {
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
    CROSS JOIN ${keyedRow("terms v", "v.term_id = c.path_id", params.int(scope.projectId))} AS t
    ORDER BY c.visitors DESC, t.term COLLATE "C" LIMIT ${params.int(LIVE_PAGES_MAX)}`,
    params.values,
  );
}

/** Returns the page views of each minute of the clock, the current minute last. */
function seriesOf({ asOfMs, range: { timezone } }: Read, { viewsAt }: LiveCounts) {
  const running = Math.floor(asOfMs / MINUTE_MS);
  return Array.from({ length: LONG_MINUTES }, (_, i) => {
    const minute = running - LONG_MINUTES + 1 + i;
    const startMs = minute * MINUTE_MS;
    const local = localTime(startMs, timezone);
    return {
      start: new Date(startMs).toISOString(),
      label: local.toPlainDateTime().toString({ smallestUnit: "minute" }).replace("T", " "),
      complete: minute < running,
      pageviews: viewsAt.get(minute) ?? 0,
    };
  });
}

async function answer(read: Read): Promise<Answer> {
  const counts = await countLive(read);
  return {
    result: {
      visitors: { last5Minutes: counts.lastShort.size, last30Minutes: counts.lastLong.size },
      pages: await pagesOf(read, counts),
      series: seriesOf(read, counts),
    },
  };
}

export const LIVE_REPLY = {
  visitors: z.object({ last5Minutes: z.int(), last30Minutes: z.int() }),
  pages: z.array(z.object({ path: z.string(), visitors: z.int() }))
    .describe("Most visitors first, then by path."),
  series: z.array(z.object({
    start: z.iso.datetime(),
    label: z.string().meta({ description: "Local time", example: "2026-10-25 02:13" }),
    complete: z.boolean().describe("False while the minute runs."),
    pageviews: z.int(),
  })).describe("The last 30 minutes of the clock, oldest first."),
};

/** `GET /v1/live`: the visitors who are there now, and the pages that they view. */
export const LIVE: Report = {
  path: "/v1/live",
  summary: "Who is there now; with `Accept: text/event-stream`, updates as they happen",
  parameters: {
    from: NO_EFFECT,
    to: NO_EFFECT,
    interval: NO_EFFECT,
    compare: NO_EFFECT,
    limit: NO_EFFECT,
  },
  semantics:
    "Visitors: distinct actors of selected events, technical names ($…) apart, in the last 5 and 30 minutes up to `asOf`, both " +
    "ends included. Pages: the 10 paths with the most visitors in the last 5 minutes, by any selected event " +
    "that has a path. Series: selected page views in each minute of the clock, the running one and the 29 " +
    "before it. Events of the future are not counted until they are due.",
  reply: LIVE_REPLY,
  ask: () => ({ answer }),
};

const USAGE =
  `Use {"minutes":${SHORT_MINUTES}}, with "path" of a page or without, or {"minutes":${LONG_MINUTES}}.`;

/** The live number that `of` names: all visitors of the last minutes, or those on a page. */
const LiveNumber = z.union([
  z.strictObject({ minutes: z.literal(SHORT_MINUTES), path: PlaceText.optional() }),
  z.strictObject({ minutes: z.literal(LONG_MINUTES) }),
], USAGE);

/** Lists the visitors of the last minutes, whatever the range of the list. */
export const LIVE_VISITORS: NumberedRead = {
  name: "live",
  parameters: [],
  ask: (query, listed) => {
    refuseListed(listed, "people");
    const number = readJson(query, "place", LiveNumber)!;
    const paths = "path" in number ? [number.path].filter((path) => path !== undefined) : [];
    const filters = paths.map((path): Filter => ({ field: "path", op: "is", values: [path] }));
    return {
      matches: [{ name: null, filters }],
      find: async (read) => {
        const { asOfMs } = read;
        const span = { fromMs: asOfMs - number.minutes * MINUTE_MS, toMs: asOfMs + 1 };
        const { selected, test } = await selectEvents(read, span, { filters, isCounting: true });
        const inputs = { span, endMs: span.toMs, test, rows: Infinity, edgeMs: NaN };
        const { actors, ms } = await selected.scan(NEWEST_PEOPLE, () => inputs);
        return { actors: Int32Array.from(actors), ms: Float64Array.from(ms) };
      },
    };
  },
};
