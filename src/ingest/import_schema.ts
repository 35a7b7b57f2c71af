import { z } from "zod";
import { EventSchema } from "./event_schema.ts";

const text = z.string().nullish();
const time = z.union([z.string(), z.number()]).nullish();

/** A line of an import, for the OpenAPI document. */
export const ImportedLine = EventSchema.extend({
  server: z.looseObject({
    ip: text,
    hash: text.meta({ description: "22 characters of URL-safe Base64" }),
    geo: z.object({ country: text, region: text, city: text }).nullish(),
    browser: text,
    os: text,
    device: z.enum(["desktop", "tablet", "mobile", "other"]).nullish(),
    bot: z.boolean().nullish(),
    ingestedAt: time,
  }).nullish().meta({
    description:
      "What a server found out about it, stored unchanged. What is left out is derived from " +
      "`context.ip` and `context.userAgent`",
  }),
  clock: z.enum(["client", "corrected", "clamped", "received"]).nullish().meta({
    description: "With this and `server`, `timestamp` is stored unchanged",
  }),
  sentTimestamp: time.meta({ description: "The time that the client sent, if it differs" }),
  campaign: z.object({
    source: text,
    medium: text,
    campaign: text,
    term: text,
    content: text,
    clickId: text,
  }).nullish().meta({ description: "With `server`. What is left out is read from `url`" }),
  inSession: z.boolean().nullish().meta({
    description: "With `server`: whether the event is in a session",
  }),
  extra: z.record(z.string(), z.unknown()).nullish().meta({
    description: "With `server`: further members of the event",
  }),
}).meta({ id: "ImportedEvent", description: "One line: a JSON document. Stored as a whole" });
