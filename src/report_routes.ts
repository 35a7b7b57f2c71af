import { z } from "zod";
import { projectOfQuery } from "./auth/project_of_query.ts";
import type { DocumentedRoute } from "./documented_route.ts";
import type { ProblemCode } from "./problem.ts";
import type { Report } from "./reports/report.ts";
import { getReport, READ_QUERY, type ReportServices } from "./reports/report_endpoint.ts";

/** Every report that is offered. */
const REPORTS: readonly Report[] = [];

const PROBLEMS: readonly ProblemCode[] = [
  "invalid_parameter",
  "project_required",
  "range_too_large",
  "not_found",
  "read_timeout",
];

function routeOf(services: ReportServices, report: Report): DocumentedRoute {
  return {
    method: "GET",
    path: report.path,
    access: "read",
    handler: async (exchange) => {
      const project = await projectOfQuery(services.reads, exchange);
      return await getReport(services, report, { ...exchange, project });
    },
    doc: {
      summary: report.summary,
      query: { ...READ_QUERY, ...report.parameters },
      success: {
        status: 200,
        description: "The result, and the parameters as resolved",
        schema: z.object({
          query: z.record(z.string(), z.unknown()),
          asOf: z.iso.datetime(),
          ...report.reply,
        }),
      },
      problems: PROBLEMS,
    },
  };
}

/** The routes of all reports. */
export function reportRoutes(services: ReportServices): DocumentedRoute[] {
  return REPORTS.map((report) => routeOf(services, report));
}
