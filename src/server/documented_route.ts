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
  /** Headers that change what it does. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  /** Default: `application/json`, with the problems of reading a small JSON body. */
  readonly bodyTypes?: readonly string[];
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly schema?: z.ZodType;
    readonly contentType?: string;
    /** Other statuses: a description where the body is the same, else the type of another one. A 304 has none. */
    readonly also?: Readonly<Record<number, string | OtherReply>>;
    /** Other media types that the body may have, for callers who accept them. */
    readonly otherTypes?: readonly string[];
    /** Whether `Location` tells where the new thing is, or where to go. */
    readonly hasLocation?: boolean;
  };
  /** The problems besides those that the route's access and its JSON body imply. */
  readonly problems: readonly ProblemCode[];
  /** Whether the metrics' token opens it, where nothing else does. */
  readonly takesMetricsToken?: boolean;
}

/** A reply in a shape of its own. */
export interface OtherReply {
  readonly description: string;
  /** Null: it has no body. */
  readonly contentType: string | null;
}

/** A further successful status, of replies with an ETag. */
export const KNOWN = { 304: "The caller has it already: `If-None-Match` holds its ETag" };

/** A route, with its description in the OpenAPI document. */
export type DocumentedRoute = Route<Access, Principal | null> & { readonly doc: RouteDoc };

/** Of a `PUT` that makes something, or replaces it. */
export const NEW_ONLY: Readonly<Record<string, string>> = {
  "If-None-Match":
    "`*`: it is stored where there is none of this name yet, else the reply is 412. Pages of other origins " +
    "cannot send it",
};

/** A success whose reply has a shape. */
export function shown(description: string, schema: z.ZodType, status = 200): RouteDoc["success"] {
  return { status, description, schema };
}

/** A success whose reply is what was made, and says where it is. */
export function made(description: string, schema: z.ZodType): RouteDoc["success"] {
  return { ...shown(description, schema, 201), hasLocation: true };
}
