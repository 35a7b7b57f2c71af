import { z } from "zod";
import version from "../../deno.json" with { type: "json" };
import { type Access, SCOPES } from "../auth/access.ts";
import { json } from "../http/reply.ts";
import { REJECTION_CODES } from "../ingest/event_schema.ts";
import { ClickProperties, ScrollProperties } from "../ingest/sdk_events.ts";
import { type ProblemCode, PROBLEMS } from "../problem.ts";

/** The documentation of one route. Path parameters are taken from the path itself. */
export interface RouteDoc {
  readonly summary: string;
  /** What the numbers of the reply mean; absent: the summary suffices. */
  readonly semantics?: string;
  readonly query?: Readonly<Record<string, string | { description: string; schema: z.ZodType }>>;
  /** Headers that change what it does. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  /** Default: `application/json`. */
  readonly bodyTypes?: readonly string[];
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly schema?: z.ZodType;
    readonly contentType?: string;
    /** Descriptions of other statuses with the same body; a 304 has none. */
    readonly also?: Readonly<Record<number, string>>;
    /** Other media types that the body may have, for callers who accept them. */
    readonly otherTypes?: readonly string[];
  };
  /** The problems besides those that the route's access implies. */
  readonly problems: readonly ProblemCode[];
}

interface Documented {
  readonly method: string;
  readonly path: string;
  readonly access: Access;
  readonly doc: RouteDoc;
}

type Json = Record<string, unknown>;

/** Of a `PUT` that makes something, or replaces it. */
export const NEW_ONLY: Readonly<Record<string, string>> = {
  "If-None-Match": "`*`: it is stored where there is none of this name yet, else the reply is 412",
};

const TOKEN_PROBLEMS: readonly ProblemCode[] = [
  "missing_token",
  "invalid_token",
  "expired_token",
  "insufficient_scope",
  "token_keys_unavailable",
];
/** The problems that each access implies, where they differ from the usual ones. */
const ACCESS_PROBLEMS: Partial<Record<Access, readonly ProblemCode[]>> = {
  key: [],
  anyone: [],
  person: ["no_session", "foreign_origin"],
};
/** Problems of the request's head, which every route may reply with. */
const HEAD_PROBLEMS: readonly ProblemCode[] = ["invalid_host"];
const SERVER_PROBLEMS: readonly ProblemCode[] = [
  "internal_error",
  "database_unavailable",
  "shutting_down",
];

function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Json;
  return plain;
}

/** Returns one response for each status of the problems; its description lists their codes. */
function problemResponses(codes: readonly ProblemCode[]): Record<string, Json> {
  const byStatus = Map.groupBy(new Set(codes), (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].toSorted(([a], [b]) => a - b).map(([status, group]) => [String(status), {
      description: group.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(" "),
      content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
    }]),
  );
}

function problemsOf({ access, doc }: Documented): ProblemCode[] {
  const known = [...HEAD_PROBLEMS, ...doc.problems];
  if (access === "open") return known;
  return [...known, ...ACCESS_PROBLEMS[access] ?? TOKEN_PROBLEMS, ...SERVER_PROBLEMS];
}

function securityOf(access: Access): Json[] {
  if (access === "open" || access === "anyone") return [];
  if (access === "person") return [{ cookie: [] }];
  if (access === "write or key") return [{ bearer: [] }, { apiKey: [] }];
  return access === "key" ? [{ apiKey: [] }] : [{ bearer: [] }];
}

function parametersOf({ path, doc }: Documented): Json[] {
  const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const query = Object.entries(doc.query ?? {}).map(([name, about]) => ({
    name,
    in: "query",
    required: false,
    description: typeof about === "string" ? about : about.description,
    schema: typeof about === "string" ? { type: "string" } : schemaOf(about.schema, "input"),
  }));
  const headers = Object.entries(doc.headers ?? {}).map(([name, description]) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  }));
  return [...named, ...query, ...headers];
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 304]);

/** Returns the successful responses, by status. */
function successesOf({ success }: RouteDoc): Json {
  const { schema, contentType = "application/json", otherTypes = [], also = {} } = success;
  const content = {
    [contentType]: schema === undefined ? {} : { schema: schemaOf(schema, "output") },
    ...Object.fromEntries(otherTypes.map((type) => [type, {}])),
  };
  const told: Readonly<Record<number, string>> = { [success.status]: success.description, ...also };
  return Object.fromEntries(
    Object.entries(told).map(([status, description]) => [
      status,
      WITHOUT_BODY.has(Number(status)) ? { description } : { description, content },
    ]),
  );
}

function bodyOf(doc: RouteDoc): Json {
  if (doc.body === undefined) return {};
  const schema = schemaOf(doc.body, "input");
  const types = doc.bodyTypes ?? ["application/json"];
  return {
    requestBody: { content: Object.fromEntries(types.map((type) => [type, { schema }])) },
  };
}

