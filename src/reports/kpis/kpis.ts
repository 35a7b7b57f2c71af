import { z } from "zod";
import { BUCKET_SHOWN, bucketsOf, shownBucket } from "../../query/buckets.ts";
import type { Span } from "../../query/selection.ts";
import type { Read, ScanSource } from "../../scans/read.ts";
import type { ImportedSums } from "../../imported/imported_reading.ts";
import { importedSaid } from "../imported/imported_span.ts";
import { type ImportedBuckets, importedBuckets } from "../imported/imported_buckets.ts";
import { type KpiTests, lookUpTests, type OwnCounts, scanCounts, scanKpis } from "./kpi_scan.ts";
import { COMPARED_SHOWN, comparisonOf } from "../answer/compared_read.ts";
import { changeOf, pointsOf, PointsShown } from "../answer/changes.ts";
import { type Answer, rate, RateShown, type Report } from "../answer/report.ts";
import { readRolledSessions } from "./rolled_sessions.ts";
import { readRolledVisits, type RolledSpan, rolledSpan, startDays } from "../rollups/rolled_up.ts";
import { isSmall, shownCount } from "../answer/small_groups.ts";
import { readJson } from "../../query/filters.ts";
import { spanOf } from "../../query/range.ts";
import { type NumberedRead, refuseListed } from "../behind/behind.ts";
import { behindWhere } from "../behind/behind_tally.ts";
import { LISTED_KPIS } from "./kpi_visitor.ts";

const count = (description: string) =>
  z.int().nullable().describe(
    `${description}; null: of imported days alone, which do not tell it, or of too few for a share`,
  );

const SessionDuration = z.object({
  meanSeconds: z.number().nullable().describe("Sessions of no length included"),
  medianSeconds: z.number().nullable(),
}).describe("From the first to the last event of a session; null of no sessions");

const Kpis = z.object({
  visitors: count("Distinct actors of the selected events"),
  newVisitors: count("Those whose first event ever lies here"),
  sessions: count("Sessions that start here"),
  pageviews: count("Events named page_view"),
  events: count("Events of all names"),
  bounceRate: RateShown,
  sessionDuration: SessionDuration,
  pageviewsPerSession: z.number().nullable(),
  imported: z.literal(true).optional().describe(
    "Daily sums of another product are in it, as `query.imported` tells",
  ),
}).meta({ id: "Kpis" });

type Kpis = z.output<typeof Kpis>;

const Change = z.number().nullable();

const KpiChange = z.object({
  visitors: Change,
  newVisitors: Change,
  sessions: Change,
  pageviews: Change,
  events: Change,
  bounceRate: Change,
  bounceRatePoints: PointsShown,
  sessionDuration: z.object({ meanSeconds: Change, medianSeconds: Change }),
  pageviewsPerSession: Change,
}).meta({
  id: "KpiChange",
  description: "(current − previous) / previous of each total; null on a base of zero or nothing",
});

const KpiBucket = Kpis.extend(BUCKET_SHOWN).meta({ id: "KpiBucket" });

export const KPIS_REPLY = {
  totals: Kpis,
  series: z.array(KpiBucket),
  previous: z.object({ ...COMPARED_SHOWN, totals: Kpis, series: z.array(KpiBucket) }).optional()
    .describe("Only with `compare`: the range or segment compared with"),
  change: KpiChange.optional(),
};

