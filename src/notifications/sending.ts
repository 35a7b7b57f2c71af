import type { Sealer } from "../auth/sealed_value.ts";
import type { Sql } from "../db/sql.ts";
import type { Mail } from "../mail/mail.ts";
import { type DueDelivery, type Outcome, raisedId } from "./deliveries.ts";
import { peopleWhoSee } from "./receivers.ts";
import { ALERTS, DIGESTS, requireNotification } from "./notification_store.ts";
import { digestsOfWebhook, findWebhook } from "./webhook_store.ts";
import type { AlertDefinition } from "./alert_definition.ts";
import type { DigestDefinition } from "./digest_definition.ts";
import { Problem } from "../problem.ts";
import { messageMail } from "./message_mail.ts";
import { unsubscribeUrl } from "./unsubscribe_link.ts";
import { webhookBody } from "./webhook_bodies.ts";
import { postWebhook, type WebhookNetwork } from "./webhook_request.ts";
import { signature } from "./webhook_signature.ts";

export interface SendingServices {
  readonly sql: Sql;
  /** Null: no mail server is configured. */
  readonly mail: Mail | null;
  readonly sealer: Sealer;
  readonly network: WebhookNetwork;
  /** The server's URL; null: the one at which a digest or alert was saved. */
  readonly publicUrl: string | null;
  readonly now: () => number;
}

const dropped = (words: string): Outcome => ({ status: "dropped", words });

/** Finds the digest or alert of a message; null: it has been deleted. */
async function definitionOf(sql: Sql, { source, projectId, slug }: DueDelivery) {
  try {
    return await requireNotification<AlertDefinition | DigestDefinition>(
      sql,
      source === "digest" ? DIGESTS : ALERTS,
      projectId,
      slug,
    );
  } catch (error) {
    if (error instanceof Problem && error.code === "not_found") return null;
    throw error;
  }
}

async function sendMail(
  { sql, mail, sealer, publicUrl }: SendingServices,
  delivery: DueDelivery,
): Promise<Outcome> {
  const { id, receiver, message, projectId, source, slug } = delivery;
  if (mail === null) return { status: "failed", words: "No mail server is configured." };
  const stored = await definitionOf(sql, delivery);
  if (stored === null) return dropped("What it is of has been deleted.");
  if (!stored.definition.to.includes(receiver)) return dropped("Nobody sends to them any more.");
  // The person's rights may have changed since the message was made.
  const projects = message.sections.map(({ project }) => project);
  const may = await peopleWhoSee(sql, [receiver], projects);
  if (!may.has(receiver)) return dropped("They may not see the project any more.");
  const [own] = await sql.query<{ public_id: string }>(
    "SELECT public_id FROM projects WHERE project_id = $1::int",
    [projectId],
  );
  const link = await unsubscribeUrl(sealer, publicUrl ?? stored.address, {
    project: own!.public_id,
    source: source === "digest" ? "digest" : "alert",
    slug,
    email: receiver,
  });
  const problem = await mail.send(
    await messageMail({
      id,
      to: receiver,
      message,
      unsubscribeUrl: link,
      inReplyTo: raisedId(id),
    }),
  );
  return problem === null
    ? { status: "sent", words: "The mail server took it." }
    : { status: "retry", words: problem };
}

/** Whether the digest of a message still goes to its webhook, and still has all projects of the message. */
async function isStillSent(
  sql: Sql,
  { projectId, slug, receiver, message }: DueDelivery,
): Promise<boolean> {
  const digests = await digestsOfWebhook(sql, projectId, receiver);
  const digest = digests.find((one) => one.slug === slug);
  return message.sections.every(({ project }) => digest?.projects.includes(project) ?? false);
}

async function sendToWebhook(
  { sql, network, now }: SendingServices,
  delivery: DueDelivery,
  signal: AbortSignal,
): Promise<Outcome> {
  const { id, projectId, source, receiver, message, createdAtMs } = delivery;
  const webhook = await findWebhook(sql, projectId, receiver);
  if (webhook === null) return dropped("The webhook has been deleted.");
  // Once a digest no longer goes to a webhook, people who may not see all of the digest may change the
  // webhook's address. The address is read first: if it is theirs, the digest is seen to have changed.
  if (source === "digest" && !await isStillSent(sql, delivery)) {
    return dropped("The digest does not send this to the webhook any more.");
  }
  const { definition: { url, format }, byOperator, secret } = webhook;
  const body = webhookBody(message, format, createdAtMs);
  const timestampS = Math.floor(now() / 1000);
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(timestampS),
    "webhook-signature": signature(secret, { id, timestampS, body }),
  };
  return await postWebhook({ url, byOperator, headers, body, signal }, network);
}

/** Tries to send a message once. Throws DatabaseUnavailable; a receiver's failure is an outcome. */
export async function sendDelivery(
  services: SendingServices,
  delivery: DueDelivery,
  signal: AbortSignal,
): Promise<Outcome> {
  switch (delivery.channel) {
    case "mail":
      return await sendMail(services, delivery);
    case "webhook":
      return await sendToWebhook(services, delivery, signal);
    case "log":
      return { status: "sent", words: "It goes to nobody: it stands here alone." };
  }
}
