import { z } from "zod";
import { type ReplyServices, replyToClient, takeClientEvents } from "../clients/client_endpoint.ts";
import type { ClientReply, ClientRoute } from "../clients/client_event.ts";
import { CLIENT_ROUTES } from "../clients/protocols.ts";
import type { IngestServices } from "../ingest/take_events.ts";
import type { ProblemCode } from "../problem.ts";
import type { DocumentedRoute } from "./documented_route.ts";

const KEY_PROBLEMS: readonly ProblemCode[] = [
  "missing_api_key",
  "invalid_api_key",
  "revoked_api_key",
  "expired_api_key",
  "key_not_allowed_here",
];
const EVENT_PROBLEMS: readonly ProblemCode[] = [
  "invalid_json",
  "invalid_encoding",
  "invalid_envelope",
  "invalid_events",
  ...KEY_PROBLEMS,
  "origin_not_allowed",
  "no_visit",
  "body_timeout",
  "body_too_large",
  "too_many_events",
  "unsupported_encoding",
  "rate_limited",
  "overloaded",
];

/** A body as the client's own documentation describes it. */
const ClientBody = z.unknown().meta({ description: "As the client sends it" });
const BODY_TYPES = [
  "application/json",
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/octet-stream",
];

type ClientServices = IngestServices & ReplyServices;

function documented(services: ClientServices, route: ClientRoute | ClientReply): DocumentedRoute {
  const { method, path, refuse, summary, status = 200, contentType } = route;
  const takes = route.kind === "events";
  return {
    method,
    path,
    access: "key",
    handler: (exchange) =>
      takes
        ? takeClientEvents(services, route, exchange)
        : replyToClient(services, route, exchange),
    forOthers: true,
    ...(refuse === undefined ? {} : { refuse }),
    doc: {
      summary,
      ...(method === "POST" ? { body: ClientBody, bodyTypes: BODY_TYPES } : {}),
      success: {
        status,
        description: takes ? "The events are committed" : "As the client expects it",
        ...(contentType === undefined ? {} : { contentType }),
      },
      problems: takes ? EVENT_PROBLEMS : KEY_PROBLEMS,
    },
  };
}

/** Returns the routes that clients of other products use. */
export function clientRoutes(services: ClientServices): DocumentedRoute[] {
  return CLIENT_ROUTES.map((route) => documented(services, route));
}
