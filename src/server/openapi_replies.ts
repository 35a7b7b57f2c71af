/** The OpenAPI descriptions of a route's replies: successes, problems and headers. */
import { z } from "zod";
import type { Access } from "../auth/access.ts";
import { type ProblemCode, PROBLEMS } from "../problem.ts";
import type { DocumentedRoute } from "./documented_route.ts";

export type Json = Record<string, unknown>;
export type Documented = Pick<DocumentedRoute, "method" | "path" | "access" | "doc" | "refuse">;

const TOKEN_PROBLEMS: readonly ProblemCode[] = [
  "missing_token",
  "invalid_token",
  "expired_token",
  "insufficient_scope",
  "token_keys_unavailable",
];
/** The problems that an access implies, if they are not `TOKEN_PROBLEMS`. */
const ACCESS_PROBLEMS: Partial<Record<Access, readonly ProblemCode[]>> = {
  key: [],
  anyone: [],
  person: ["no_session", "foreign_origin"],
};
/** Problems of the request's head, which every route may reply with. */
const HEAD_PROBLEMS: readonly ProblemCode[] = ["invalid_host"];
/** Problems of a server that is not ready, stops or moves; open routes never reply with them. */
const SERVER_PROBLEMS: readonly ProblemCode[] = [
  "internal_error",
  "database_unavailable",
  "shutting_down",
  "moving",
  "moved",
];
/** Problems of every small JSON body: what `readJson` throws. */
const JSON_BODY_PROBLEMS: readonly ProblemCode[] = [
  "invalid_json",
  "invalid_encoding",
  "invalid_body",
  "body_timeout",
  "body_too_large",
  "unsupported_media_type",
  "unsupported_encoding",
  "overloaded",
];

const integer = { type: "integer" };
const text = { type: "string" };
/** Headers of replies, which are defined once, under `components`. */
export const REPLY_HEADERS = {
  "X-Request-Id": {
    description: "The request's name in the server's log: the one that was sent, or a new one",
    schema: text,
  },
  "Retry-After": { description: "Seconds after which to send the request again", schema: integer },
  "ETag": { description: "For `If-None-Match`: 304 where nothing else would come", schema: text },
  "Location": { description: "Where the new thing is, or where to go", schema: text },
} as const satisfies Record<string, Json>;
type HeaderName = keyof typeof REPLY_HEADERS;

const RETRIED: ReadonlySet<number> = new Set([429, 503]);
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 303, 304]);
const NOT_MODIFIED = 304;

/** Returns the JSON schema of requests (`input`) or replies. `alsoTakes` of a schema's meta: what else requests may have. */
export function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      const { alsoTakes, ...own } = jsonSchema;
      if (!Array.isArray(alsoTakes)) return;
      for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
      const others = alsoTakes.map((other: z.ZodType) => schemaOf(other, io));
      Object.assign(jsonSchema, io === "input" ? { anyOf: [own, ...others] } : own);
    },
  }) as Json;
  return plain;
}

interface Reply {
  readonly description: string;
  readonly content?: Json;
}
type ByStatus = Readonly<Record<string, Reply>>;

function problemsOf({ access, doc }: Documented): ProblemCode[] {
  const ofBody = doc.body !== undefined && doc.bodyTypes === undefined ? JSON_BODY_PROBLEMS : [];
  const known = [...HEAD_PROBLEMS, ...ofBody, ...doc.problems];
  if (access === "open") return known;
  return [...known, ...ACCESS_PROBLEMS[access] ?? TOKEN_PROBLEMS, ...SERVER_PROBLEMS];
}

/** Returns one reply for each status of the problems; its description lists their codes. */
function problemReplies(route: Documented): ByStatus {
  const byStatus = Map.groupBy(new Set(problemsOf(route)), (code) => PROBLEMS[code].status);
  const content = {
    "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
    // The error format of the other product whose clients use the route.
    ...route.refuse === undefined ? {} : { "application/json": {} },
  };
  return Object.fromEntries(
    [...byStatus].toSorted(([a], [b]) => a - b).map(([status, group]) => [String(status), {
      description: group.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(" "),
      content,
    }]),
  );
}

/** Returns the replies that are not problems, by status. */
function successReplies({ doc: { success } }: Documented): ByStatus {
  const { schema, contentType = "application/json", otherTypes = [], also = {} } = success;
  const content = {
    [contentType]: schema === undefined ? {} : { schema: schemaOf(schema, "output") },
    ...Object.fromEntries(otherTypes.map((type) => [type, {}])),
  };
  const replyOf = (status: string, about: string): Reply =>
    WITHOUT_BODY.has(Number(status)) ? { description: about } : { description: about, content };
  const described = { [success.status]: success.description, ...also };
  return Object.fromEntries(
    Object.entries(described).map(([status, about]) => {
      if (typeof about === "string") return [status, replyOf(status, about)];
      const { description, contentType: type } = about;
      return [status, type === null ? { description } : { description, content: { [type]: {} } }];
    }),
  );
}

/** Returns the headers of a route's replies with a status, as references. */
function headersOf({ doc: { success } }: Documented, status: number): Json {
  const isCopied = NOT_MODIFIED in (success.also ?? {}) &&
    (status === success.status || status === NOT_MODIFIED);
  const names: HeaderName[] = [
    "X-Request-Id",
    ...RETRIED.has(status) ? ["Retry-After" as const] : [],
    ...isCopied ? ["ETag" as const] : [],
    ...success.hasLocation && status in { [success.status]: true, ...success.also }
      ? ["Location" as const]
      : [],
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Returns all replies of a route, by status. A problem may share its status with a reply of another type. */
export function repliesOf(route: Documented): Json {
  const replies: Record<string, Reply> = { ...successReplies(route) };
  for (const [status, problem] of Object.entries(problemReplies(route))) {
    const { description, content } = replies[status] ?? { description: "" };
    replies[status] = {
      description: `${description} ${problem.description}`.trim(),
      content: { ...content, ...problem.content },
    };
  }
  return Object.fromEntries(
    Object.entries(replies).map(([status, reply]) => [
      status,
      { ...reply, headers: headersOf(route, Number(status)) },
    ]),
  );
}
