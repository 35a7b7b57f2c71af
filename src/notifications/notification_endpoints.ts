import type { z } from "zod";
import { type AuditAction, recordAudit } from "../audit/audit.ts";
import { type ApiExchange, requirePrincipal, resolveProject } from "../auth/access.ts";
import { askedBy, type AuditServices } from "../auth/audited.ts";
import { projectOfQuery } from "../auth/project_of_query.ts";
import { type Project, requireProject } from "../auth/projects.ts";
import type { Sql } from "../db/sql.ts";
import { readJson } from "../http/json_body.ts";
import { isForNewOnly } from "../http/known_copy.ts";
import type { OwnAddress } from "../http/own_address.ts";
import { json } from "../http/reply.ts";
import { LIST_QUERY, readOfList } from "../query/without_effect.ts";
import {
  AlertBody,
  type AlertDefinition,
  type AlertShown,
  nextCheckMs,
} from "./alert_definition.ts";
import { assertNamed, namedByAlert, namedByDigest } from "./named_definitions.ts";
import { DigestBody, type DigestDefinition, type DigestShown } from "./digest_definition.ts";
import { listDeliveries } from "./deliveries.ts";
import { assertReceivers } from "./receivers.ts";
import { nextSlot } from "./slots.ts";
import type { Notifications } from "./notifications.ts";
import { CHECKS_RUN_EVERY_MS } from "./notification_limits.ts";
import {
  ALERTS,
  deleteNotification,
  DIGESTS,
  listNotifications,
  type NotificationKind,
  requireNotification,
  saveNotification,
  slugOf,
  type StoredAlert,
  type StoredDigest,
  type StoredNotification,
} from "./notification_store.ts";

export interface NotificationServices extends AuditServices {
  readonly sql: Sql;
  readonly now: () => number;
  readonly notifications: Notifications;
  readonly hasMail: boolean;
  readonly ownAddress: (request: Request, peer: string | null) => OwnAddress;
}

/** Records a change of a digest, an alert or a webhook in the audit. */
export async function recordChange(
  tx: Sql,
  services: AuditServices,
  exchange: ApiExchange,
  what: AuditAction,
  title: string,
  { projectId }: Project,
): Promise<void> {
  await recordAudit(tx, { ...askedBy(services, exchange), what, subject: title, projectId });
}

const iso = (ms: number) => new Date(ms).toISOString();

function shownDigest({ slug, definition, dueMs, problem }: StoredDigest) {
  const { title, every, at, timezone, to, webhooks, projects, filters, segment, questions } =
    definition;
  const content = { projects, filters, segment, questions };
  const members = { title, every, at, timezone, to, webhooks, ...content };
  return { slug, ...members, nextAt: iso(dueMs), problem } satisfies z.input<typeof DigestShown>;
}

function shownAlert({ slug, definition, firingSinceMs, problem }: StoredAlert) {
  const { title, on, recovery, to, webhooks } = definition;
  const firingSince = firingSinceMs === null ? null : iso(firingSinceMs);
  const members = { title, on, recovery, to, webhooks };
  return { slug, ...members, firingSince, problem } satisfies z.input<typeof AlertShown>;
}

/** Returns the number of the project whose list is asked for. Throws `invalid_parameter` as any other read. */
export async function projectOfList(
  { sql, now }: Pick<NotificationServices, "sql" | "now">,
  exchange: ApiExchange,
): Promise<number> {
  const project = await projectOfQuery(sql, exchange);
  readOfList(exchange.url.searchParams, LIST_QUERY, project, now());
  return project.projectId;
}

/** `GET /v1/digests`: a project's digests, by slug. Throws `invalid_parameter`. */
export async function getDigests(
  services: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  const projectId = await projectOfList(services, exchange);
  const { sql } = services;
  const digests = await listNotifications<DigestDefinition>(sql, DIGESTS, projectId);
  return json({ digests: digests.map(shownDigest) });
}

/** `GET /v1/alerts`: a project's alerts, by slug. Throws `invalid_parameter`. */
export async function getAlerts(
  services: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  const projectId = await projectOfList(services, exchange);
  const { sql } = services;
  const alerts = await listNotifications<AlertDefinition>(sql, ALERTS, projectId);
  return json({ alerts: alerts.map(shownAlert) });
}

/** Stores a definition, and the audit entry of a change. @returns the reply, which shows it as it is stored */
async function save<Definition extends DigestDefinition | AlertDefinition>(
  services: NotificationServices,
  exchange: ApiExchange,
  kind: NotificationKind,
  { project, definition, dueMs, what, shown }: {
    readonly project: Project;
    readonly definition: Definition;
    readonly dueMs: (timezone: string) => number;
    readonly what: AuditAction;
    readonly shown: (stored: StoredNotification<Definition>) => unknown;
  },
): Promise<Response> {
  const { sql, ownAddress, now } = services;
  const slug = slugOf(exchange.params);
  const { projectId } = project;
  const address = ownAddress(exchange.request, exchange.peer).url;
  const { isNew } = await sql.transaction(async (tx) => {
    const isNewOnly = isForNewOnly(exchange.request);
    const saving = { projectId, slug, isNewOnly, definition, address, dueMs, nowMs: now() };
    const saved = await saveNotification(tx, kind, saving);
    if (saved.isChanged) {
      await recordChange(tx, services, exchange, what, definition.title, project);
    }
    return saved;
  });
  const stored = await requireNotification<Definition>(sql, kind, projectId, slug);
  return json(shown(stored), isNew ? 201 : 200);
}

