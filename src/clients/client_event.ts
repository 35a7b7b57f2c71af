import type { Rejection } from "../ingest/event_schema.ts";
import type { Problem } from "../problem.ts";

/** A protocol's name as it goes into hashed ids. */
export type ProtocolName = "segment" | "rudder" | "posthog" | "umami" | "plausible" | "amplitude";

/** One event of a foreign client, in the shape of `POST /v1/events` but for its id. */
export interface ClientEvent {
  /** The client's id as it was sent; null: it made none, and each request is a new event. */
  readonly id: string | null;
  /**
   * `name`, `timestamp`, `anonymousId`, `userId`, `sessionId`, `url`, `path`, `referrer`, `title`,
   * `properties`, `context`, unvalidated. Other members are kept in `extra`.
   */
  readonly event: Record<string, unknown>;
  /**
   * Whether texts of it were decoded once more: what the body was looked through for may stand in them alone.
   * Absent: no.
   */
  readonly isDecoded?: boolean;
}

/** What stands in the place of an event and is none: told in `rejected`, while the others are stored. */
export interface ClientRefusal {
  /** A sentence that says what to do. */
  readonly refused: string;
}

/** A key, and where it stood: a secret one is taken from Basic credentials only. */
export interface ClientKey {
  readonly value: string;
  readonly from: "basic" | "body" | "path" | "query" | "header";
}

/** What a request holds. */
export interface ClientBatch {
  /**
   * What the body brings; null: nothing. It counts where `keyOf` found none before the body was read,
   * and Basic credentials bring none.
   */
  readonly key: ClientKey | null;
  /**
   * What else the body brings: the events are of these projects too, each with an id of its own there.
   * Of `key` and these, those that no project has are passed over while one is known.
   */
  readonly moreKeys?: readonly ClientKey[];
  readonly sentAt: unknown;
  /** In the order of the request. */
  readonly items: readonly (ClientEvent | ClientRefusal)[];
  /** Where only the body tells one protocol from another of the same path; absent: the route's. */
  readonly protocol?: ProtocolName;
}

/** What became of the request's events, in all of its projects. */
export interface ClientOutcome {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly Rejection[];
  readonly protocol: ProtocolName;
  /** Bytes of the body, not compressed any more. */
  readonly bytes: number;
  /** When the request was received, in epoch milliseconds. */
  readonly receivedAtMs: number;
  /** Who sent it, as far as replies need it: the public id of the first project. */
  readonly projectPublicId: string;
}

/** What decoders may look at besides the body. */
export interface ClientRequest {
  readonly headers: Headers;
  readonly url: URL;
  /** The named segments of the route's path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** When it came in, in epoch milliseconds. */
  readonly receivedAtMs: number;
}

interface ClientRow {
  readonly method: "POST" | "GET";
  /** As in the route table: segments that start with a colon are named. */
  readonly path: string;
  /** A Problem in the client's shape, where the client reads it; absent: problem+json. */
  readonly refuse?: (problem: Problem) => Response;
  /** For the OpenAPI document; status and type of a success, where these are not 200 and JSON. */
  readonly summary: string;
  readonly status?: number;
  readonly contentType?: string;
}

/** A route that takes events: body → batch, outcome → reply. */
export interface ClientRoute extends ClientRow {
  readonly kind: "events";
  readonly protocol: ProtocolName;
  /**
   * The key, where it stands outside the body and outside Basic credentials (which are always looked
   * at): the body is then read under the ordinary limits.
   */
  readonly keyOf?: (request: ClientRequest) => ClientKey | null;
  /** Whether the body is of a client that reads problem+json, where others of the path read `refuse`. */
  readonly isPlain?: (value: unknown) => boolean;
  /** The request's JSON as a batch. Throws Problem for what is no batch. */
  readonly read: (value: unknown, request: ClientRequest) => ClientBatch;
  readonly answer: (outcome: ClientOutcome, request: ClientRequest) => Response;
}

/** What a route that stores nothing may ask for. */
export interface ClientReplyTools {
  /** Throws as ingestion does where the key is certainly bad (401, 403), or cannot be known (503). */
  readonly authenticate: (key: ClientKey | null) => Promise<{ readonly projectPublicId: string }>;
  /** Where clients reach this server: `https://stats.example.com/analytics`, no slash at the end. */
  readonly ownUrl: string;
}

/** A route that only answers: what a client asks for as it starts, or would send and is dropped. */
export interface ClientReply extends ClientRow {
  readonly kind: "reply";
  readonly reply: (request: ClientRequest, tools: ClientReplyTools) => Response | Promise<Response>;
}
