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
      "What a server found out about it: taken as it stands. What is left out is made of " +
      "`context.ip` and `context.userAgent`",
  }),
  clock: z.enum(["client", "corrected", "clamped", "received"]).nullish().meta({
    description: "With it and `server`, `timestamp` is taken as it is",
  }),
  sentTimestamp: time.meta({ description: "The time that was sent, where that was another one" }),
  campaign: z.object({
    source: text,
    medium: text,
    campaign: text,
    term: text,
    content: text,
    clickId: text,
  }).nullish().meta({ description: "With `server`. What is left out is read from `url`" }),
  inSession: z.boolean().nullish().meta({ description: "With `server`: is it of a visit" }),
  extra: z.record(z.string(), z.unknown()).nullish().meta({
    description: "With `server`: members of the event beside those above",
  }),
}).meta({ id: "ImportedEvent", description: "One line: a JSON document. Stored as a whole" });
