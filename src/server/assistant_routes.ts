import manifest from "../../deno.json" with { type: "json" };
import { createMcpEndpoint, McpMessage } from "../assistants/mcp_endpoint.ts";
import { type DocumentedRead, type Tool, toolOf } from "../assistants/tools.ts";
import type { Authorize } from "../auth/access.ts";
import type { RequestFacts } from "../auth/people/signed_in.ts";
import type { MoveState } from "../archive/move_state.ts";
import type { Config } from "../config/config.ts";
import type { DocumentedRoute } from "./documented_route.ts";
import { behindOf } from "./listed_reports.ts";
import { guarded } from "./guarded_access.ts";
import { createCors } from "../http/cors.ts";
import type { Log } from "../http/log.ts";
import { createRouter } from "../http/router.ts";
import type { Metrics } from "./metrics.ts";

export interface AssistantRouteServices {
  readonly config: Config;
  readonly log: Log;
  readonly state: { readonly prepared: boolean; readonly draining: boolean };
  readonly move: MoveState | null;
  readonly authorize: Authorize;
  readonly metrics: Pick<Metrics, "request">;
  readonly facts: Pick<RequestFacts, "ownAddress">;
}

/** Reads that are no tools, because they list what grants access. */
const NO_QUESTIONS: readonly string[] = ["/v1/tokens"];

/** Whether a route is a read that assistants may use as a tool; this includes every new read by default. */
function isQuestion({ method, path, access, doc }: DocumentedRoute): boolean {
  if (method !== "GET" || NO_QUESTIONS.includes(path)) return false;
  const { contentType = "application/json" } = doc.success;
  const isRead = access === "read" || access === "aggregates" || path === "/v1/session";
  return isRead && contentType === "application/json";
}

function documentedRead({ path, doc }: DocumentedRoute): DocumentedRead {
  const { summary, semantics = null, query = {} } = doc;
  return { path, summary, semantics, parameters: query, behind: behindOf(path) };
}

/** Makes a function that answers reads in this process, through a router like that of other requests. */
function createReader(services: AssistantRouteServices, reads: readonly DocumentedRoute[]) {
  const { config, log, metrics } = services;
  return createRouter(reads, {
    basePath: config.basePath,
    cors: createCors([]),
    log,
    authorize: guarded(services.authorize, services.state, services),
    observe: (route, method, status, seconds) => metrics.request(route, method, status, seconds),
  });
}

/** `POST /mcp`: offers the reads among `routes` to assistants. */
export function assistantRoute(
  services: AssistantRouteServices,
  routes: readonly DocumentedRoute[],
): DocumentedRoute {
  const { config, facts } = services;
  const reads = routes.filter(isQuestion);
  const reader = createReader(services, reads);
  let tools: readonly Tool[] | undefined;
  const own = config.publicUrl === null ? [] : [new URL(config.publicUrl).origin];
  const answer = createMcpEndpoint({
    tools: () => tools ??= reads.map((route) => toolOf(documentedRead(route))),
    read: (address, { request, peer, requestId }) => {
      const headers = {
        "Authorization": request.headers.get("authorization") ?? "",
        "X-Request-Id": requestId,
      };
      const url = `http://footfall${config.basePath}${address}`;
      return reader(new Request(url, { headers, signal: request.signal }), peer);
    },
    ownUrl: ({ request, peer }) => facts.ownAddress(request, peer).url,
    origins: [...own, ...config.corsAllowedOrigins],
    version: manifest.version,
  });
  return {
    method: "POST",
    path: "/mcp",
    access: "read",
    forOthers: true,
    handler: answer,
    doc: {
      summary: "The reads for assistants: Model Context Protocol, streamable HTTP, no sessions",
      body: McpMessage,
      success: {
        status: 200,
        description: "The answer to a message",
        also: {
          202: { description: "The message needs no answer", contentType: null },
          400: "An error of the protocol, for what is no message of it.",
          406: "An error of the protocol, for callers who do not accept its two media types.",
        },
      },
      problems: ["foreign_origin"],
    },
  };
}
