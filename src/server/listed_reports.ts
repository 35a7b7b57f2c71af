import { ACQUISITION_BEHIND } from "../reports/acquisition/acquisition.ts";
import type { NumberedRead } from "../reports/behind/behind.ts";
import { FUNNEL_PEOPLE } from "../reports/funnels/funnel_people.ts";
import { HEATMAP_PEOPLE } from "../reports/heatmaps/heatmaps.ts";
import { JOURNEY_BEHIND_NODES } from "../reports/journeys/journeys.ts";
import { KPI_BEHIND } from "../reports/kpis/kpis.ts";
import { LIVE_VISITORS } from "../reports/live/live.ts";
import type { Report } from "../reports/answer/report.ts";
import { COHORT_PEOPLE } from "../reports/retention/retention.ts";
import { createPeople } from "../reports/visits/people.ts";
import { createVisits } from "../reports/visits/visits.ts";

/** The reads that can list the people behind each of their numbers. */
const NUMBERED: readonly NumberedRead[] = [
  ACQUISITION_BEHIND,
  COHORT_PEOPLE,
  FUNNEL_PEOPLE,
  HEATMAP_PEOPLE,
  JOURNEY_BEHIND_NODES,
  KPI_BEHIND,
  LIVE_VISITORS,
];

/** The filters by which the lists show the people behind the numbers of other reads. */
const FILTERED: Readonly<Record<string, string>> = {
  "/v1/pages": "name is page_view and path is the row's; of entries entryPath, of exits exitPath",
  "/v1/goals": "the goal's match",
  "/v1/trends": "the event's match, and of a line its value",
  "/v1/vitals": "name is $web_vitals, the row's value, and such as properties.lcp gt 4000",
  "/v1/heatmaps/paths": "name is page_view or click, and path is the row's",
  "/v1/insights": "those of the finding's drilldown, which has its range too",
};

/** Describes how to list the people that the numbers of a read count; null: it counts no people. */
export function behindOf(path: string): string | null {
  const filters = FILTERED[path];
  if (filters !== undefined) return `with \`filters\` too: ${filters}`;
  const numbered = NUMBERED.find(({ name }) => path === `/v1/${name}`);
  if (numbered === undefined) return null;
  const plain = path === "/v1/kpis" ? "as it stands (visitors, sessions) or " : "";
  return `${plain}with \`of\`: {"read":"${numbered.name}", its own parameters, "place": which number, as \`of\` tells}`;
}

export const VISITS: Report = createVisits(NUMBERED);
export const PEOPLE: Report = createPeople(NUMBERED);
