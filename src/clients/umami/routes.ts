import type { ClientRoute } from "../client_event.ts";
import { refused, sent, sentBatch } from "./answer.ts";
import { readBatch, readSend } from "./decode.ts";

const UMAMI = { kind: "events", method: "POST", protocol: "umami", refuse: refused } as const;

export const UMAMI_ROUTES: readonly ClientRoute[] = [
  {
    ...UMAMI,
    path: "/api/send",
    read: readSend,
    answer: sent,
    summary: "An event of Umami's clients; `website` is the key",
  },
  {
    ...UMAMI,
    path: "/api/batch",
    read: readBatch,
    answer: sentBatch,
    summary: "A list of events of Umami's clients, all of one website",
  },
];
