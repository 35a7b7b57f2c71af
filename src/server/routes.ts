import manifest from "../../deno.json" with { type: "json" };
import { recordExport } from "../audit/recorded_anyway.ts";
import { accessRoutes } from "./access_routes.ts";
import { actorRoutes } from "./actor_routes.ts";
import { assistantRoute } from "./assistant_routes.ts";
import { archiveRoutes, moveRoutes } from "./archive_routes.ts";
import type { MoveState } from "../archive/move_state.ts";
import type { ApiExchange, Authorize, Principal } from "../auth/access.ts";
import type { KeyDirectory } from "../auth/keys.ts";
import type { LongReplies } from "../auth/long_replies.ts";
import type { LiveApiTokens } from "../auth/api_tokens/live_api_tokens.ts";
import type { LiveSessions } from "../auth/people/live_sessions.ts";
import type { PeopleServices } from "../auth/people/sign_in_endpoints.ts";
import type { RequestFacts } from "../auth/people/signed_in.ts";
import { askedBy } from "../auth/audited.ts";
import { projectOfQuery } from "../auth/project_of_query.ts";
import { projectName } from "../auth/projects.ts";
import type { TokenEpochs } from "../auth/token_epochs.ts";
import type { Tokens } from "../auth/tokens.ts";
import { captureRoutes } from "./capture_routes.ts";
import type { CaptureJobs } from "../screenshots/queue/capture_job_endpoints.ts";
import { clientRoutes } from "./client_routes.ts";
import type { Config } from "../config/config.ts";
import { createDashboard, type DashboardAsset } from "./dashboard_endpoints.ts";
import type { Database } from "../db/sql.ts";
import { type DocumentedRoute, KNOWN, type RouteDoc } from "./documented_route.ts";
import { getHealth, getMetrics, getReadiness } from "./health_endpoints.ts";
import type { SegmentCache } from "../timelines/segment_cache.ts";
import type { BodyBudget } from "../http/body_budget.ts";
import type { Log } from "../http/log.ts";
import type { RateLimit } from "../http/rate_limit.ts";
import { IngestReply, type Taken } from "../ingest/event_schema.ts";
import { IngestBody, ingestEvents } from "../ingest/ingest_endpoint.ts";
import type { Enrichment } from "../ingest/pipeline.ts";
import type { Salts } from "../ingest/salts.ts";
import type { Writer } from "../ingest/writer.ts";
import type { Mail } from "../mail/mail.ts";
import type { Metrics } from "./metrics.ts";
import { importRoutes } from "./import_routes.ts";
import { importedRoutes } from "./imported_routes.ts";
import { noteRoutes } from "./note_routes.ts";
import { createOpenApi } from "./openapi.ts";
import { peopleRoutes } from "./people_routes.ts";
import type { ProblemCode } from "../problem.ts";
import { READ_PROBLEMS, reportRoutes } from "./report_routes.ts";
import type { ScanPool } from "../scans/scan_pool.ts";
import {
  EVENT_QUERY,
  EVENT_SEMANTICS,
  EventsReply,
  getEvents,
} from "../reports/events/events_endpoint.ts";
import { ExportSeats } from "../reports/events/export_seats.ts";
import type { CaptureReading } from "../reports/heatmaps/heatmap_capture.ts";
import type { LiveFeed } from "../reports/live/live_feed.ts";
import type { ActorServices } from "../reports/people/actors.ts";
import { signInRoutes, type SignInServices } from "./sign_in_routes.ts";
import { createPlausibleScript, createPosthogScript, createSdkFile } from "./sdk_endpoints.ts";
import type { LiveShares } from "../shares/live_shares.ts";
import { shareRoutes } from "./share_routes.ts";
import type { Notifications } from "../notifications/notifications.ts";
import { notificationRoutes } from "./notification_routes.ts";
import type { Projection } from "../projection/projection.ts";
import type { Replica } from "../reports/answer/replica.ts";

