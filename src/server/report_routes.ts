import { type ApiExchange, type Principal, requirePrincipal } from "../auth/access.ts";
import { projectOfQuery } from "../auth/project_of_query.ts";
import { listProjects, type Project } from "../auth/projects.ts";
import type { Sql } from "../db/sql.ts";
import { type DocumentedRoute, KNOWN, NEW_ONLY, type RouteDoc } from "./documented_route.ts";
import { PEOPLE, VISITS } from "./listed_reports.ts";
import type { ProblemCode } from "../problem.ts";
import { ACQUISITION } from "../reports/acquisition/acquisition.ts";
import { FUNNELS, SAVED_FUNNEL } from "../reports/funnels/funnels.ts";
import { GoalBody, GoalShown } from "../reports/saved/goal_definitions.ts";
import { GOALS } from "../reports/goals/goals.ts";
import type { CaptureReading } from "../reports/heatmaps/heatmap_capture.ts";
import { HEATMAP_PATHS } from "../reports/heatmaps/heatmap_paths.ts";
import { createHeatmaps } from "../reports/heatmaps/heatmaps.ts";
import { createInsights } from "../reports/insights/insights.ts";
import { JOURNEYS } from "../reports/journeys/journeys.ts";
import { KPIS } from "../reports/kpis/kpis.ts";
import { LIVE } from "../reports/live/live.ts";
import type { LiveFeed } from "../reports/live/live_feed.ts";
import {
  getOverview,
  OVERVIEW_QUERY,
  OVERVIEW_REPLY,
  OVERVIEW_SEMANTICS,
} from "../reports/overview/overview.ts";
import { PAGES } from "../reports/pages/pages.ts";
import { ImportedShown } from "../reports/imported/imported_span.ts";
import type { Report } from "../reports/answer/report.ts";
import { getReport, READ_QUERY, type ReportServices } from "../reports/answer/report_endpoint.ts";
import { PERSON_TIMELINE } from "../reports/visits/person_timeline.ts";
import { RETENTION } from "../reports/retention/retention.ts";
import { FunnelBody, FunnelShown } from "../reports/funnels/funnel_definition.ts";
import { deleteFunnel, putFunnel } from "../reports/funnels/saved_funnels.ts";
import { deleteGoal, putGoal } from "../reports/goals/saved_goals.ts";
import { SegmentBody, SegmentShown } from "../reports/saved/segment_definitions.ts";
import {
  deleteSegment,
  getSegment,
  getSegments,
  putSegment,
  SEGMENTS_SEMANTICS,
  SegmentsReply,
} from "../reports/segments/saved_segments.ts";
import { TRENDS } from "../reports/trends/trends.ts";
import { VISIT } from "../reports/visits/visit.ts";
import { VITALS } from "../reports/vitals/vitals.ts";
import { replyShown } from "../query/reply_shown.ts";
import { LIST_QUERY, NO_EFFECT } from "../query/without_effect.ts";
import type { LiveShares } from "../shares/live_shares.ts";
import { shareOfRead } from "../shares/share_reading.ts";
import { SHARE_READS } from "../shares/share_views.ts";

export interface ReadRouteServices extends ReportServices {
  /** The database that is written to: unlike a replica, it always has the newest projects and saved reports. */
  readonly database: Sql;
  readonly live: LiveFeed;
  readonly assertHolds: (principal: Principal) => Promise<void>;
  readonly shares: Pick<LiveShares, "find">;
  readonly captureReading: CaptureReading;
}

/** Returns all reports that share the usual parameters and reply. */
const reportsOf = ({ captureReading }: ReadRouteServices): readonly Report[] => [
  KPIS,
  ACQUISITION,
  PAGES,
  FUNNELS,
  SAVED_FUNNEL,
  RETENTION,
  GOALS,
  TRENDS,
  JOURNEYS,
  VISITS,
  VISIT,
  PEOPLE,
  PERSON_TIMELINE,
  VITALS,
  createInsights(captureReading),
  createHeatmaps(captureReading),
  HEATMAP_PATHS,
];

/** The problems of every read of a project's events. */
export const READ_PROBLEMS: readonly ProblemCode[] = [
  "invalid_parameter",
  "project_required",
  "range_too_large",
  "not_found",
  "conflict",
  "read_timeout",
  "damaged_events",
  "overloaded",
];

/** An additional status of saving a definition. */
const MADE = { 201: "It is new" };

function docOf(report: Report): RouteDoc {
  return {
    summary: report.summary,
    semantics: report.semantics,
    query: {
      ...READ_QUERY,
      ...report.compares === "asked" ? {} : { compare: NO_EFFECT },
      ...report.parameters,
    },
    success: {
      status: 200,
      description: "The result, and the parameters as resolved",
      also: KNOWN,
      schema: replyShown(report.reply, {
        imported: ImportedShown.optional(),
        segment: SegmentShown.nullable().meta({
          description: "As `segment` names it; null: none",
        }),
      }),
    },
    problems: [...READ_PROBLEMS, "too_few_visitors"],
  };
}

function routeOf(services: ReadRouteServices, report: Report): DocumentedRoute {
  return {
    method: "GET",
    path: report.path,
    access: report.path in SHARE_READS ? "aggregates" : "read",
    handler: async (exchange) => {
      const project = await projectOfQuery(services.database, exchange);
      const share = await shareOfRead(services.shares, exchange, report.path);
      const limits = share && { filters: share.filters, visitorsMin: share.minimumVisitors };
      return await getReport(services, report, { ...exchange, project, share: limits });
    },
    doc: docOf(report),
  };
}

