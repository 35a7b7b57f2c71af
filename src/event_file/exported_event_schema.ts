import { z } from "zod";

const text = (description: string) => z.string().nullable().meta({ description });
const size = (description: string) =>
  z.object({ width: z.int().nullable(), height: z.int().nullable() }).nullable()
    .meta({ description });

const place = z.object({
  country: text("ISO 3166-1 alpha-2"),
  region: z.string().nullable(),
  city: z.string().nullable(),
}).nullable().meta({ description: "Null: the address is private, or there is none" });

const found = z.object({
  ip: text("As far as the project stores it"),
  hash: z.string().meta({ description: "The visitor hash: 22 characters of URL-safe Base64" }),
  geo: place,
  ingestedAt: z.iso.datetime().meta({ description: "The receive time" }),
});

const agent = {
  browser: z.string().nullable(),
  os: z.string().nullable(),
  device: z.enum(["desktop", "tablet", "mobile", "other"]).nullable(),
  bot: z.boolean().nullable().meta({ description: "Null: there was no user agent to judge" }),
};

/** The members of a stored event in replies. */
export const EVENT_MEMBERS = {
  eventId: z.uuid(),
  name: z.string(),
  timestamp: z.iso.datetime().meta({
    description: "When it happened, corrected as `clock` says; to the millisecond",
  }),
  sentTimestamp: z.iso.datetime().nullable().meta({
    description:
      "The time that was sent, if it differs; unknown for events that earlier versions stored",
  }),
  clock: z.enum(["client", "corrected", "clamped", "received"]),
  anonymousId: text("As sent"),
  userId: text("As sent"),
  sessionId: text("As sent"),
  url: z.string().nullable(),
  path: text("As sent, or taken from `url`"),
  referrer: z.string().nullable(),
  title: z.string().nullable(),
  properties: z.looseObject({ server: found }).meta({
    description: "As sent, with `server` added",
  }),
  context: z.object({
    viewport: size("CSS pixels, whole; independent of that in the properties"),
    screen: size("CSS pixels, whole"),
    locale: z.string().nullable(),
    timezone: z.string().nullable(),
  }),
  campaign: z.object({
    source: z.string().nullable(),
    medium: z.string().nullable(),
    campaign: z.string().nullable(),
    term: z.string().nullable(),
    content: z.string().nullable(),
    clickId: text("The name of the parameter, such as `gclid`"),
  }),
  ...agent,
  inSession: z.boolean().meta({
    description: "False: it neither begins nor continues a visit",
  }),
  extra: z.record(z.string(), z.unknown()).nullable().meta({
    description: "Other members that were sent; under `context`, those of the context",
  }),
  server: found.extend(agent).meta({ description: "What the server found out about the event" }),
};

/** A stored event in replies and in exports, in the form that `POST /v1/projects/:id/import` takes. */
export const EventShown = z.object(EVENT_MEMBERS).meta({ id: "StoredEvent" });