/** The services of all handlers, made once by the composition root. */
export interface Services {
  readonly config: Config;
  readonly log: Log;
  readonly database: Database;
  /** The database that answers reads: the replica if one is configured. */
  readonly reads: Database;
  /** Null: none is configured. */
  readonly replica: Replica | null;
  readonly state: { readonly prepared: boolean; readonly draining: boolean };
  /** The move of the embedded database; null: on PostgreSQL. */
  readonly move: MoveState | null;
  readonly salts: Salts;
  readonly budget: BodyBudget;
  readonly writer: Writer;
  readonly metrics: Metrics;
  readonly tokens: Tokens;
  readonly epochs: TokenEpochs;
  readonly liveSessions: LiveSessions;
  readonly longReplies: LongReplies;
  /** Null: no mail server is configured. */
  readonly mail: Mail | null;
  readonly liveApiTokens: LiveApiTokens;
  readonly facts: RequestFacts;
  readonly signInWays: PeopleServices["signInWays"];
  /** Checks that an accepted token is still valid. Throws the refusal if not. */
  readonly assertHolds: (principal: Principal) => Promise<void>;
  readonly oidc: SignInServices["oidc"];
  readonly sealer: SignInServices["sealer"];
  readonly authorize: Authorize;
  readonly peerOf: (exchange: ApiExchange) => Promise<string | null>;
  readonly keys: KeyDirectory;
  readonly enrichment: Enrichment;
  readonly rateLimit: RateLimit | null;
  readonly clientAddress: (peer: string | null, headers: Headers) => string | null;
  /** Whether a request may read the metrics, by its origin or its token. */
  readonly mayReadMetrics: (peer: string | null, headers: Headers) => boolean;
  readonly now: () => number;
  readonly segments: SegmentCache;
  readonly pool: ScanPool;
  readonly projection: Projection;
  /** Moves those events of a person, named by an id, that an unfinished upgrade has not moved yet. */
  readonly movePerson: ActorServices["movePerson"];
  /**
   * Erases one actor of a project, and runs `also` in the same transaction. @returns the number of erased
   * events
   */
  readonly erase: ActorServices["erase"];
  readonly live: LiveFeed;
  readonly shares: LiveShares;
  readonly captureJobs: CaptureJobs;
  readonly captureReading: CaptureReading;
  readonly notifications: Notifications;
}

const INGEST_PROBLEMS: readonly ProblemCode[] = [
  "invalid_json",
  "invalid_encoding",
  "invalid_envelope",
  "invalid_events",
  "missing_api_key",
  "invalid_api_key",
  "revoked_api_key",
  "expired_api_key",
  "origin_not_allowed",
  "no_visit",
  "key_not_allowed_here",
  "body_timeout",
  "body_too_large",
  "too_many_events",
  "unsupported_media_type",
  "unsupported_encoding",
  "rate_limited",
  "overloaded",
];

/** Returns the services of `POST /v1/events` and of the routes for clients of other products. */
function ingestServicesOf(services: Services) {
  return {
    ...services,
    ipStorage: services.config.ipStorage,
    observe: (taken: Taken) => services.metrics.batch(taken),
    ownAddress: services.facts.ownAddress,
  };
}

function publicRoutes(services: Services): DocumentedRoute[] {
  const ingestion = ingestServicesOf(services);
  return [
    {
      method: "POST",
      path: "/v1/events",
      access: "key",
      handler: (exchange) => ingestEvents(ingestion, exchange),
      doc: {
        summary: "Store a batch of events, each exactly once",
        body: IngestBody,
        bodyTypes: ["application/json", "text/plain"],
        query: { key: "A public API key, where the X-API-Key header cannot be sent" },
        success: { status: 200, description: "The batch is committed", schema: IngestReply },
        problems: INGEST_PROBLEMS,
      },
    },
    {
      method: "GET",
      path: "/healthz",
      access: "open",
      handler: getHealth,
      doc: { summary: "The process is alive", success: page("application/json"), problems: [] },
    },
    {
      method: "GET",
      path: "/readyz",
      access: "open",
      handler: () => getReadiness(services),
      doc: {
        summary: "Whether to send traffic here; `degraded`: not everything works; 503: not now",
        success: {
          ...page("application/json"),
          also: { 503: "Not now; `checks` says why" },
        },
        problems: [],
      },
    },
    {
      method: "GET",
      path: "/metrics",
      access: "open",
      handler: (exchange) => getMetrics(services, exchange),
      doc: {
        summary: "Prometheus metrics, for this machine, TRUSTED_PROXIES and METRICS_TOKEN",
        success: page("text/plain"),
        problems: ["address_not_allowed"],
        takesMetricsToken: true,
      },
    },
  ];
}

const SDK_FILES = [
  ["sdk.js", "text/javascript", "The browser SDK, for a script tag"],
  ["sdk.mjs", "text/javascript", "The SDK as a module"],
  ["sdk.d.ts", "application/typescript", "Types of the module"],
  ["sdk-vitals.js", "text/javascript", "Web vitals, beside the SDK: for a script tag or an import"],
  [
    "script.js",
    "text/javascript",
    "The SDK for pages of Umami and Plausible, with their functions",
  ],
] as const;

function sdkRoutes(): DocumentedRoute[] {
  const files = SDK_FILES.map(([name, contentType, summary]): DocumentedRoute => ({
    method: "GET",
    path: `/${name}`,
    access: "open",
    forOthers: true,
    handler: createSdkFile(name),
    doc: { summary, success: ownFile(contentType), problems: ["not_found"] },
  }));
  const plausible: DocumentedRoute = {
    method: "GET",
    path: "/js/:file",
    access: "open",
    forOthers: true,
    handler: createPlausibleScript(),
    doc: {
      summary:
        "The same by the names of Plausible's: script.js, script.tagged-events.js and others",
      success: ownFile("text/javascript"),
      problems: ["not_found"],
    },
  };
  const posthog = [
    ["/static/:file", createPosthogScript()],
    ["/array/:key/array.js", createSdkFile("array.js")],
  ] as const;
  const scripts = posthog.map(([path, handler]): DocumentedRoute => ({
    method: "GET",
    path,
    access: "open",
    forOthers: true,
    handler,
    doc: {
      summary: "The SDK for pages with PostHog's snippet, with its functions: array.js",
      success: ownFile("text/javascript"),
      problems: ["not_found"],
    },
  }));
  return [...files, plausible, ...scripts];
}

