import { ACQUISITION } from "../../src/reports/acquisition/acquisition.ts";
import { EVENT_QUERY } from "../../src/reports/events/events_endpoint.ts";
import { FUNNELS, SAVED_FUNNEL } from "../../src/reports/funnels/funnels.ts";
import { GOALS } from "../../src/reports/goals/goals.ts";
import { HEATMAP_PATHS } from "../../src/reports/heatmaps/heatmap_paths.ts";
import { createHeatmaps } from "../../src/reports/heatmaps/heatmaps.ts";
import { INSIGHTS } from "../../src/reports/insights/insights.ts";
import { JOURNEYS } from "../../src/reports/journeys/journeys.ts";
import { KPIS } from "../../src/reports/kpis/kpis.ts";
import { LIVE } from "../../src/reports/live/live.ts";
import { PAGES } from "../../src/reports/pages/pages.ts";
import type { Report } from "../../src/reports/report.ts";
import { READ_QUERY } from "../../src/reports/report_endpoint.ts";
import { RETENTION } from "../../src/reports/retention/retention.ts";
import { TRENDS } from "../../src/reports/trends/trends.ts";

/** A `GET` that reads a project's numbers, and what makes a good request of it. */
export interface Endpoint {
  /** As in the OpenAPI document. */
  readonly documented: string;
  /** As asked; what `:slug` stands for is saved. */
  readonly path: string;
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

function endpointOf(report: Report, required = {}): Endpoint {
  const { path, parameters } = report;
  return {
    report,
    documented: path.replace(":slug", "{slug}"),
    path: path.replace(":slug", SAVED),
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
  endpointOf(INSIGHTS),
  endpointOf(createHeatmaps({ basePath: "", nextRunMs: () => null }), { path: "/" }),
  endpointOf(HEATMAP_PATHS),
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
