import { instantText, rangeOf, type RangeParams } from "./calendar.ts";
import { comparedAnswer } from "./compared.ts";
import { readKpis } from "./kpis.ts";
import { readLive } from "./live.ts";
import type { World } from "./world.ts";

export type OverviewParams = Pick<RangeParams, "from" | "to" | "timezone" | "interval">;

const DAYS = 30;

/** How the days of a range that are over changed; null where none is. */
function changeOf(world: World, asked: OverviewParams): number | null {
  const timezone = asked.timezone ?? world.project.timezone;
  const today = Temporal.Instant.fromEpochMilliseconds(world.asOfMs).toZonedDateTimeISO(timezone)
    .toPlainDate();
  const to = asked.to === undefined ? today : Temporal.PlainDate.from(asked.to);
  const from = asked.from === undefined
    ? to.subtract({ days: DAYS - 1 })
    : Temporal.PlainDate.from(asked.from);
  const yesterday = today.subtract({ days: 1 });
  const last = Temporal.PlainDate.compare(to, yesterday) < 0 ? to : yesterday;
  if (Temporal.PlainDate.compare(last, from) < 0) return null;
  const over = { timezone, from: from.toString(), to: last.toString(), interval: "day" } as const;
  const params = { ...over, compare: "previous" } as const;
  const { change } = comparedAnswer(world, "kpis", params, [], readKpis);
  return (change as { visitors: number | null }).visitors;
}

/** What `GET /v1/overview` tells of one project beside its name. */
export function readOverview(world: World, params: OverviewParams) {
  const asked = { ...params, interval: params.interval ?? "day" } as const;
  const { totals, series } = readKpis(world, asked);
  const { fromMs, toMs, timezone } = rangeOf(world, asked);
  return {
    timezone,
    from: instantText(fromMs),
    to: instantText(toMs),
    now: readLive(world, {}).visitors.last5Minutes,
    visitors: totals.visitors,
    change: changeOf(world, params),
    series: series.map(({ start, label, complete, visitors }) => ({
      start,
      label,
      complete,
      visitors,
    })),
    ...totals.imported === true ? { imported: true } : {},
  };
}
