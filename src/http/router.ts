import { unavailability } from "../db/refusal.ts";
import { Problem, retryable } from "../problem.ts";
import { ClientGone } from "./client_gone.ts";
import type { Cors } from "./cors.ts";
import type { Log } from "./log.ts";
import { addCommonHeaders, problemReply } from "./reply.ts";
import { addressBelow } from "./request_address.ts";
import { noteAllowed } from "./still_allowed.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A request, as a handler sees it. `Who` is the result of the route's access check. */
export interface Exchange<Who> {
  readonly request: Request;
  readonly url: URL;
  /** The named segments of the route's path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** The socket's peer, whatever proxy headers say. */
  readonly peer: string | null;
  readonly who: Who;
}

/** One route. Handlers parse, call and reply, and do not catch errors. */
export interface Route<Access, Who> {
  readonly method: Method;
  /** Like `/v1/projects/:id`: segments that start with a colon are parameters. */
  readonly path: string;
  readonly access: Access;
  readonly handler: (exchange: Exchange<Who>) => Response | Promise<Response>;
  /**
   * Whether programs of other makers call it from web pages, with headers of their own; absent: pages may
   * call only paths below `/v1/` and those of the SDK, with the usual headers.
   */
  readonly forOthers?: boolean;
  /** Makes the reply to a problem in the format that the route's callers read; absent: problem+json. */
  readonly refuse?: (problem: Problem) => Response;
}

export interface RouterOptions<Access, Who> {
  readonly basePath: string;
  readonly cors: Cors;
  readonly log: Log;
  readonly authorize: (access: Access, request: Request, peer: string | null) => Promise<Who>;
  /**
   * Called once per reply; `route` is the pattern and not the path, which keeps the number of metrics small.
   */
  readonly observe: (route: string, method: string, status: number, seconds: number) => void;
}

type Handle = (request: Request, peer: string | null) => Promise<Response>;

interface Match<Access, Who> {
  readonly path: string;
  readonly params: Record<string, string>;
  readonly routes: readonly Route<Access, Who>[];
}

const SANE_REQUEST_ID = /^[A-Za-z0-9._:+/=-]{1,128}$/;
const ANY_METHOD = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
const METHODS: ReadonlySet<string> = new Set(ANY_METHOD.split(", "));

/** Groups the routes by path: fixed paths in a map, and the few with parameters in a list. */
function compile<Access, Who>(routes: readonly Route<Access, Who>[]) {
  const isNamed = ({ path }: Route<Access, Who>) => path.includes(":");
  const fixed = Map.groupBy(routes.filter((route) => !isNamed(route)), ({ path }) => path);
  const named = Map.groupBy(routes.filter(isNamed), ({ path }) => path);
  const patterns = [...named].map(([path, group]) => ({
    path,
    group,
    expression: new RegExp(`^${path.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`),
  }));

  return (path: string): Match<Access, Who> | null => {
    const group = fixed.get(path);
    if (group !== undefined) return { path, params: {}, routes: group };
    for (const pattern of patterns) {
      const found = pattern.expression.exec(path);
      if (found === null) continue;
      const params = decodeParams(found.groups ?? {});
      if (params !== null) return { path: pattern.path, params, routes: pattern.group };
    }
    return null;
  };
}

function decodeParams(raw: Record<string, string>): Record<string, string> | null {
  try {
    return Object.fromEntries(Object.entries(raw).map(([k, v]) => [k, decodeURIComponent(v)]));
  } catch {
    return null;
  }
}

function allowOf(methods: readonly string[]): string {
  const names = new Set(methods);
  if (names.has("GET")) names.add("HEAD");
  names.add("OPTIONS");
  return [...names].join(", ");
}

