import type { z } from "zod";
import type { Access, Principal } from "../auth/access.ts";
import type { Route } from "../http/router.ts";
import type { ProblemCode } from "../problem.ts";

/** The documentation of one route. Path parameters are taken from the path itself. */
export interface RouteDoc {
  readonly summary: string;
  /** What the numbers of the reply mean; absent: the summary suffices. */
  readonly semantics?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Names of the query parameters that every request must have. */
  readonly requiredQuery?: readonly string[];
  /** Request headers that change what the route does. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  /** Default: `application/json`, with the problems of reading a small JSON body. */
  readonly bodyTypes?: readonly string[];
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly schema?: z.ZodType;
    readonly contentType?: string;
    /** Other statuses: only a description if the body is of the same type. A 304 has no body. */
    readonly also?: Readonly<Record<number, string | OtherReply>>;
    /** Other media types that the body may have, for callers who accept them. */
    readonly otherTypes?: readonly string[];
    /** Whether the reply has a `Location`: of the new resource, or of a redirect. */
    readonly hasLocation?: boolean;
  };
  /** The problems besides those that the route's access and its JSON body imply. */
  readonly problems: readonly ProblemCode[];
  /** Whether callers that are not trusted by their address may send the metrics token. */
  readonly takesMetricsToken?: boolean;
}

/** A reply whose body differs from that of a success. */
export interface OtherReply {
  readonly description: string;
  /** Null: it has no body. */
  readonly contentType: string | null;
}

/** An additional status of replies with an ETag. */
export const KNOWN = { 304: "The caller has it already: `If-None-Match` holds its ETag" };

/** A route, with its description in the OpenAPI document. */
export type DocumentedRoute = Route<Access, Principal | null> & { readonly doc: RouteDoc };

/** The header of a `PUT` that must not replace anything. */
export const NEW_ONLY: Readonly<Record<string, string>> = {
  "If-None-Match":
    "`*`: it is stored where there is none of this name yet, else the reply is 412. Pages of other origins " +
    "cannot send it",
};

/** Describes a successful reply with a body. */
export function shown(description: string, schema: z.ZodType, status = 200): RouteDoc["success"] {
  return { status, description, schema };
}

/** Describes the reply to the creation of something, with its `Location`. */
export function made(description: string, schema: z.ZodType): RouteDoc["success"] {
  return { ...shown(description, schema, 201), hasLocation: true };
}
