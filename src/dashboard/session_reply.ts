import type { output } from "zod";
import type { SessionShown } from "../auth/session_endpoints.ts";

/** Whom the token belongs to: the reply of `GET /v1/session`. */
export type Session = output<typeof SessionShown>;
export type SessionProject = Session["projects"][number];
