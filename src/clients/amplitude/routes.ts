import type { ClientReply, ClientRoute } from "../client_event.ts";
import { refused, remoteConfig, uploaded } from "./answer.ts";
import { readUpload } from "./decode.ts";

/** Every path of Amplitude's clients but `/batch`. */
export const AMPLITUDE_ROUTES: readonly (ClientRoute | ClientReply)[] = [
  {
    kind: "events",
    method: "POST",
    path: "/2/httpapi",
    protocol: "amplitude",
    read: readUpload,
    answer: uploaded,
    refuse: refused,
    summary: "Events of Amplitude's clients",
  },
  {
    kind: "reply",
    method: "GET",
    path: "/config",
    summary: "What Amplitude's browser client asks for as it starts, before 2.25",
    reply: remoteConfig,
  },
  {
    kind: "reply",
    method: "GET",
    path: "/config/:key",
    summary: "What Amplitude's browser client asks for as it starts",
    reply: remoteConfig,
  },
];
