import { ACQUISITION } from "../../src/reports/acquisition/acquisition.ts";
import { EVENT_QUERY } from "../../src/reports/events/events_endpoint.ts";
import { FUNNELS, SAVED_FUNNEL } from "../../src/reports/funnels/funnels.ts";
import { GOALS } from "../../src/reports/goals/goals.ts";
import { HEATMAP_PATHS } from "../../src/reports/heatmaps/heatmap_paths.ts";
import { createHeatmaps } from "../../src/reports/heatmaps/heatmaps.ts";
import { createInsights } from "../../src/reports/insights/insights.ts";
import { JOURNEYS } from "../../src/reports/journeys/journeys.ts";
import { KPIS } from "../../src/reports/kpis/kpis.ts";
import { LIVE } from "../../src/reports/live/live.ts";
import { PAGES } from "../../src/reports/pages/pages.ts";
import { PERSON_TIMELINE } from "../../src/reports/visits/person_timeline.ts";
import type { Report } from "../../src/reports/answer/report.ts";
import { READ_QUERY } from "../../src/reports/answer/report_endpoint.ts";
import { RETENTION } from "../../src/reports/retention/retention.ts";
import { TRENDS } from "../../src/reports/trends/trends.ts";
import { VISIT } from "../../src/reports/visits/visit.ts";
import { visitId } from "../../src/reports/visits/visit_id.ts";
import { PEOPLE, VISITS } from "../../src/server/listed_reports.ts";
import { VITALS } from "../../src/reports/vitals/vitals.ts";

/** A `GET` that reads a project's numbers, and what makes a good request of it. */
export interface Endpoint {
  /** As in the OpenAPI document. */
  readonly documented: string;
  /** As asked; what `:slug` stands for is saved. */
  readonly path: string;
  /** What its path names: a slug, or an id. */
  readonly named?: Readonly<Record<string, string>>;
  /** Names of all the parameters that it takes. */
  readonly parameters: readonly string[];
  /** Without these there is nothing to answer. */
  readonly required: Readonly<Record<string, string>>;
  /** Absent where the endpoint is none of the reports. */
  readonly report?: Report;
}

/** What each test project has saved. */
export const SAVED = "saved";

export const STEPS = JSON.stringify([{ name: "page_view" }, { name: "buy" }]);

/** An event that each test project that is asked about has, so that it has a visit that is known by its id. */
export const FIRST_EVENT = {
  eventId: "0190a000-0000-7000-8000-000000000001",
  timestamp: new Date().toISOString(),
  anonymousId: "a",
};
const FIRST_VISIT = visitId({
  ms: Date.parse(FIRST_EVENT.timestamp),
  entryId: FIRST_EVENT.eventId,
});

function endpointOf(report: Report, required = {}, id = ""): Endpoint {
  const { path, parameters } = report;
  return {
    report,
    documented: path.replace(":slug", "{slug}").replace(":id", "{id}"),
    path: path.replace(":slug", SAVED).replace(":id", id),
    named: {
      ...path.includes(":slug") ? { slug: SAVED } : {},
      ...path.includes(":id") ? { id } : {},
    },
    parameters: [...new Set([...Object.keys(READ_QUERY), ...Object.keys(parameters)])],
    required,
  };
}

export const ENDPOINTS: readonly Endpoint[] = [
  endpointOf(KPIS),
  endpointOf(ACQUISITION),
  endpointOf(PAGES),
  endpointOf(FUNNELS, { steps: STEPS }),
  endpointOf(SAVED_FUNNEL),
  endpointOf(RETENTION),
  endpointOf(GOALS),
  endpointOf(TRENDS),
  endpointOf(JOURNEYS),
  endpointOf(VISITS),
  endpointOf(VISIT, {}, FIRST_VISIT),
  endpointOf(PEOPLE),
  endpointOf(PERSON_TIMELINE, {}, FIRST_EVENT.anonymousId),
  endpointOf(createInsights({ basePath: "" })),
  endpointOf(createHeatmaps({ basePath: "", nextRunMs: () => null }), { path: "/" }),
  endpointOf(HEATMAP_PATHS),
  endpointOf(VITALS),
  endpointOf(LIVE),
  {
    documented: "/v1/events",
    path: "/v1/events",
    parameters: Object.keys(EVENT_QUERY),
    required: {},
  },
];

export function endpoint(path: string): Endpoint {
  const found = ENDPOINTS.find((one) => one.documented === path);
  if (found === undefined) throw new Error(`no such endpoint: ${path}`);
  return found;
}
