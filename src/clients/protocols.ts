import { AMPLITUDE_ROUTES } from "./amplitude/routes.ts";
import { BATCH_ROUTES } from "./batch_routes.ts";
import type { ClientReply, ClientRoute } from "./client_event.ts";
import { PLAUSIBLE_ROUTES } from "./plausible/routes.ts";
import { POSTHOG_ROUTES } from "./posthog/routes.ts";
import { SEGMENT_ROUTES } from "./segment/routes.ts";
import { UMAMI_ROUTES } from "./umami/routes.ts";

/** All routes of other products' clients, by protocol. */
export const CLIENT_ROUTES: readonly (ClientRoute | ClientReply)[] = [
  ...SEGMENT_ROUTES,
  ...UMAMI_ROUTES,
  ...PLAUSIBLE_ROUTES,
  ...POSTHOG_ROUTES,
  ...AMPLITUDE_ROUTES,
  ...BATCH_ROUTES,
];
