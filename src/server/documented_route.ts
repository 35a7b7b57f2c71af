import type { Access, Principal } from "../auth/access.ts";
import type { Route } from "../http/router.ts";
import type { RouteDoc } from "./openapi.ts";

/** A route, with its description in the OpenAPI document. */
export type DocumentedRoute = Route<Access, Principal | null> & { readonly doc: RouteDoc };
