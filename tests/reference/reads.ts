import { type AcquisitionParams, readAcquisition } from "./acquisition.ts";
import { rangeOf } from "./calendar.ts";
import { comparedAnswer, compares } from "./compared.ts";
import type { ReadParams } from "./filters.ts";
import { type FunnelParams, readFunnel } from "./funnel.ts";
import { type GoalDefinition, readGoals } from "./goals.ts";
import { type HeatmapParams, readHeatmap, readHeatmapPaths } from "./heatmap.ts";
import { readInsights } from "./insights.ts";
import { type JourneyParams, readJourneys } from "./journeys.ts";
import { readKpis } from "./kpis.ts";
import { readLive } from "./live.ts";
import { readPages } from "./pages.ts";
import { type PeopleParams, readPeople } from "./people.ts";
import { readRetention, type RetentionParams } from "./retention.ts";
import { readTrends, type TrendsParams } from "./trends.ts";
import { segmented } from "./segments.ts";
import { readVisits, type VisitsParams } from "./visits.ts";
import { readVitals, type VitalsParams } from "./vitals.ts";
import type { World } from "./world.ts";

/** The parameters of each read, structured ones before they are encoded. */
export interface ParamsOf {
  readonly kpis: ReadParams;
  readonly acquisition: AcquisitionParams;
  readonly pages: ReadParams;
  readonly funnels: FunnelParams;
  readonly retention: RetentionParams;
  readonly goals: ReadParams;
  readonly trends: TrendsParams;
  readonly journeys: JourneyParams;
  readonly insights: ReadParams & { readonly limit?: number };
  readonly visits: VisitsParams;
  readonly actors: PeopleParams;
  readonly heatmaps: HeatmapParams;
  readonly "heatmaps/paths": ReadParams;
  readonly vitals: VitalsParams;
  readonly live: Pick<ReadParams, "filters" | "bots" | "timezone" | "segment">;
}

/** A read by the part of its URL after `/v1/`. */
export type ReadName = keyof ParamsOf;

type Reader<R extends ReadName> = (
  world: World,
  params: ParamsOf[R],
  goals: readonly GoalDefinition[],
) => unknown;

const READERS: { readonly [R in ReadName]: Reader<R> } = {
  kpis: readKpis,
  acquisition: readAcquisition,
  pages: readPages,
  funnels: readFunnel,
  retention: readRetention,
  goals: readGoals,
  trends: readTrends,
  journeys: readJourneys,
  insights: readInsights,
  visits: readVisits,
  actors: readPeople,
  heatmaps: readHeatmap,
  "heatmaps/paths": readHeatmapPaths,
  vitals: readVitals,
  live: readLive,
};

/** What a read answers, less `query`, `asOf` and paging: of its segment, and compared with another. */
export function runRead<R extends ReadName>(
  world: World,
  read: R,
  params: ParamsOf[R],
  goals: readonly GoalDefinition[] = [],
): unknown {
  const readOne = (part: World, asked: ReadParams) =>
    READERS[read](part, asked as ParamsOf[R], goals);
  const shared: ReadParams = params;
  if (compares(read)) return comparedAnswer(world, read, shared, goals, readOne);
  const own = segmented(world, shared, shared.segment, rangeOf(world, shared), goals);
  return readOne(own.world, own.params);
}