function liveRoute({ database, live, assertHolds }: ReadRouteServices): DocumentedRoute {
  const doc = docOf(LIVE);
  return {
    method: "GET",
    path: LIVE.path,
    access: "read",
    handler: async (exchange) => {
      const project = await projectOfQuery(database, exchange);
      const principal = requirePrincipal(exchange.who);
      const { expiresAtMs } = principal;
      const terms = { expiresAtMs, assertHolds: () => assertHolds(principal) };
      return await live.answer({ ...exchange, project }, terms);
    },
    doc: {
      ...doc,
      success: { ...doc.success, otherTypes: ["text/event-stream"] },
      problems: [...doc.problems, "too_many_streams"],
    },
  };
}

/** Returns the route of the overview, which shows all projects of a token and takes no project. */
function overviewRoute(services: ReadRouteServices): DocumentedRoute {
  return {
    method: "GET",
    path: "/v1/overview",
    access: "read",
    handler: async (exchange) => {
      const { projects } = requirePrincipal(exchange.who);
      return await getOverview(
        services,
        exchange.request,
        async (id) =>
          id === null
            ? await listProjects(services.database, projects)
            : [await projectOfQuery(services.database, exchange)],
      );
    },
    doc: {
      summary: "Every project that the token may see: visitors now and over the range, and change",
      semantics: OVERVIEW_SEMANTICS,
      query: OVERVIEW_QUERY,
      success: {
        status: 200,
        description: "The projects, and the parameters as resolved",
        also: KNOWN,
        schema: replyShown(OVERVIEW_REPLY),
      },
      problems: [
        "invalid_parameter",
        "range_too_large",
        "read_timeout",
        "damaged_events",
        "overloaded",
        "not_found",
      ],
    },
  };
}

type Save = (
  services: { sql: Sql },
  project: Project,
  exchange: ApiExchange,
) => Promise<Response>;

function savingRoute(
  { database }: ReadRouteServices,
  path: string,
  method: "PUT" | "DELETE",
  save: Save,
  doc: Omit<RouteDoc, "problems" | "query">,
): DocumentedRoute {
  const isPut = method === "PUT";
  const ofPut: readonly ProblemCode[] = isPut ? ["already_exists", "invalid_parameter"] : [];
  return {
    method,
    path,
    access: "write",
    handler: async (exchange) =>
      await save({ sql: database }, await projectOfQuery(database, exchange), exchange),
    doc: {
      ...doc,
      query: { project: READ_QUERY.project! },
      ...isPut && { headers: NEW_ONLY },
      problems: ["project_required", "not_found", "conflict", ...ofPut],
    },
  };
}

const GONE = { status: 204, description: "Deleted" };

/** Returns the routes of saved segments, which the parameter `segment` of every read names. */
function segmentRoutes(services: ReadRouteServices): DocumentedRoute[] {
  const { database, now } = services;
  const problems: readonly ProblemCode[] = ["project_required", "not_found"];
  const query = { project: READ_QUERY.project! };
  const path = "/v1/segments/:slug";
  return [
    {
      method: "GET",
      path: "/v1/segments",
      access: "read",
      handler: async (exchange) =>
        await getSegments(
          { sql: database, now },
          await projectOfQuery(database, exchange),
          exchange,
        ),
      doc: {
        summary: "The saved segments: people, events and sessions that reads can be asked about",
        query: LIST_QUERY,
        semantics: SEGMENTS_SEMANTICS,
        success: { status: 200, description: "The segments", also: KNOWN, schema: SegmentsReply },
        problems: [...problems, "invalid_parameter"],
      },
    },
    {
      method: "GET",
      path,
      access: "read",
      handler: async (exchange) =>
        await getSegment(database, await projectOfQuery(database, exchange), exchange.params),
      doc: {
        summary: "A saved segment",
        query,
        success: { status: 200, description: "The segment", schema: SegmentShown },
        problems,
      },
    },
    savingRoute(services, path, "PUT", putSegment, {
      summary: "Save a segment, which applies to history too; 201 where it is new",
      body: SegmentBody,
      success: { status: 200, description: "The segment", schema: SegmentShown, also: MADE },
    }),
    savingRoute(services, path, "DELETE", deleteSegment, {
      summary: "Delete a segment",
      success: GONE,
    }),
  ];
}

/** Returns the routes of all reports and of their saved definitions. */
export function reportRoutes(services: ReadRouteServices): DocumentedRoute[] {
  return [
    ...reportsOf(services).map((report) => routeOf(services, report)),
    liveRoute(services),
    overviewRoute(services),
    savingRoute(services, "/v1/funnels/:slug", "PUT", putFunnel, {
      summary: "Save a funnel; 201 where it is new",
      body: FunnelBody,
      success: { status: 200, description: "The saved funnel", schema: FunnelShown, also: MADE },
    }),
    savingRoute(services, "/v1/funnels/:slug", "DELETE", deleteFunnel, {
      summary: "Delete a saved funnel",
      success: GONE,
    }),
    savingRoute(services, "/v1/goals/:slug", "PUT", putGoal, {
      summary: "Save a goal, which applies to history too; 201 where it is new",
      body: GoalBody,
      success: { status: 200, description: "The goal", schema: GoalShown, also: MADE },
    }),
    savingRoute(services, "/v1/goals/:slug", "DELETE", deleteGoal, {
      summary: "Delete a goal; 409 where a segment asks for it",
      success: GONE,
    }),
    ...segmentRoutes(services),
  ];
}
