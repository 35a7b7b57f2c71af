import type { z } from "zod";
import type { Access, Principal } from "../auth/access.ts";
import type { Route } from "../http/router.ts";
import type { ProblemCode } from "../problem.ts";
import type { RouteDoc } from "./openapi.ts";

/** A further successful status, of replies with an ETag. */
export const KNOWN = { 304: "The caller has it already: `If-None-Match` holds its ETag" };

/** A route, with its description in the OpenAPI document. */
export type DocumentedRoute = Route<Access, Principal | null> & { readonly doc: RouteDoc };

/** What every route that reads a JSON body may refuse it for. */
export const BODY_PROBLEMS: readonly ProblemCode[] = [
  "invalid_json",
  "invalid_body",
  "body_too_large",
  "unsupported_media_type",
];

/** A success whose reply has a shape. */
export function shown(description: string, schema: z.ZodType, status = 200): RouteDoc["success"] {
  return { status, description, schema };
}