/** `GET /v1/kpis`: the key figures of a range, of each of its buckets, and how they changed. */
export const KPIS: Report = {
  path: "/v1/kpis",
  summary: "Visitors, sessions, page views, bounce rate and durations, over time and compared",
  parameters: {},
  compares: "asked",
  semantics:
    "Visitors are distinct actors with a selected event in the range; new ones had their first event ever in it. " +
    "Names that begin with $ are technical: they tell who is who, open and extend no session, make nobody a visitor or new, and are counted only where a question names them. " +
    "Sessions count where they start, whole, if they hold a selected event. A bounce is a session with at most one page view and no custom event ($interactive: false: neither); bounceRate = bounces / sessions. " +
    "Duration = last - first event of a session; means include zeros, medians interpolate. pageviewsPerSession = page views in range / sessions starting in range. " +
    "Each bucket is counted by itself; it is complete if its whole period lies in the range and is over. change = (current - previous) / previous; bounceRatePoints = current - previous. " +
    "An unfinished range is compared with the equally long part of previous or year; dates that compare names are taken as named.",
  reply: KPIS_REPLY,
  ask: () => ({ answer }),
};

/** What to read from, and what is selected. */
export interface KpiSource extends ScanSource {
  /** The span of all buckets, if the rollups have the answer. */
  readonly rolled?: RolledSpan | null;
  /** Looks up what the filters select, once; absent: each scan does. */
  readonly tests?: () => Promise<KpiTests>;
}

/**
 * Reads the counts of each bucket, then of all together: from the rollups if the buckets are whole days of them,
 * else by a scan.
 */
async function readCounts(source: KpiSource, buckets: readonly Span[]): Promise<OwnCounts[]> {
  const { sql, rolled, tests } = source;
  const starts = rolled ? startDays(buckets, rolled.timezone) : null;
  if (!rolled || starts === null) return await scanKpis(source, buckets, tests?.());
  const visits = await readRolledVisits(source, rolled, starts);
  const sessions = await readRolledSessions(sql, rolled, buckets, starts);
  return visits.map((own, i) => ({ ...own, ...sessions[i]! }));
}

const seconds = (ms: number | null): number | null => ms === null ? null : ms / 1000;

/**
 * Returns own figures with imported sums.
 * @param imported null: there is no imported day
 * @param hasOwn whether there are days of own events at all
 */
function kpisOf(
  own: OwnCounts,
  imported: ImportedSums | null,
  hasOwn: boolean,
): Kpis {
  const isKnown = hasOwn || imported === null;
  const sum = (count: number, figure: number | null = null) =>
    isKnown || figure !== null ? count + (figure ?? 0) : null;
  const bounces = own.bounces + (imported?.bounces ?? 0);
  const durationMs = own.durationMs + 1000 * (imported?.seconds ?? 0);
  const views = own.pageviews + (imported?.pageviewsOfVisits ?? 0);
  const sessionsAnd = (visits: number | undefined) => own.sessions + (visits ?? 0);
  return {
    visitors: sum(own.visitors, imported?.visitors),
    newVisitors: sum(own.newVisitors),
    sessions: sum(own.sessions, imported?.visits),
    pageviews: sum(own.pageviews, imported?.pageviews),
    events: sum(own.events, imported?.events),
    bounceRate: rate(bounces, sessionsAnd(imported?.visitsWithBounces)),
    sessionDuration: {
      meanSeconds: seconds(rate(durationMs, sessionsAnd(imported?.visitsWithSeconds)).value),
      medianSeconds: seconds(own.medianMs),
    },
    pageviewsPerSession: rate(views, sessionsAnd(imported?.visitsWithPageviews)).value,
    ...imported === null ? {} : { imported: true },
  };
}

/**
 * Reads the key figures of buckets that follow each other without gaps, by the filters and the choice
 * of bots in `source.scope`. The totals are not the sum of the series, since actors come back.
 */
export async function readKpis(
  source: KpiSource,
  buckets: readonly Span[],
  imported: ImportedBuckets | null = null,
) {
  const own = await readCounts(source, buckets);
  return {
    totals: kpisOf(own.at(-1)!, imported?.whole ?? null, imported?.wholeHasOwn ?? true),
    series: buckets.map((_, i) =>
      kpisOf(own[i]!, imported?.buckets[i] ?? null, imported?.hasOwn[i] ?? true)
    ),
  };
}

