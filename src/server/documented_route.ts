import type { Access, Principal } from "../auth/access.ts";
import type { Route } from "../http/router.ts";
import type { RouteDoc } from "./openapi.ts";

/** A row of the route table: the route, and what the OpenAPI document says of it. */
export type DocumentedRoute = Route<Access, Principal | null> & { readonly doc: RouteDoc };
