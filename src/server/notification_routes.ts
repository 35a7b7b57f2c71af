import { z } from "zod";
import type { ApiExchange } from "../auth/access.ts";
import { AlertBody, AlertShown } from "../notifications/alert_definition.ts";
import { DELIVERY_QUERY, DeliveryShown } from "../notifications/deliveries.ts";
import { DigestBody, DigestShown } from "../notifications/digest_definition.ts";
import {
  deleteAlert,
  deleteDigest,
  getAlerts,
  getDeliveries,
  getDigests,
  type NotificationServices,
  putAlert,
  putDigest,
  testAlert,
  testDigest,
} from "../notifications/notification_endpoints.ts";
import {
  getUnsubscribe,
  postUnsubscribe,
  type UnsubscribeServices,
} from "../notifications/unsubscribe_endpoints.ts";
import { WebhookBody, WebhookSaved, WebhookShown } from "../notifications/webhook_definition.ts";
import {
  deleteWebhook,
  getWebhooks,
  putWebhook,
  testWebhook,
} from "../notifications/webhook_endpoints.ts";
import { type DocumentedRoute, NEW_ONLY, type RouteDoc } from "./documented_route.ts";
import type { ProblemCode } from "../problem.ts";
import { PROJECT_QUERY } from "../query/project_query.ts";
import { LIST_QUERY } from "../query/without_effect.ts";
import { READ_PROBLEMS } from "./report_routes.ts";

export type NotificationRouteServices = NotificationServices & UnsubscribeServices;

const ASKED: readonly ProblemCode[] = ["project_required", "not_found"];
const SAVED: readonly ProblemCode[] = ["invalid_parameter", "conflict", "already_exists", ...ASKED];
const Sent = z.object({ deliveries: z.array(DeliveryShown) });

type Handle = (services: NotificationRouteServices, exchange: ApiExchange) => Promise<Response>;

/** What differs between the four routes of digests, alerts and webhooks. */
interface Kind {
  readonly path: string;
  /** The noun for one of them. */
  readonly one: string;
  readonly member: string;
  readonly body: z.ZodType;
  readonly shown: z.ZodType;
  readonly saved: z.ZodType;
  readonly list: Handle;
  readonly put: Handle;
  readonly remove: Handle;
  readonly test: Handle;
  readonly putProblems: readonly ProblemCode[];
  readonly testSummary: string;
}

const KINDS: readonly Kind[] = [
  {
    path: "/v1/digests",
    one: "digest",
    member: "digests",
    body: DigestBody,
    shown: DigestShown,
    saved: DigestShown,
    list: getDigests,
    put: putDigest,
    remove: deleteDigest,
    test: testDigest,
    putProblems: ["mail_not_configured"],
    testSummary: "Send a digest now, as at its last time, to all its receivers",
  },
  {
    path: "/v1/alerts",
    one: "alert",
    member: "alerts",
    body: AlertBody,
    shown: AlertShown,
    saved: AlertShown,
    list: getAlerts,
    put: putAlert,
    remove: deleteAlert,
    test: testAlert,
    putProblems: ["mail_not_configured"],
    testSummary: "Look now, and send what an alert finds to all its receivers",
  },
  {
    path: "/v1/webhooks",
    one: "webhook",
    member: "webhooks",
    body: WebhookBody,
    shown: WebhookShown,
    saved: WebhookSaved,
    list: getWebhooks,
    put: putWebhook,
    remove: deleteWebhook,
    test: testWebhook,
    putProblems: [],
    testSummary: "Send a message without figures to a webhook now",
  },
];

function routesOf(services: NotificationRouteServices, kind: Kind): DocumentedRoute[] {
  const { path, one, member, body, shown, saved, putProblems } = kind;
  const slugPath = `${path}/:slug`;
  const route = (
    method: DocumentedRoute["method"],
    at: string,
    handle: Handle,
    doc: RouteDoc,
  ): DocumentedRoute => ({
    method,
    path: at,
    access: "write",
    handler: (exchange) => handle(services, exchange),
    doc: { query: PROJECT_QUERY, ...doc },
  });
  return [
    route("GET", path, kind.list, {
      summary: `The ${one}s of a project, by slug`,
      query: LIST_QUERY,
      success: {
        status: 200,
        description: `The ${one}s`,
        schema: z.object({ [member]: z.array(shown) }),
      },
      problems: ["invalid_parameter", "range_too_large", ...ASKED],
    }),
    route("PUT", slugPath, kind.put, {
      summary: `Save ${one === "alert" ? "an" : "a"} ${one}; 201 where it is new`,
      headers: NEW_ONLY,
      body,
      success: {
        status: 200,
        description: `The ${one}`,
        schema: saved,
        also: { 201: "It is new" },
      },
      problems: [...SAVED, ...putProblems],
    }),
    route("DELETE", slugPath, kind.remove, {
      summary: `Delete ${one === "alert" ? "an" : "a"} ${one}`,
      success: { status: 204, description: "Deleted" },
      problems: [...ASKED, ...one === "webhook" ? ["conflict" as const] : []],
    }),
    route("POST", `${slugPath}/test`, kind.test, {
      summary: kind.testSummary,
      success: { status: 200, description: "What became of each message", schema: Sent },
      problems: READ_PROBLEMS,
    }),
  ];
}

/**
 * Returns the routes of messages: the settings of digests, alerts and webhooks, the deliveries, and how
 * recipients unsubscribe.
 */
export function notificationRoutes(services: NotificationRouteServices): DocumentedRoute[] {
  const token = { token: "What the link in a mail holds" };
  const page = { status: 200, description: "A page", contentType: "text/html" };
  return [
    ...KINDS.flatMap((kind) => routesOf(services, kind)),
    {
      method: "GET",
      path: "/v1/deliveries",
      access: "write",
      handler: (exchange) => getDeliveries(services, exchange),
      doc: {
        summary: "What became of each message of the last 30 days, newest first",
        query: { ...PROJECT_QUERY, ...DELIVERY_QUERY },
        success: {
          status: 200,
          description: "A page of messages",
          schema: z.object({
            rows: z.array(DeliveryShown),
            nextCursor: z.string().nullable().meta({ description: "Null on the last page" }),
          }),
        },
        problems: ["invalid_parameter", ...ASKED],
      },
    },
    {
      method: "GET",
      path: "/v1/unsubscribe",
      access: "anyone",
      handler: (exchange) => getUnsubscribe(services, exchange),
      doc: {
        summary: "Asks whether the reader of a mail wants no more of these",
        query: token,
        requiredQuery: ["token"],
        success: page,
        problems: ["invalid_link"],
      },
    },
    {
      method: "POST",
      path: "/v1/unsubscribe",
      access: "anyone",
      handler: (exchange) => postUnsubscribe(services, exchange),
      doc: {
        summary: "Ends one person's mails of one digest or alert (one click, RFC 8058)",
        query: token,
        requiredQuery: ["token"],
        success: page,
        problems: ["invalid_link"],
      },
    },
  ];
}
