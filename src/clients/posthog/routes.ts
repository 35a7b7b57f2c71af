import { captured, dropped, noFlags, remoteConfig, remoteConfigScript } from "./answer.ts";
import type { ClientReply, ClientRoute } from "../client_event.ts";
import { readCapture, refuseLz64 } from "./decode.ts";

/** Paths of events, old and new, as PostHog's clients and its own server spell them; `/batch` is shared. */
const EVENT_PATHS = [
  "/e",
  "/e/",
  "/i/v0/e",
  "/i/v0/e/",
  "/capture",
  "/capture/",
  "/track",
  "/track/",
  "/engage",
  "/engage/",
] as const;

/** What is sent to it is answered and dropped: Footfall plays no sessions back. */
const RECORDING_PATHS = ["/s", "/s/"] as const;

const FLAG_PATHS = ["/flags", "/flags/", "/decide", "/decide/"] as const;

/** What any route of PostHog's events has in common. */
const EVENTS = {
  kind: "events",
  method: "POST",
  protocol: "posthog",
  keyOf: (request) => {
    refuseLz64(request);
    return null;
  },
  read: readCapture,
  answer: captured,
} as const satisfies Partial<ClientRoute>;

function eventRoutes(): ClientRoute[] {
  return EVENT_PATHS.map((path) => ({
    ...EVENTS,
    path,
    summary: "Events of PostHog's clients",
  }));
}

function replyRoutes(): ClientReply[] {
  const recordings = RECORDING_PATHS.map((path): ClientReply => ({
    kind: "reply",
    method: "POST",
    path,
    summary: "Session recordings of PostHog's clients: answered, and dropped",
    reply: dropped,
  }));
  const flags = FLAG_PATHS.flatMap((path) =>
    (["GET", "POST"] as const).map((method): ClientReply => ({
      kind: "reply",
      method,
      path,
      summary: "Feature flags of PostHog's clients: there are none",
      reply: noFlags,
    }))
  );
  return [...recordings, ...flags, {
    kind: "reply",
    method: "GET",
    path: "/array/:key/config",
    summary: "What posthog-js asks for as it starts",
    reply: remoteConfig,
  }, {
    kind: "reply",
    method: "GET",
    path: "/array/:key/config.js",
    summary: "The same as a script",
    contentType: "text/javascript",
    reply: ({ params }) => remoteConfigScript(params.key ?? ""),
  }];
}

/** Every path of PostHog's clients but `/batch`. */
export const POSTHOG_ROUTES: readonly (ClientRoute | ClientReply)[] = [
  ...eventRoutes(),
  ...replyRoutes(),
];
