import { instantText } from "./calendar.ts";
import { type ReadParams, selectedEvents } from "./filters.ts";
import { actorsOf, byCodeUnits, groupBy, isPageView, type World } from "./world.ts";

const MINUTE_MS = 60_000;
const LONG_MINUTES = 30;
const PAGES_MAX = 10;

export interface LiveResult {
  readonly visitors: { readonly last5Minutes: number; readonly last30Minutes: number };
  readonly pages: readonly { readonly path: string; readonly visitors: number }[];
  readonly series: readonly {
    readonly start: string;
    readonly label: string;
    readonly complete: boolean;
    readonly pageviews: number;
  }[];
}

/** `GET /v1/live`: who was seen in the minutes up to now, both ends included. */
export function readLive(
  world: World,
  params: Pick<ReadParams, "filters" | "bots" | "timezone">,
): LiveResult {
  const { asOfMs } = world;
  const past = selectedEvents(world, params).filter(({ atMs }) => atMs <= asOfMs);
  const seenWithin = (minutes: number) =>
    past.filter(({ atMs }) => atMs >= asOfMs - minutes * MINUTE_MS);
  const pages = [...groupBy(seenWithin(5), ({ row }) => row.path)]
    .flatMap(([path, own]) => path === null ? [] : [{ path, visitors: actorsOf(own).size }])
    .sort((a, b) => b.visitors - a.visitors || byCodeUnits(a.path, b.path));
  const runningMs = Math.floor(asOfMs / MINUTE_MS) * MINUTE_MS;
  const timezone = params.timezone ?? world.project.timezone;
  const minutes = Array.from({ length: LONG_MINUTES }, (_, i) => {
    const startMs = runningMs - (LONG_MINUTES - 1 - i) * MINUTE_MS;
    const views = past.filter((fact) =>
      isPageView(fact) && fact.atMs >= startMs && fact.atMs < startMs + MINUTE_MS
    );
    return {
      start: instantText(startMs),
      label: minuteText(startMs, timezone),
      complete: startMs + MINUTE_MS <= asOfMs,
      pageviews: views.length,
    };
  });
  return {
    visitors: {
      last5Minutes: actorsOf(seenWithin(5)).size,
      last30Minutes: actorsOf(seenWithin(LONG_MINUTES)).size,
    },
    pages: pages.slice(0, PAGES_MAX),
    series: minutes,
  };
}

/** Who was seen in the last minutes, on a page or on any, each with the last time. */
export function livePeople(
  world: World,
  params: ReadParams,
  { minutes, path }: { readonly minutes: number; readonly path?: string },
): Map<string, number> {
  const { asOfMs } = world;
  return new Map(
    selectedEvents(world, params)
      .filter(({ atMs }) => atMs <= asOfMs && atMs >= asOfMs - minutes * MINUTE_MS)
      .filter(({ row }) => path === undefined || row.path === path)
      .map(({ actor, atMs }) => [actor, atMs]),
  );
}

function minuteText(ms: number, timezone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone)
    .toPlainDateTime().toString({ smallestUnit: "minute" }).replace("T", " ");
}
