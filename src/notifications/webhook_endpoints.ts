import {
  type ApiExchange,
  insufficientScope,
  type Principal,
  requirePrincipal,
} from "../auth/access.ts";
import { projectOfQuery } from "../auth/project_of_query.ts";
import { readJson } from "../http/json_body.ts";
import { isForNewOnly } from "../http/known_copy.ts";
import { json } from "../http/reply.ts";
import type { Sql } from "../db/sql.ts";
import { Problem } from "../problem.ts";
import {
  type NotificationServices,
  projectOfList,
  recordChange,
} from "./notification_endpoints.ts";
import { deleteNotification, noneOf, slugOf, WEBHOOKS } from "./notification_store.ts";
import {
  digestsOfWebhook,
  findWebhook,
  listWebhooks,
  saveWebhook,
  usersOfWebhook,
} from "./webhook_store.ts";
import { isOwnNetworkUrl, newWebhookSecret, WebhookBody } from "./webhook_definition.ts";

/** `GET /v1/webhooks`: a project's webhooks, by slug, without their secrets. Throws `invalid_parameter`. */
export async function getWebhooks(
  services: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  const projectId = await projectOfList(services, exchange);
  const { sql } = services;
  const webhooks = await listWebhooks(sql, projectId);
  return json({ webhooks: webhooks.map(({ slug, definition }) => ({ slug, ...definition })) });
}

/**
 * Throws `insufficient_scope` if a digest that goes to the webhook has a project that the token is not for, since
 * whoever sets the address receives the digest.
 */
async function assertMayReceive(
  sql: Sql,
  { projects }: Principal,
  projectId: number,
  slug: string,
): Promise<void> {
  if (projects === "*") return;
  const digests = await digestsOfWebhook(sql, projectId, slug);
  const foreign = digests.find((digest) => !digest.projects.every((id) => projects.includes(id)));
  if (foreign === undefined) return;
  throw insufficientScope(
    `“${foreign.title}” goes to it and tells of a project that the token is not for. Set another ` +
      "webhook, or let somebody change this one who may see all that goes to it.",
  );
}

/**
 * `PUT /v1/webhooks/:slug`: 201 with its secret if it is new. Throws `insufficient_scope` for an address of the
 * server's own network, unless the token is for every project, and as `assertMayReceive` does.
 */
export async function putWebhook(
  services: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql } = services;
  const project = await projectOfQuery(sql, exchange);
  const slug = slugOf(exchange.params);
  const definition = await readJson(exchange.request, WebhookBody);
  const principal = requirePrincipal(exchange.who);
  const byOperator = principal.projects === "*";
  if (!byOperator && isOwnNetworkUrl(definition.url)) {
    throw insufficientScope(
      "This URL is an address of the server's own machine or network. Give a public one, or let " +
        'somebody set it whose token is for every project (`"projects": ["*"]`).',
    );
  }
  const secret = newWebhookSecret();
  const { isNew } = await sql.transaction(async (tx) => {
    const webhook = { slug, definition, byOperator, secret };
    const isNewOnly = isForNewOnly(exchange.request);
    const saved = await saveWebhook(tx, { projectId: project.projectId, isNewOnly }, webhook);
    // The project is locked now, so no digest can be saved meanwhile.
    await assertMayReceive(tx, principal, project.projectId, slug);
    if (saved.isChanged) {
      await recordChange(tx, services, exchange, "webhook.save", definition.title, project);
    }
    return saved;
  });
  return json({ slug, ...definition, ...isNew ? { secret } : {} }, isNew ? 201 : 200);
}

/** `DELETE /v1/webhooks/:slug`: 204. Throws `not_found`, and `conflict` while a digest or an alert goes to it. */
export async function deleteWebhook(
  services: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql } = services;
  const project = await projectOfQuery(sql, exchange);
  const slug = exchange.params["slug"] ?? "";
  await sql.transaction(async (tx) => {
    const gone = await deleteNotification(tx, WEBHOOKS, project.projectId, slug);
    const users = await usersOfWebhook(tx, project.projectId, slug);
    if (users.length > 0) {
      const named = users.slice(0, 3).map((title) => `“${title}”`).join(", ");
      throw new Problem("conflict", `${named} still goes to it: take it out there first.`);
    }
    await recordChange(tx, services, exchange, "webhook.delete", gone.title, project);
  });
  return new Response(null, { status: 204 });
}

/** `POST /v1/webhooks/:slug/test`: sends a message without figures now; `{ deliveries }`. */
export async function testWebhook(
  services: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, notifications } = services;
  const project = await projectOfQuery(sql, exchange);
  const slug = slugOf(exchange.params);
  const webhook = await findWebhook(sql, project.projectId, slug);
  if (webhook === null) throw noneOf(WEBHOOKS);
  const signal = AbortSignal.any([notifications.stopping, exchange.request.signal]);
  const runner = await notifications.runner();
  const { title } = webhook.definition;
  return json({ deliveries: await runner.testWebhook(project, slug, title, signal) });
}