/** Returns the problem to reply with after a handler threw. Unexpected errors are logged and become a 500. */
function asProblem(error: unknown, log: Log, requestId: string): Problem {
  if (error instanceof Problem) {
    const { cause } = error.options;
    if (error.status >= 500 && cause !== undefined) {
      log.warn(error.code, { requestId, reason: cause instanceof Error ? cause.message : "" });
    }
    return error;
  }
  const unavailable = unavailability(error);
  if (unavailable !== null) {
    log.warn("database unavailable", { requestId, reason: unavailable.message });
    return retryable("database_unavailable", unavailable.detail);
  }
  log.error("unexpected failure", {
    requestId,
    reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  return new Problem("internal_error", "The server made a mistake; its log has the request id.");
}

/** Adds the headers of the problem to a route's own reply to it. */
function refusal(reply: Response, { options }: Problem): Response {
  for (const [name, value] of Object.entries(options.headers ?? {})) reply.headers.set(name, value);
  return reply;
}

/** Adds the base path to a reply's `Location`: handlers write it without, even if a proxy removes it from requests. */
function placedBelow(basePath: string, response: Response): Response {
  const location = basePath === "" ? null : response.headers.get("location");
  if (location?.startsWith("/")) response.headers.set("Location", basePath + location);
  return response;
}

function invalidHost(): Problem {
  return new Problem("invalid_host", "Send the server's name, and its port if any, as Host.");
}

/** Returns the route for the method. Throws `not_found`, `method_not_allowed`. */
function routeFor<Access, Who>(
  found: Match<Access, Who> | null,
  { method, path }: { readonly method: string; readonly path: string },
): Route<Access, Who> {
  if (found === null) {
    throw new Problem("not_found", `No endpoint has the path ${path.slice(0, 200)}.`);
  }
  const wanted = method === "HEAD" ? "GET" : method;
  const route = found.routes.find((candidate) => candidate.method === wanted);
  if (route !== undefined) return route;
  const allow = allowOf(found.routes.map((candidate) => candidate.method));
  throw new Problem("method_not_allowed", `This path takes ${allow}.`, {
    headers: { "Allow": allow },
  });
}

/** Returns the caller. Throws what the access check throws; notes the check, to be repeated after a long body. */
async function allowed<Access, Who>(
  { authorize }: Pick<RouterOptions<Access, Who>, "authorize">,
  access: Access,
  request: Request,
  peer: string | null,
): Promise<Who> {
  const check = () => authorize(access, request, peer);
  const who = await check();
  if (who !== null && request.body !== null) noteAllowed(request, check);
  return who;
}

/**
 * Makes the router: request id, base path, match, access, handler, problem replies, CORS.
 * `HEAD` works wherever `GET` does. Every reply of a `/v1` path carries CORS headers, even an error.
 */
export function createRouter<Access, Who>(
  routes: readonly Route<Access, Who>[],
  options: RouterOptions<Access, Who>,
): Handle {
  const match = compile(routes);
  const { basePath, cors, log } = options;

  /** Returns the reply of the route's handler, or the reply to its problem. Never throws. */
  async function answer(
    found: Match<Access, Who> | null,
    exchange: Omit<Exchange<Who>, "who" | "params">,
  ): Promise<Response> {
    const { request, url, requestId, peer } = exchange;
    let route: Route<Access, Who> | null = null;
    try {
      route = routeFor(found, { method: request.method, path: url.pathname });
      const who = await allowed(options, route.access, request, peer);
      return await route.handler({ ...exchange, params: found?.params ?? {}, who });
    } catch (error) {
      // No client reads this reply: 499 only separates it from failures in the metrics.
      if (error instanceof ClientGone) return new Response(null, { status: 499 });
      const problem = asProblem(error, log, requestId);
      return route?.refuse === undefined || problem.options.isPlain
        ? problemReply(problem, requestId)
        : refusal(route.refuse(problem), problem);
    }
  }

  /** Returns the reply to a request for `url`, with CORS headers. Never throws. */
  async function replyAt(
    url: URL,
    found: Match<Access, Who> | null,
    exchange: Omit<Exchange<Who>, "who" | "params" | "url">,
  ): Promise<Response> {
    const { request } = exchange;
    const origin = request.headers.get("origin");
    const forOthers = found?.routes.some((route) => route.forOthers) ?? false;
    const forBrowsers = forOthers || url.pathname.startsWith("/v1/") ||
      url.pathname.startsWith("/sdk");
    if (request.method === "OPTIONS" && (found !== null || forBrowsers)) {
      const methods = found === null ? ANY_METHOD : allowOf(found.routes.map((r) => r.method));
      const headers = forOthers ? request.headers.get("access-control-request-headers") : null;
      return cors.preflight(origin, methods, headers);
    }
    const response = placedBelow(basePath, await answer(found, { ...exchange, url }));
    if (forBrowsers) cors.decorate(response.headers, origin);
    return response;
  }

  return async (request, peer) => {
    const startedAt = performance.now();
    const sent = request.headers.get("x-request-id");
    const requestId = sent !== null && SANE_REQUEST_ID.test(sent) ? sent : crypto.randomUUID();
    const url = addressBelow(basePath, request);
    const found = url === null ? null : match(url.pathname);
    const response = url === null
      ? problemReply(invalidHost(), requestId)
      : await replyAt(url, found, { request, requestId, peer });
    addCommonHeaders(response.headers, requestId);
    const { status } = response;
    const seconds = (performance.now() - startedAt) / 1000;
    // A method may be any word, and the number of metrics must stay small.
    const method = METHODS.has(request.method) ? request.method : "other";
    options.observe(found?.path ?? "unknown", method, status, seconds);
    const ms = Math.round(seconds * 1000);
    // Logs the pattern and not the path, which may name a person.
    log.debug("request", { requestId, method, route: found?.path, status, ms });
    return response;
  };
}
