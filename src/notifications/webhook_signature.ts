import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";

/** Returns the signature of a message in the form of Standard Webhooks: HMAC-SHA-256 of `id.timestamp.body`. */
export function signature(
  secret: string,
  { id, timestampS, body }: {
    readonly id: string;
    readonly timestampS: number;
    readonly body: string;
  },
): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const digest = createHmac("sha256", key).update(`${id}.${timestampS}.${body}`).digest("base64");
  return `v1,${digest}`;
}