const DASHBOARD_ASSETS: readonly (readonly [DashboardAsset, string, string])[] = [
  ["app.js", "text/javascript", "The dashboard's program"],
  ["app.css", "text/css", "The dashboard's style"],
];

function dashboardRoutes(services: Services): DocumentedRoute[] {
  const dashboard = createDashboard(services.config);
  return [
    {
      method: "GET",
      path: "/",
      access: "open",
      handler: dashboard.page,
      doc: { summary: "The dashboard", success: ownFile("text/html"), problems: ["not_found"] },
    },
    ...DASHBOARD_ASSETS.map(([name, contentType, summary]): DocumentedRoute => ({
      method: "GET",
      path: `/assets/${name}`,
      access: "open",
      handler: dashboard.asset(name),
      doc: { summary, success: ownFile(contentType), problems: ["not_found"] },
    })),
    {
      method: "GET",
      path: "/assets/:part",
      access: "open",
      handler: dashboard.part,
      doc: {
        summary: "A part of the dashboard's program, loaded on demand",
        success: ownFile("text/javascript"),
        problems: ["not_found"],
      },
    },
    ...shareRoutes(
      { ...services, sql: services.database, ownAddress: services.facts.ownAddress },
      dashboard.shared,
    ),
  ];
}

function page(contentType: string): RouteDoc["success"] {
  return { status: 200, description: "As it is now", contentType };
}

/** Describes a file of the server's own, which is answered with 304 to callers who have it. */
function ownFile(contentType: string): RouteDoc["success"] {
  return { ...page(contentType), also: KNOWN };
}

function reportServicesOf(services: Services) {
  return { ...services, readTimeoutMs: services.config.readTimeoutMs };
}

function readRoutes(services: Services): DocumentedRoute[] {
  const reports = reportServicesOf(services);
  const exports = new ExportSeats();
  return [
    {
      method: "GET",
      path: "/v1/events",
      access: "read",
      handler: async (exchange) => {
        const project = await projectOfQuery(services.database, exchange);
        const reply = await getEvents({ ...reports, project, exports }, exchange);
        if (!reply.headers.get("content-type")?.includes("ndjson")) return reply;
        await recordExport({ sql: services.database, log: services.log }, exchange.request, {
          ...askedBy(services, exchange),
          what: "events.export",
          subject: projectName(project),
          projectId: project.projectId,
        });
        return services.longReplies.watched(exchange, reply);
      },
      doc: {
        summary: "Stored events, newest first; NDJSON with Accept: application/x-ndjson",
        semantics: EVENT_SEMANTICS,
        query: EVENT_QUERY,
        success: {
          status: 200,
          description: "A page of events",
          schema: EventsReply,
          otherTypes: ["application/x-ndjson"],
          also: KNOWN,
        },
        problems: [...READ_PROBLEMS, "cursor_expired"],
      },
    },
    ...reportRoutes(reports),
  ];
}

/** Returns all routes of the server. */
export function createRoutes(services: Services): DocumentedRoute[] {
  const routes = [
    ...publicRoutes(services),
    ...clientRoutes(ingestServicesOf(services)),
    ...sdkRoutes(),
    ...dashboardRoutes(services),
    ...readRoutes(services),
    ...accessRoutes({ ...services, sql: services.database }),
    ...importedRoutes({ ...services, sql: services.database }),
    ...noteRoutes({ ...services, sql: services.database }),
    ...peopleRoutes({ ...services, sql: services.database }),
    ...signInRoutes({ ...services, sql: services.database }),
    ...notificationRoutes({
      ...services,
      sql: services.database,
      hasMail: services.mail !== null,
      ownAddress: services.facts.ownAddress,
    }),
    ...actorRoutes(services),
    ...importRoutes({
      ...services,
      ipStorage: services.config.ipStorage,
      observe: (outcome) => services.metrics.batch(outcome),
    }),
    ...archiveRoutes({ ...services, footfall: manifest.version }),
    ...moveRoutes(services),
    ...captureRoutes(reportServicesOf(services)),
  ];
  const assistants = assistantRoute(services, routes);
  const document: DocumentedRoute = {
    method: "GET",
    path: "/v1/openapi.json",
    access: "open",
    handler: (exchange) => openApi(exchange),
    doc: {
      summary: "This document",
      success: { ...page("application/json"), also: KNOWN },
      problems: [],
    },
  };
  const openApi = createOpenApi([...routes, assistants, document], services.config.basePath);
  return [...routes, assistants, document];
}