function changesOf(current: Kpis, previous: Kpis): z.output<typeof KpiChange> {
  const change = (figure: (kpis: Kpis) => number | null) =>
    changeOf(figure(current), figure(previous));
  return {
    visitors: change((kpis) => kpis.visitors),
    newVisitors: change((kpis) => kpis.newVisitors),
    sessions: change((kpis) => kpis.sessions),
    pageviews: change((kpis) => kpis.pageviews),
    events: change((kpis) => kpis.events),
    bounceRate: change((kpis) => kpis.bounceRate.value),
    bounceRatePoints: pointsOf(current.bounceRate, previous.bounceRate),
    sessionDuration: {
      meanSeconds: change((kpis) => kpis.sessionDuration.meanSeconds),
      medianSeconds: change((kpis) => kpis.sessionDuration.medianSeconds),
    },
    pageviewsPerSession: change((kpis) => kpis.pageviewsPerSession),
  };
}

/** What a share shows of a bucket of too few visitors: not even whether there were any. */
const HIDDEN = {
  visitors: null,
  newVisitors: null,
  sessions: null,
  pageviews: null,
  events: null,
  bounceRate: rate(0, 0),
  sessionDuration: { meanSeconds: null, medianSeconds: null },
  pageviewsPerSession: null,
} as const;

function shownKpis(kpis: Kpis, visitorsMin: number): Kpis {
  return { ...kpis, newVisitors: shownCount(kpis.newVisitors, visitorsMin) };
}

async function figuresOf(read: Read & Pick<KpiSource, "tests">, isComparison: boolean) {
  const { range } = read;
  const buckets = bucketsOf(range, read.interval);
  const rolled = rolledSpan(read.scope, read.project, range);
  const imported = await importedBuckets(read, buckets, isComparison);
  const { totals, series } = await readKpis({ ...read, rolled }, buckets, imported);
  const { visitorsMin } = read;
  const shown = buckets.map((bucket, i) => ({
    ...shownBucket(bucket, range, read.asOfMs),
    ...isSmall(series[i]!.visitors ?? 0, visitorsMin) ? HIDDEN : shownKpis(series[i]!, visitorsMin),
  }));
  return { figures: { totals: shownKpis(totals, visitorsMin), series: shown }, imported };
}

async function answer(read: Read): Promise<Answer> {
  let known: Promise<KpiTests> | null = null;
  const tests = () => known ??= lookUpTests(read);
  const { figures, imported } = await figuresOf({ ...read, tests }, false);
  const ofImported = [imported];
  const comparison = await comparisonOf(read, async (compared) => {
    const isAlike = compared.scope === read.scope;
    const before = await figuresOf(isAlike ? { ...compared, tests } : compared, true);
    ofImported.push(before.imported);
    return { previous: before.figures, change: changesOf(figures.totals, before.figures.totals) };
  });
  return {
    ...importedSaid(read, ofImported.flatMap((one) => one?.span ?? [])),
    result: { ...figures, ...comparison },
  };
}

/** The key figure that `of` names: one whose people or visits no filter can express. */
const KpiNumber = z.strictObject({
  count: z.enum(
    LISTED_KPIS,
    `Use one of ${LISTED_KPIS.join(", ")}: all others are the list itself.`,
  ),
});

/** Lists the new visitors of the key figures, or the visits that are bounces. */
export const KPI_BEHIND: NumberedRead = {
  name: "kpis",
  parameters: [],
  ask: (query, listed) => {
    const { count } = readJson(query, "place", KpiNumber)!;
    const isOfVisits = count === "bounces";
    refuseListed(listed, isOfVisits ? "visits" : "people");
    return {
      find: async (read) => {
        const { counts: { behind }, isNew } = await scanCounts(read, [spanOf(read.range)], count);
        return isOfVisits ? behind : behindWhere(behind, (i) => isNew(behind.actors[i]!));
      },
    };
  },
};