/** Returns an id like `getV1EventsId`, also for a path with a slash at its end, which some clients use. */
function operationIdOf({ method, path }: Documented): string {
  const words = path.replace(
    /[^A-Za-z0-9]+(\w)?/g,
    (_, first?: string) => first?.toUpperCase() ?? "",
  );
  return `${method.toLowerCase()}${words}${/.\/$/.test(path) ? "Slash" : ""}`;
}

function operationOf(route: Documented): Json {
  const needed = SCOPES.some((scope) => scope === route.access)
    ? `Needs a token with scope \`${route.access}\`.`
    : "";
  const description = [route.doc.semantics ?? "", needed].join(" ").trim();
  return {
    operationId: operationIdOf(route),
    summary: route.doc.summary,
    ...(description === "" ? {} : { description }),
    security: securityOf(route.access),
    parameters: parametersOf(route),
    ...bodyOf(route.doc),
    responses: {
      ...successesOf(route.doc),
      ...problemResponses(problemsOf(route)),
    },
  };
}

const PROBLEM_SCHEMA = {
  type: "object",
  description: "RFC 9457. `code` is stable; `detail` says what to do.",
  required: ["type", "title", "status", "detail", "code", "requestId"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string", enum: Object.keys(PROBLEMS) },
    requestId: { type: "string" },
    errors: {
      type: "array",
      items: {
        type: "object",
        required: ["code", "message"],
        properties: {
          field: { type: "string", description: "Of events empty: the event as a whole" },
          index: { type: "integer" },
          eventId: { type: ["string", "null"] },
          code: { type: "string", description: `Of events: ${REJECTION_CODES.join(", ")}` },
          message: { type: "string" },
        },
      },
    },
  },
};

const DEFINED_HERE = "#/$defs/";
const DEFINED_ONCE = "#/components/schemas/";

type Names = ReadonlyMap<string, string>;

function renamed(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((member) => renamed(member, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (key !== "$ref" || typeof member !== "string") return [key, renamed(member, names)];
      const name = member.replace(DEFINED_HERE, "");
      return [key, member === name ? member : `${DEFINED_ONCE}${names.get(name) ?? name}`];
    }),
  );
}

/**
 * Returns the names of schemas in the document. A schema that differs between replies and requests (only a
 * request may leave out members with a default) gets a second name.
 */
function namesOf(definitions: Json, schemas: Json): Names {
  const names = new Map(Object.keys(definitions).map((name) => [name, name]));
  for (let isSettled = false; !isSettled;) {
    isSettled = true;
    for (const [name, schema] of Object.entries(definitions)) {
      const known = schemas[names.get(name)!];
      if (known === undefined) continue;
      if (JSON.stringify(known) === JSON.stringify(renamed(schema, names))) continue;
      if (names.get(name) !== name) throw new Error(`three different schemas are named ${name}`);
      names.set(name, `${name}Shown`);
      isSettled = false;
    }
  }
  return names;
}

/**
 * Moves the `$defs` of every schema inside `value` to `schemas`, because references are resolved from the
 * root.
 */
function hoisted(value: unknown, schemas: Json): unknown {
  if (Array.isArray(value)) return value.map((member) => hoisted(member, schemas));
  if (typeof value !== "object" || value === null) return value;
  const { $defs, ...rest } = value as Json;
  if ($defs === undefined) {
    return Object.fromEntries(
      Object.entries(rest).map(([name, member]) => [name, hoisted(member, schemas)]),
    );
  }
  const names = namesOf($defs as Json, schemas);
  for (const [name, schema] of Object.entries($defs as Json)) {
    schemas[names.get(name)!] = renamed(schema, names);
  }
  return renamed(rest, names);
}

/** Returns the OpenAPI 3.1 document of the routes. */
export function openApiDocument(routes: readonly Documented[], basePath: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  const schemas: Json = {
    Problem: PROBLEM_SCHEMA,
    ClickProperties: schemaOf(ClickProperties, "input"),
    ScrollProperties: schemaOf(ScrollProperties, "input"),
  };
  const hoistedPaths = hoisted(paths, schemas);
  return {
    openapi: "3.1.0",
    info: {
      title: "Footfall",
      version: version.version,
      description: "Self-hosted product analytics.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: basePath === "" ? "/" : basePath }],
    paths: hoistedPaths,
    components: {
      schemas,
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
        bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
        cookie: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-footfall",
          description:
            "The session of a person who is signed in. `__Secure-footfall` with BASE_PATH, " +
            "`footfall` without https.",
        },
      },
    },
  };
}

/** Makes the handler of `GET /v1/openapi.json`; the document is made on first use. */
export function createOpenApi(routes: readonly Documented[], basePath: string): () => Response {
  let document: Json | undefined;
  return () => {
    document ??= openApiDocument(routes, basePath);
    return json(document, 200, { "Cache-Control": "public, max-age=300" });
  };
}
