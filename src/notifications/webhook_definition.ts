import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { LOCATION_LENGTH_MAX } from "../limits.ts";
import { isOwnNetworkHost } from "../screenshots/egress/egress_route.ts";
import { PlainText, Title } from "../text_schemas.ts";
import { WEBHOOK_SECRET_BYTES } from "./notification_limits.ts";

const WEBHOOK_FORMATS = ["standard", "slack", "discord", "teams"] as const;
export type WebhookFormat = typeof WEBHOOK_FORMATS[number];

/** Whether messages may be posted to a URL: by https, or by http within the server's own network. */
function isAllowedUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "" || url.hostname === "") {
    return false;
  }
  return url.protocol === "https:" || url.protocol === "http:" && isOwnNetworkHost(url.hostname);
}

const members = {
  title: Title.meta({ description: "What people call it.", example: "The team's chat" }),
  url: PlainText.max(LOCATION_LENGTH_MAX, `Use at most ${LOCATION_LENGTH_MAX} characters.`)
    .refine(
      isAllowedUrl,
      "Give an https URL without a user name; http is for addresses of the server's own network.",
    ).meta({ description: "Where messages are posted.", example: "https://hooks.example.com/a" }),
  format: z.enum(WEBHOOK_FORMATS, `Use ${WEBHOOK_FORMATS.join(", ")}.`).default("standard")
    .meta({ description: "standard: signed JSON (Standard Webhooks); the others: of that chat." }),
};

/** Body of `PUT /v1/webhooks/:slug`. */
export const WebhookBody = z.strictObject(members).meta({ id: "WebhookDefinition" });
export type WebhookDefinition = z.output<typeof WebhookBody>;

/** A webhook as replies show it. */
export const WebhookShown = z.object({ slug: z.string(), ...members }).meta({ id: "Webhook" });

/** Reply of `PUT /v1/webhooks/:slug`. */
export const WebhookSaved = WebhookShown.extend({
  secret: z.string().optional().meta({
    description: "Of a new webhook, this once: what its messages are signed with.",
    example: "whsec_…",
  }),
}).meta({ id: "WebhookSaved" });

/** Returns a new secret in the form of Standard Webhooks: `whsec_` and base64. */
export function newWebhookSecret(): string {
  return `whsec_${Buffer.from(randomBytes(WEBHOOK_SECRET_BYTES)).toString("base64")}`;
}

/** Whether a URL is an address of the server's own machine or network. */
export function isOwnNetworkUrl(url: string): boolean {
  return isOwnNetworkHost(new URL(url).hostname);
}
