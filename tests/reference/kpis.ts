import { type Bucket, intervalOf, type Range, rangeOf, series } from "./calendar.ts";
import { countingSessions, type ReadParams, selectedInRange } from "./filters.ts";
import { type ImportedRow, ownFromMs, shownDays, together, told, toldWith } from "./imported.ts";
import { mean, median, type Rate, rate, ratio, relativeChange, sum } from "./statistics.ts";
import { actorsOf, historyOf, isPageView, type World } from "./world.ts";

export interface SessionDuration {
  readonly meanSeconds: number | null;
  readonly medianSeconds: number | null;
}

export interface Kpis {
  readonly visitors: number | null;
  readonly newVisitors: number | null;
  readonly sessions: number | null;
  readonly pageviews: number | null;
  readonly events: number | null;
  readonly bounceRate: Rate;
  readonly sessionDuration: SessionDuration;
  readonly pageviewsPerSession: number | null;
  readonly imported?: true;
}

export type KpiChange =
  & {
    readonly [K in Exclude<keyof Kpis, "imported">]: K extends "sessionDuration" ? SessionDuration
      : number | null;
  }
  & { readonly bounceRatePoints: number | null };

export interface KpisResult {
  readonly totals: Kpis;
  readonly series: readonly (Bucket & Kpis)[];
}

/** `GET /v1/kpis`. */
export function readKpis(world: World, params: ReadParams): KpisResult {
  return kpisAndSeries(world, params, rangeOf(world, params));
}

function kpisAndSeries(world: World, params: ReadParams, range: Range) {
  // Sums of days are not divided into hours, nor is a day at the edge of the range.
  const days = intervalOf(params, range) === "hour" ? [] : shownDays(world, params, range, "all");
  const measure = (part: Pick<Range, "fromMs" | "toMs">) => {
    const rows = days.filter(({ fromMs }) => fromMs >= part.fromMs && fromMs < part.toMs)
      .flatMap(({ rowsOf }) => rowsOf.get("all")!);
    return rows.length === 0
      ? kpisOf(world, params, part)
      : withImported(world, params, part, rows);
  };
  return { totals: measure(range), series: series(world, params, range, measure) };
}

function kpisOf(world: World, params: ReadParams, part: Pick<Range, "fromMs" | "toMs">): Kpis {
  const selected = selectedInRange(world, params, part);
  const sessions = countingSessions(world, params, part);
  const { firstSeenMs } = historyOf(world);
  const visitors = actorsOf(selected);
  const pageviews = selected.filter(isPageView).length;
  const seconds = sessions.map(({ startMs, endMs }) => (endMs - startMs) / 1000);
  return {
    visitors: visitors.size,
    newVisitors: [...visitors].filter((actor) => {
      const firstMs = firstSeenMs.get(actor);
      return firstMs !== undefined && firstMs >= part.fromMs && firstMs < part.toMs;
    }).length,
    sessions: sessions.length,
    pageviews,
    events: selected.length,
    bounceRate: rate(sessions.filter(({ bounce }) => bounce).length, sessions.length),
    sessionDuration: { meanSeconds: mean(seconds), medianSeconds: median(seconds) },
    pageviewsPerSession: ratio(pageviews, sessions.length),
  };
}

function withImported(
  world: World,
  params: ReadParams,
  part: Pick<Range, "fromMs" | "toMs">,
  rows: readonly ImportedRow[],
): Kpis {
  const own = kpisOf(world, params, part);
  const sessions = countingSessions(world, params, part);
  const hasOwn = part.toMs > ownFromMs(world);
  const count = (figure: keyof Kpis) => hasOwn ? own[figure] as number : null;
  const seconds = sum(sessions.map(({ startMs, endMs }) => (endMs - startMs) / 1000));
  return {
    visitors: together(count("visitors"), told(rows, "visitors")),
    newVisitors: count("newVisitors"),
    sessions: together(count("sessions"), told(rows, "visits")),
    pageviews: together(count("pageviews"), told(rows, "pageviews")),
    events: together(count("events"), told(rows, "events")),
    bounceRate: rate(
      own.bounceRate.numerator + (told(rows, "bounces") ?? 0),
      sessions.length + toldWith(rows, "visits", "bounces"),
    ),
    sessionDuration: {
      meanSeconds: ratio(
        seconds + (told(rows, "seconds") ?? 0),
        sessions.length + toldWith(rows, "visits", "seconds"),
      ),
      medianSeconds: own.sessionDuration.medianSeconds,
    },
    pageviewsPerSession: ratio(
      own.pageviews! + toldWith(rows, "pageviews", "visits"),
      sessions.length + toldWith(rows, "visits", "pageviews"),
    ),
    imported: true,
  };
}

/** How the totals changed: a rate by its value, and in points. */
export function kpiChange(current: Kpis, previous: Kpis): KpiChange {
  const change = (value: (kpis: Kpis) => number | null) =>
    relativeChange(value(current), value(previous));
  return {
    visitors: change((kpis) => kpis.visitors),
    newVisitors: change((kpis) => kpis.newVisitors),
    sessions: change((kpis) => kpis.sessions),
    pageviews: change((kpis) => kpis.pageviews),
    events: change((kpis) => kpis.events),
    bounceRate: change((kpis) => kpis.bounceRate.value),
    bounceRatePoints: current.bounceRate.value === null || previous.bounceRate.value === null
      ? null
      : current.bounceRate.value - previous.bounceRate.value,
    sessionDuration: {
      meanSeconds: change((kpis) => kpis.sessionDuration.meanSeconds),
      medianSeconds: change((kpis) => kpis.sessionDuration.medianSeconds),
    },
    pageviewsPerSession: change((kpis) => kpis.pageviewsPerSession),
  };
}
