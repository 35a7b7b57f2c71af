import { queryValue } from "../../http/query_value.ts";
import type { ClientKey, ClientReply, ClientRequest, ClientRoute } from "../client_event.ts";
import { answer, replySettings, replySourceConfig } from "./answer.ts";
import { readBatch, readMessage } from "./decode.ts";
import { MESSAGE_TYPES, type MessageType } from "./map.ts";

/** RudderStack's browser library sends beacons to the last, with the key in the query. */
const BATCH_PATHS = ["/v1/batch", "/v1/b", "/v1/import", "/beacon/v1/batch"] as const;

function keyOfQuery({ url }: ClientRequest): ClientKey | null {
  const value = queryValue(url, "writeKey");
  return value === null ? null : { value, from: "query" };
}

/** analytics.js spells them by their first letters. */
function pathsOf(type: MessageType): readonly string[] {
  return [`/v1/${type}`, `/v1/${type[0]}`];
}

type Read = ClientRoute["read"];

function route(path: string, read: Read, summary: string): ClientRoute {
  return {
    kind: "events",
    method: "POST",
    path,
    protocol: "segment",
    keyOf: keyOfQuery,
    read,
    answer,
    summary,
  };
}

/** Segment's and RudderStack's libraries, for servers and browsers. */
export const SEGMENT_ROUTES: readonly (ClientRoute | ClientReply)[] = [
  ...BATCH_PATHS.map((path) =>
    route(path, readBatch, "Segment and RudderStack: store a batch of messages")
  ),
  ...MESSAGE_TYPES.flatMap((type) =>
    pathsOf(type).map((path) =>
      route(path, readMessage(type), `Segment and RudderStack: store one ${type} message`)
    )
  ),
  {
    kind: "reply",
    method: "GET",
    path: "/v1/projects/:key/settings",
    summary: "Segment: what analytics.js asks for as it starts",
    reply: replySettings,
  },
  ...["/sourceConfig", "/sourceConfig/"].map((path): ClientReply => ({
    kind: "reply",
    method: "GET",
    path,
    summary: "RudderStack: what its browser library asks for as it starts",
    reply: replySourceConfig,
  })),
];
