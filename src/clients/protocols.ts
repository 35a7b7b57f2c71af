import type { ClientReply, ClientRoute } from "./client_event.ts";
import { SEGMENT_ROUTES } from "./segment/routes.ts";

/** Every path of other people's clients, protocol by protocol. */
export const CLIENT_ROUTES: readonly (ClientRoute | ClientReply)[] = [
  ...SEGMENT_ROUTES,
];
