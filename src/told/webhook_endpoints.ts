import { insufficientScope, requirePrincipal } from "../auth/access.ts";
import { projectOfQuery } from "../auth/project_of_query.ts";
import { readJson } from "../http/json_body.ts";
import { json } from "../http/reply.ts";
import { Problem } from "../problem.ts";
import { type Asked, recordChange, type ToldServices } from "./told_endpoints.ts";
import {
  deleteTold,
  findWebhook,
  listWebhooks,
  noneOf,
  saveWebhook,
  slugOf,
  usersOfWebhook,
  WEBHOOKS,
} from "./told_store.ts";
import { isOwnNetworkUrl, newWebhookSecret, WebhookBody } from "./webhook_definition.ts";

/** `GET /v1/webhooks`: those of a project, by slug, without their secrets. */
export async function getWebhooks({ sql }: ToldServices, asked: Asked): Promise<Response> {
  const { projectId } = await projectOfQuery(sql, asked);
  const webhooks = await listWebhooks(sql, projectId);
  return json({ webhooks: webhooks.map(({ slug, definition }) => ({ slug, ...definition })) });
}

/**
 * `PUT /v1/webhooks/:slug`: 201 with its secret where it is new. Throws `insufficient_scope` for an
 * address of the server's own network, unless the token is for every project.
 */
export async function putWebhook(services: ToldServices, asked: Asked): Promise<Response> {
  const { sql } = services;
  const project = await projectOfQuery(sql, asked);
  const slug = slugOf(asked.params);
  const definition = await readJson(asked.request, WebhookBody);
  const byOperator = requirePrincipal(asked.who).projects === "*";
  if (!byOperator && isOwnNetworkUrl(definition.url)) {
    throw insufficientScope(
      "This URL is an address of the server's own machine or network. Give a public one, or let " +
        'somebody set it whose token is for every project (`"projects": ["*"]`).',
    );
  }
  const secret = newWebhookSecret();
  const { isNew } = await sql.transaction(async (tx) => {
    const webhook = { slug, definition, byOperator, secret };
    const saved = await saveWebhook(tx, project.projectId, webhook);
    await recordChange(tx, services, asked, "webhook.save", definition.title, project);
    return saved;
  });
  return json({ slug, ...definition, ...isNew ? { secret } : {} }, isNew ? 201 : 200);
}

/** `DELETE /v1/webhooks/:slug`: 204. Throws `not_found`, and `conflict` while something is sent to it. */
export async function deleteWebhook(services: ToldServices, asked: Asked): Promise<Response> {
  const { sql } = services;
  const project = await projectOfQuery(sql, asked);
  const slug = asked.params["slug"] ?? "";
  await sql.transaction(async (tx) => {
    const gone = await deleteTold(tx, WEBHOOKS, project.projectId, slug);
    const users = await usersOfWebhook(tx, project.projectId, slug);
    if (users.length > 0) {
      const named = users.slice(0, 3).map((title) => `“${title}”`).join(", ");
      throw new Problem("conflict", `${named} still goes to it: take it out there first.`);
    }
    await recordChange(tx, services, asked, "webhook.delete", gone.title, project);
  });
  return new Response(null, { status: 204 });
}

/** `POST /v1/webhooks/:slug/test`: sends a message without figures now; `{ deliveries }`. */
export async function testWebhook(services: ToldServices, asked: Asked): Promise<Response> {
  const { sql, told } = services;
  const project = await projectOfQuery(sql, asked);
  const slug = slugOf(asked.params);
  const webhook = await findWebhook(sql, project.projectId, slug);
  if (webhook === null) throw noneOf(WEBHOOKS);
  const signal = AbortSignal.any([told.stopping, asked.request.signal]);
  const runner = await told.runner();
  const { title } = webhook.definition;
  return json({ deliveries: await runner.testWebhook(project, slug, title, signal) });
}
