import version from "../../deno.json" with { type: "json" };
import { type Access, SCOPES } from "../auth/access.ts";
import { JSON_TYPE } from "../http/reply.ts";
import { type StaticFile, staticFile, staticReply } from "../http/static_file.ts";
import { REJECTION_CODES } from "../ingest/event_schema.ts";
import { ClickProperties, ScrollProperties } from "../ingest/sdk_events.ts";
import { BODY_MISTAKE_CODES, PROBLEMS } from "../problem.ts";
import type { RouteDoc } from "./documented_route.ts";
import {
  type Documented,
  type Json,
  repliesOf,
  REPLY_HEADERS,
  schemaOf,
} from "./openapi_replies.ts";

function securityOf({ access, doc }: Documented): Json[] {
  if (doc.takesMetricsToken) return [{}, { metricsToken: [] }];
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
  const query = Object.entries(doc.query ?? {}).map(([name, description]) => ({
    name,
    in: "query",
    required: doc.requiredQuery?.includes(name) ?? false,
    description,
    schema: { type: "string" },
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

function bodyOf(doc: RouteDoc): Json {
  if (doc.body === undefined) return {};
  const schema = schemaOf(doc.body, "input");
  const types = doc.bodyTypes ?? ["application/json"];
  // A missing small JSON body counts as `{}`.
  const missing = doc.bodyTypes === undefined ? {} : undefined;
  return {
    requestBody: {
      required: !doc.body.safeParse(missing).success,
      content: Object.fromEntries(types.map((type) => [type, { schema }])),
    },
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

/** Returns which token a route needs, in words; empty: it needs no scope. */
function neededBy(access: Access): string {
  if (access === "aggregates") return "Needs a token with scope `read`, or that of a share.";
  if (access === "write or key") return "Needs a token with scope `write`, or a secret key.";
  return SCOPES.some((scope) => scope === access) ? `Needs a token with scope \`${access}\`.` : "";
}

function operationOf(route: Documented): Json {
  const description = [route.doc.semantics ?? "", neededBy(route.access)].join(" ").trim();
  return {
    operationId: operationIdOf(route),
    summary: route.doc.summary,
    ...(description === "" ? {} : { description }),
    security: securityOf(route),
    parameters: parametersOf(route),
    ...bodyOf(route.doc),
    responses: repliesOf(route),
  };
}

const PART_CODES = `Of events: ${REJECTION_CODES.join(", ")}. ` +
  `Of a body: ${BODY_MISTAKE_CODES.join(", ")}. Of a parameter: one of a problem's own codes`;

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
          code: { type: "string", description: PART_CODES },
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
      headers: REPLY_HEADERS,
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
        bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
        metricsToken: {
          type: "http",
          scheme: "bearer",
          description: "METRICS_TOKEN, from anywhere but this machine and TRUSTED_PROXIES",
        },
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

/** Makes the handler of `GET /v1/openapi.json`; the document is made, as the text that is sent, on first use. */
export function createOpenApi(
  routes: readonly Documented[],
  basePath: string,
): (exchange: { readonly request: Request }) => Promise<Response> {
  let file: Promise<StaticFile> | undefined;
  return async ({ request }) => {
    file ??= staticFile(JSON.stringify(openApiDocument(routes, basePath)));
    return staticReply(await file, request, {
      "Content-Type": JSON_TYPE,
      "Cache-Control": "public, max-age=300",
    });
  };
}