/**
 * `PUT /v1/digests/:slug`: 201 if it is new. Throws `invalid_body`, `mail_not_configured`, `conflict`,
 * `already_exists` if the request may only create, `insufficient_scope` for a project that the token is not for.
 */
export async function putDigest(
  services: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, now, hasMail } = services;
  const project = await projectOfQuery(sql, exchange);
  slugOf(exchange.params);
  const definition = await readJson(exchange.request, DigestBody);
  const principal = requirePrincipal(exchange.who);
  for (const id of definition.projects) await requireProject(sql, resolveProject(principal, id));
  const projects = definition.projects.length === 0 ? [project.id] : definition.projects;
  const { projectId } = project;
  await assertReceivers(sql, definition, { projectId, projects, hasMail });
  await assertNamed(sql, namedByDigest(definition), projects);
  const dueMs = (timezone: string) =>
    nextSlot(definition, definition.timezone ?? timezone, now()).atMs;
  const saving = { project, definition, dueMs, what: "digest.save", shown: shownDigest } as const;
  return await save<DigestDefinition>(services, exchange, DIGESTS, saving);
}

/** `PUT /v1/alerts/:slug`: 201 if it is new; it is first checked within a minute. Throws as `putDigest` does. */
export async function putAlert(
  services: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, now, hasMail } = services;
  const project = await projectOfQuery(sql, exchange);
  slugOf(exchange.params);
  const definition = await readJson(exchange.request, AlertBody);
  const { projectId } = project;
  await assertReceivers(sql, definition, { projectId, projects: [project.id], hasMail });
  await assertNamed(sql, namedByAlert(definition), [project.id]);
  const dueMs = () => nextCheckMs(now(), CHECKS_RUN_EVERY_MS);
  const saving = { project, definition, dueMs, what: "alert.save", shown: shownAlert } as const;
  return await save<AlertDefinition>(services, exchange, ALERTS, saving);
}

async function remove(
  services: NotificationServices,
  exchange: ApiExchange,
  kind: NotificationKind,
  what: AuditAction,
): Promise<Response> {
  const { sql } = services;
  const project = await projectOfQuery(sql, exchange);
  await sql.transaction(async (tx) => {
    const gone = await deleteNotification(
      tx,
      kind,
      project.projectId,
      exchange.params["slug"] ?? "",
    );
    await recordChange(tx, services, exchange, what, gone.title, project);
  });
  return new Response(null, { status: 204 });
}

/** `DELETE /v1/digests/:slug`: 204. Throws `not_found`. */
export function deleteDigest(
  services: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  return remove(services, exchange, DIGESTS, "digest.delete");
}

/** `DELETE /v1/alerts/:slug`: 204. Throws `not_found`. */
export function deleteAlert(
  services: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  return remove(services, exchange, ALERTS, "alert.delete");
}

/** Aborts when the server stops or the client disconnects. */
const abandoned = ({ notifications }: NotificationServices, { request }: ApiExchange) =>
  AbortSignal.any([notifications.stopping, request.signal]);

/**
 * `POST /v1/digests/:slug/test`: sends it to all its receivers now; `{ deliveries }`. Throws
 * `insufficient_scope` if it has a project that the token is not for.
 */
export async function testDigest(
  services: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, notifications } = services;
  const { projectId } = await projectOfQuery(sql, exchange);
  const slug = slugOf(exchange.params);
  const digest = await requireNotification<DigestDefinition>(sql, DIGESTS, projectId, slug);
  const principal = requirePrincipal(exchange.who);
  for (const id of digest.definition.projects) resolveProject(principal, id);
  const runner = await notifications.runner();
  return json({ deliveries: await runner.testDigest(digest, abandoned(services, exchange)) });
}

/** `POST /v1/alerts/:slug/test`: checks it now, and sends the result to all its receivers; `{ deliveries }`. */
export async function testAlert(
  services: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, notifications } = services;
  const { projectId } = await projectOfQuery(sql, exchange);
  const slug = slugOf(exchange.params);
  const alert = await requireNotification<AlertDefinition>(sql, ALERTS, projectId, slug);
  const runner = await notifications.runner();
  return json({ deliveries: await runner.testAlert(alert, abandoned(services, exchange)) });
}

/** `GET /v1/deliveries`: the messages and their states, newest first. */
export async function getDeliveries(
  { sql }: NotificationServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { projectId } = await projectOfQuery(sql, exchange);
  const { projects } = requirePrincipal(exchange.who);
  return json(await listDeliveries(sql, projectId, exchange.url.searchParams, projects));
}
