import type { ClientRoute } from "../client_event.ts";
import { ACCEPTED, refused, taken } from "./answer.ts";
import { readEvent } from "./decode.ts";

export const PLAUSIBLE_ROUTES: readonly ClientRoute[] = [{
  kind: "events",
  method: "POST",
  path: "/api/event",
  protocol: "plausible",
  read: readEvent,
  answer: taken,
  refuse: refused,
  status: ACCEPTED,
  contentType: "text/plain",
  summary: "An event of Plausible's clients; `domain` is a key, or the host of a project's siteUrl",
}];
