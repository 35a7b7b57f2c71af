import fc from "fast-check";
import { type AcquisitionParams, readAcquisition } from "./acquisition.ts";
import type {
  OfAcquisition,
  OfFunnel,
  OfHeatmap,
  OfJourney,
  OfKpis,
  OfLive,
  OfRetention,
} from "./behind.ts";
import type { ReadParams } from "./filters.ts";
import { type FunnelParams, readFunnel } from "./funnel.ts";
import { type HeatmapPlace, type OwnOfHeatmap, readHeatmap } from "./heatmap.ts";
import { type JourneyParams, readJourneys } from "./journeys.ts";
import { readLive } from "./live.ts";
import { readRetention, type RetentionParams } from "./retention.ts";
import type { World } from "./world.ts";

/** A number of an answer: of this world, and under these shared parameters. */
export type NumberOf<O> = (world: World, params: ReadParams) => O;

type Own<P> = Omit<P, keyof ReadParams>;

const OTHER = "$other";

/** One of some, by a number that any list can be asked with; what stands in for none. */
const picked = <T>(some: readonly T[], nth: number, otherwise: T): T =>
  some.length === 0 ? otherwise : some[nth % some.length]!;

/** Numbers of funnels, of groups too. */
export function stepOf(funnel: fc.Arbitrary<Own<FunnelParams>>): fc.Arbitrary<NumberOf<OfFunnel>> {
  const kind = fc.constantFrom(...["step", "step", "lost", "excluded", "open"] as const);
  return fc.tuple(funnel, kind, fc.nat(100), fc.option(fc.nat(100))).map(
    ([own, kind, nth, group]) => (world, params) => {
      const count = own.steps.length;
      const place: OfFunnel["place"] = kind === "step" || kind === "lost" && count === 1
        ? { step: 1 + nth % count }
        : kind === "lost"
        ? { lost: 2 + nth % (count - 1) }
        : { ended: kind };
      const { groups = [] } = readFunnel(world, { ...params, ...own });
      const values = groups.map(({ value }) => value).filter((value) => value !== OTHER);
      const isGrouped = group !== null && values.length > 0;
      const value = isGrouped ? { value: picked(values, group, null) } : {};
      return { read: "funnels", ...own, place: { ...place, ...value } };
    },
  );
}

/** Cells of cohorts, and whole ones. */
export function cellOf(
  retention: fc.Arbitrary<Own<RetentionParams> & Pick<OfRetention, "interval">>,
): fc.Arbitrary<NumberOf<OfRetention>> {
  return fc.tuple(retention, fc.nat(100), fc.nat(5)).map(([own, nth, k]) => (world, params) => {
    const { cohorts } = readRetention(world, { ...params, ...own } as RetentionParams);
    const full = cohorts.filter(({ size }) => size > 0);
    const { start } = picked(full, nth, cohorts[0]!);
    const cells = own.periods ?? 7;
    const cell = k < cells ? { period: k } : {};
    return { read: "retention", ...own, place: { cohort: start, ...cell } };
  });
}

/** Nodes, links and paths of journeys. */
export function waysOf(
  journeys: fc.Arbitrary<Own<JourneyParams>>,
  scope: "session" | "actor",
): fc.Arbitrary<NumberOf<OfJourney>> {
  return fc.tuple(journeys, fc.boolean(), fc.nat(100)).map(
    ([drawn, isLink, nth]) => (world, params) => {
      const own = { ...drawn, scope };
      const { nodes, links } = readJourneys(world, { ...params, ...own });
      const told = nodes.filter(({ step, kind }) => step > 1 || kind !== "end");
      const node = picked<Pick<typeof nodes[number], "step" | "kind" | "value">>(
        told,
        nth,
        { step: 1, kind: "path", value: "/" },
      );
      if (!isLink || links.length === 0) {
        const { step, kind, value } = node;
        return { read: "journeys", ...own, place: { way: [{ step, kind, value }] } };
      }
      const { step, from, fromKind, to, toKind } = picked(links, nth, links[0]!);
      const way = [{ step, kind: fromKind, value: from }, {
        step: step + 1,
        kind: toKind,
        value: to,
      }];
      return { read: "journeys", ...own, place: { way } };
    },
  );
}

/** Counts of rows of acquisition. */
export function rowOf(
  acquisition: fc.Arbitrary<Own<AcquisitionParams>>,
  counts: readonly OfAcquisition["place"]["count"][],
): fc.Arbitrary<NumberOf<OfAcquisition>> {
  return fc.tuple(acquisition, fc.constantFrom(...counts), fc.nat(100)).map(
    ([{ by = "channel", goal }, count, nth]) => (world, params) => {
      const own = goal === undefined && count !== "conversions" ? {} : { goal: goal ?? "one" };
      const { rows } = readAcquisition(world, { ...params, by });
      const { value } = picked<Pick<typeof rows[number], "value">>(rows, nth, { value: null });
      return { read: "acquisition", by, ...own, place: { value, count } };
    },
  );
}

/** Key figures that no filter tells. */
export function figureOf(count: OfKpis["place"]["count"]): fc.Arbitrary<NumberOf<OfKpis>> {
  return fc.constant(() => ({ read: "kpis", place: { count } }));
}

/** Points, elements, depths and the sample of heat maps. */
export function clicksOf(
  heatmap: fc.Arbitrary<OwnOfHeatmap>,
  elements: readonly string[],
): fc.Arbitrary<NumberOf<OfHeatmap>> {
  const kind = fc.constantFrom(...["point", "point", "element", "sample"] as const);
  return fc.tuple(heatmap, kind, fc.nat(100)).map(([own, kind, nth]) => (world, params) => {
    const { points, scroll } = readHeatmap(world, { ...params, ...own });
    const place = (): HeatmapPlace => {
      if (kind === "sample") return { sample: "visitors" };
      if (own.kind === "scroll") {
        return { depthPx: picked(scroll, nth, { depthPx: 0, reached: 0 }).depthPx };
      }
      if (kind === "element") return { element: picked(elements, nth, "a") };
      const none = { x: 0.5025, y: 15, fixed: false };
      const { x, y, fixed } = picked<typeof none>(points, nth, none);
      return { point: { x, y, fixed } };
    };
    return { read: "heatmaps", ...own, place: place() };
  });
}

/** Who is there now, and on which page. */
export const nowOf: fc.Arbitrary<NumberOf<OfLive>> = fc.tuple(
  fc.constantFrom(...[5, 5, 30] as const),
  fc.option(fc.nat(100)),
).map(([minutes, nth]) => (world, params) => {
  const { filters, bots } = params;
  const asked = {
    ...filters === undefined ? {} : { filters },
    ...bots === undefined ? {} : { bots },
  };
  if (minutes === 30 || nth === null) return { read: "live", place: { minutes } };
  const { pages } = readLive(world, asked);
  return {
    read: "live",
    place: { minutes, path: picked(pages, nth, { path: "/", visitors: 0 }).path },
  };
});
