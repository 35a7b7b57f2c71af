import type { Rejection } from "../ingest/event_schema.ts";
import type { Problem } from "../problem.ts";

/** A protocol's name, which is hashed into event ids. */
export type ProtocolName = "segment" | "rudder" | "posthog" | "umami" | "plausible" | "amplitude";

/** One event of another product's client, in the shape of `POST /v1/events` except its id. */
export interface ClientEvent {
  /** The client's id as sent; null: there is none, and each request is a new event. */
  readonly id: string | null;
  /**
   * `name`, `timestamp`, `anonymousId`, `userId`, `sessionId`, `url`, `path`, `referrer`, `title`,
   * `properties`, `context`, unvalidated. Other members are kept in `extra`.
   */
  readonly event: Record<string, unknown>;
  /**
   * Whether texts in it were decoded once more, so that checks of the body's text missed what they contain.
   * Absent: no.
   */
  readonly isDecoded?: boolean;
}

/** An entry that is not an event: listed in `rejected`, while the others are stored. */
export interface ClientRefusal {
  /** A sentence that says what to do. */
  readonly refused: string;
}

/** A key and its source: a secret key is accepted only from Basic credentials. */
export interface ClientKey {
  readonly value: string;
  readonly from: "basic" | "body" | "path" | "query" | "header";
}

/** The content of a request. */
export interface ClientBatch {
  /**
   * The key in the body; null: none. Used if neither `keyOf` nor Basic credentials had one before the body
   * was read.
   */
  readonly key: ClientKey | null;
  /**
   * Further keys in the body: the events also go to these projects, each with its own id there. Of `key` and
   * these, unknown ones are ignored if one is known.
   */
  readonly moreKeys?: readonly ClientKey[];
  readonly sentAt: unknown;
  /** In the order of the request. */
  readonly items: readonly (ClientEvent | ClientRefusal)[];
  /** The protocol, if protocols share the path and the body tells them apart; absent: the route's. */
  readonly protocol?: ProtocolName;
}

/** What became of the request's events, in all of its projects. */
export interface ClientOutcome {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly Rejection[];
  readonly protocol: ProtocolName;
  /** Bytes of the decompressed body. */
  readonly bytes: number;
  /** When the request was received, in epoch milliseconds. */
  readonly receivedAtMs: number;
  /** The public id of the first project, for replies. */
  readonly projectPublicId: string;
}

/** A request as decoders see it, besides the body. */
export interface ClientRequest {
  readonly headers: Headers;
  readonly url: URL;
  /** The named parts of the route's path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** When it was received, in epoch milliseconds. */
  readonly receivedAtMs: number;
}

interface ClientRow {
  readonly method: "POST" | "GET";
  /** As in the route table: parts that start with a colon are named. */
  readonly path: string;
  /** Makes the client's own shape of a refusal, if it reads one; absent: problem+json. */
  readonly refuse?: (problem: Problem) => Response;
  /** For the OpenAPI document, as are the status and type of a success other than 200 and JSON. */
  readonly summary: string;
  readonly status?: number;
  readonly contentType?: string;
}

/** A route that takes events: body → batch, outcome → reply. */
export interface ClientRoute extends ClientRow {
  readonly kind: "events";
  readonly protocol: ProtocolName;
  /**
   * Returns the key, if it is neither in the body nor in Basic credentials (which are always checked): the
   * body is then read under the ordinary limits.
   */
  readonly keyOf?: (request: ClientRequest) => ClientKey | null;
  /** Whether the body's client reads problem+json, unlike others of the path, which read `refuse`. */
  readonly isPlain?: (value: unknown) => boolean;
  /** Reads the request's JSON as a batch. Throws Problem if it is not one. */
  readonly read: (value: unknown, request: ClientRequest) => ClientBatch;
  readonly answer: (outcome: ClientOutcome, request: ClientRequest) => Response;
}

/** Services for routes that store nothing. */
export interface ClientReplyTools {
  /** Throws as ingestion does if the key is invalid (401, 403), or cannot be checked (503). */
  readonly authenticate: (key: ClientKey | null) => Promise<{ readonly projectPublicId: string }>;
  /** This server's address for clients, without a final slash: `https://stats.example.com/analytics`. */
  readonly ownUrl: string;
}

/** A route that stores nothing: settings that a client asks for as it starts, or data that is dropped. */
export interface ClientReply extends ClientRow {
  readonly kind: "reply";
  readonly reply: (request: ClientRequest, tools: ClientReplyTools) => Response | Promise<Response>;
}
