import { queryValue } from "../../http/query_value.ts";
import { json } from "../../http/reply.ts";
import { assertAnyStored } from "../any_stored.ts";
import type { ClientOutcome, ClientReplyTools, ClientRequest } from "../client_event.ts";

/**
 * `{ "success": true }`, as both protocols' libraries expect, with the events that were not stored. If none
 * were, 400 `invalid_events`: the libraries report that, and do not send the batch again.
 */
export function answer(outcome: ClientOutcome): Response {
  assertAnyStored(outcome);
  const { rejected } = outcome;
  return json({ success: true, ...(rejected.length === 0 ? {} : { rejected }) });
}

/** What analytics.js asks for before it sends anything: where to, and that there is nothing else. */
export async function replySettings(
  { params }: ClientRequest,
  { authenticate, ownUrl }: ClientReplyTools,
): Promise<Response> {
  const writeKey = params.key ?? "";
  await authenticate({ value: writeKey, from: "path" });
  const { protocol, host, pathname } = new URL(`${ownUrl}/v1`);
  return json({
    integrations: {
      "Segment.io": {
        apiKey: writeKey,
        apiHost: host + pathname,
        protocol: protocol.slice(0, -1),
        unbundledIntegrations: [],
        addBundledMetadata: false,
        versionSettings: { version: "4.4.7", componentTypes: ["browser"] },
      },
    },
    plan: { track: { __default: { enabled: true, integrations: {} } } },
    edgeFunction: {},
    analyticsNextEnabled: true,
    middlewareSettings: {},
    enabledMiddleware: {},
    metrics: { sampleRate: 0 },
    remotePlugins: [],
  });
}

/** What RudderStack's browser library asks for before it sends anything: that it may, and only here. */
export async function replySourceConfig(
  { url }: ClientRequest,
  { authenticate }: ClientReplyTools,
): Promise<Response> {
  const named = queryValue(url, "writeKey") ?? "";
  const { projectPublicId } = await authenticate({ value: named, from: "query" });
  return json({
    source: {
      id: projectPublicId,
      name: "Footfall",
      writeKey: named,
      enabled: true,
      workspaceId: "footfall",
      config: {
        statsCollection: { errors: { enabled: false }, metrics: { enabled: false } },
      },
      connections: [],
      destinations: [],
      dataplanes: {},
    },
    updatedAt: "2020-01-01T00:00:00.000Z",
  });
}
