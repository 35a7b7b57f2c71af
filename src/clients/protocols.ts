import type { ClientReply, ClientRoute } from "./client_event.ts";
import { PLAUSIBLE_ROUTES } from "./plausible/routes.ts";
import { SEGMENT_ROUTES } from "./segment/routes.ts";
import { UMAMI_ROUTES } from "./umami/routes.ts";

/** Every path of other people's clients, protocol by protocol. */
export const CLIENT_ROUTES: readonly (ClientRoute | ClientReply)[] = [
  ...SEGMENT_ROUTES,
  ...UMAMI_ROUTES,
  ...PLAUSIBLE_ROUTES,
];
