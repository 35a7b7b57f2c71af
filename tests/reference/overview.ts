import { instantText, rangeOf, type RangeParams } from "./calendar.ts";
import { comparedAnswer } from "./compared.ts";
import { readKpis } from "./kpis.ts";
import { readLive } from "./live.ts";
import type { World } from "./world.ts";

export type OverviewParams = Pick<RangeParams, "from" | "to" | "timezone" | "interval">;

/** What `GET /v1/overview` tells of one project beside its name. */
export function readOverview(world: World, params: OverviewParams) {
  const asked = { ...params, interval: params.interval ?? "day" } as const;
  const { totals, series } = readKpis(world, asked);
  const compared = { ...asked, compare: "previous" } as const;
  const { change } = comparedAnswer(world, "kpis", compared, [], readKpis);
  const { fromMs, toMs, timezone } = rangeOf(world, asked);
  return {
    timezone,
    from: instantText(fromMs),
    to: instantText(toMs),
    now: readLive(world, {}).visitors.last5Minutes,
    visitors: totals.visitors,
    change: (change as { visitors: number | null }).visitors,
    series: series.map(({ start, label, complete, visitors }) => ({
      start,
      label,
      complete,
      visitors,
    })),
    ...totals.imported === true ? { imported: true } : {},
  };
}
