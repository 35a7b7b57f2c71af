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
import {
  AlertBody,
  type AlertDefinition,
  type AlertShown,
  nextLookMs,
} from "./alert_definition.ts";
import { assertNamed, namedByAlert, namedByDigest } from "./asked_definitions.ts";
import { DigestBody, type DigestDefinition, type DigestShown } from "./digest_definition.ts";
import { listDeliveries } from "./deliveries.ts";
import { assertReceivers } from "./receivers.ts";
import { nextSlot } from "./slots.ts";
import type { Notifications } from "./told.ts";
import { LOOKS_RUN_EVERY_MS } from "./told_limits.ts";
import {
  ALERTS,
  deleteTold,
  DIGESTS,
  listTold,
  requireTold,
  saveTold,
  slugOf,
  type StoredAlert,
  type StoredDigest,
  type ToldKind,
} from "./told_store.ts";

export interface ToldServices extends AuditServices {
  readonly sql: Sql;
  readonly now: () => number;
  readonly notifications: Notifications;
  readonly hasMail: boolean;
  readonly ownAddress: (request: Request, peer: string | null) => OwnAddress;
}

/** What is recorded of a change of something that is told. */
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
  const told = { projects, filters, segment, questions };
  const members = { title, every, at, timezone, to, webhooks, ...told };
  return { slug, ...members, nextAt: iso(dueMs), problem } satisfies z.input<typeof DigestShown>;
}

function shownAlert({ slug, definition, firingSinceMs, problem }: StoredAlert) {
  const { title, on, recovery, to, webhooks } = definition;
  const firingSince = firingSinceMs === null ? null : iso(firingSinceMs);
  const members = { title, on, recovery, to, webhooks };
  return { slug, ...members, firingSince, problem } satisfies z.input<typeof AlertShown>;
}

/** `GET /v1/digests`: those of a project, by slug. */
export async function getDigests({ sql }: ToldServices, exchange: ApiExchange): Promise<Response> {
  const { projectId } = await projectOfQuery(sql, exchange);
  const digests = await listTold<DigestDefinition>(sql, DIGESTS, projectId);
  return json({ digests: digests.map(shownDigest) });
}

/** `GET /v1/alerts`: those of a project, by slug. */
export async function getAlerts({ sql }: ToldServices, exchange: ApiExchange): Promise<Response> {
  const { projectId } = await projectOfQuery(sql, exchange);
  const alerts = await listTold<AlertDefinition>(sql, ALERTS, projectId);
  return json({ alerts: alerts.map(shownAlert) });
}

/** Stores a definition with its entry in the audit. */
async function save(
  services: ToldServices,
  exchange: ApiExchange,
  kind: ToldKind,
  { project, definition, dueMs, what }: {
    readonly project: Project;
    readonly definition: DigestDefinition | AlertDefinition;
    readonly dueMs: (timezone: string) => number;
    readonly what: AuditAction;
  },
): Promise<{ isNew: boolean; slug: string }> {
  const { sql, ownAddress, now } = services;
  const slug = slugOf(exchange.params);
  const { projectId } = project;
  const address = ownAddress(exchange.request, exchange.peer).url;
  const { isNew } = await sql.transaction(async (tx) => {
    const isNewOnly = isForNewOnly(exchange.request);
    const saving = { projectId, slug, isNewOnly, definition, address, dueMs, nowMs: now() };
    const saved = await saveTold(tx, kind, saving);
    await recordChange(tx, services, exchange, what, definition.title, project);
    return saved;
  });
  return { isNew, slug };
}

/**
 * `PUT /v1/digests/:slug`: 201 where it is new. Throws `invalid_body`, `mail_not_configured`, `conflict`,
 * `already_exists` where the request is for a new one alone, `insufficient_scope` for a project that is
 * not the token's.
 */
export async function putDigest(services: ToldServices, exchange: ApiExchange): Promise<Response> {
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
  const saving = { project, definition, dueMs, what: "digest.save" } as const;
  const { isNew, slug } = await save(services, exchange, DIGESTS, saving);
  const stored = await requireTold<DigestDefinition>(sql, DIGESTS, projectId, slug);
  return json(shownDigest(stored), isNew ? 201 : 200);
}

/** `PUT /v1/alerts/:slug`: 201 where it is new; it is first looked at within a minute. Throws as digests do. */
export async function putAlert(services: ToldServices, exchange: ApiExchange): Promise<Response> {
  const { sql, now, hasMail } = services;
  const project = await projectOfQuery(sql, exchange);
  slugOf(exchange.params);
  const definition = await readJson(exchange.request, AlertBody);
  const { projectId } = project;
  await assertReceivers(sql, definition, { projectId, projects: [project.id], hasMail });
  await assertNamed(sql, namedByAlert(definition), [project.id]);
  const dueMs = () => nextLookMs(now(), LOOKS_RUN_EVERY_MS);
  const saving = { project, definition, dueMs, what: "alert.save" } as const;
  const { isNew, slug } = await save(services, exchange, ALERTS, saving);
  const stored = await requireTold<AlertDefinition>(sql, ALERTS, projectId, slug);
  return json(shownAlert(stored), isNew ? 201 : 200);
}

async function remove(
  services: ToldServices,
  exchange: ApiExchange,
  kind: ToldKind,
  what: AuditAction,
): Promise<Response> {
  const { sql } = services;
  const project = await projectOfQuery(sql, exchange);
  await sql.transaction(async (tx) => {
    const gone = await deleteTold(tx, kind, project.projectId, exchange.params["slug"] ?? "");
    await recordChange(tx, services, exchange, what, gone.title, project);
  });
  return new Response(null, { status: 204 });
}

/** `DELETE /v1/digests/:slug`: 204. Throws `not_found`. */
export function deleteDigest(services: ToldServices, exchange: ApiExchange): Promise<Response> {
  return remove(services, exchange, DIGESTS, "digest.delete");
}

/** `DELETE /v1/alerts/:slug`: 204. Throws `not_found`. */
export function deleteAlert(services: ToldServices, exchange: ApiExchange): Promise<Response> {
  return remove(services, exchange, ALERTS, "alert.delete");
}

/** Aborts when the server stops or whoever asks has gone. */
const givenUp = ({ notifications }: ToldServices, { request }: ApiExchange) =>
  AbortSignal.any([notifications.stopping, request.signal]);

/**
 * `POST /v1/digests/:slug/test`: sends it now to all its receivers; `{ deliveries }`. Throws
 * `insufficient_scope` where it tells of a project that is not the token's.
 */
export async function testDigest(services: ToldServices, exchange: ApiExchange): Promise<Response> {
  const { sql, notifications } = services;
  const { projectId } = await projectOfQuery(sql, exchange);
  const slug = slugOf(exchange.params);
  const digest = await requireTold<DigestDefinition>(sql, DIGESTS, projectId, slug);
  const principal = requirePrincipal(exchange.who);
  for (const id of digest.definition.projects) resolveProject(principal, id);
  const runner = await notifications.runner();
  return json({ deliveries: await runner.testDigest(digest, givenUp(services, exchange)) });
}

/** `POST /v1/alerts/:slug/test`: looks now and sends what it found to all its receivers. */
export async function testAlert(services: ToldServices, exchange: ApiExchange): Promise<Response> {
  const { sql, notifications } = services;
  const { projectId } = await projectOfQuery(sql, exchange);
  const slug = slugOf(exchange.params);
  const alert = await requireTold<AlertDefinition>(sql, ALERTS, projectId, slug);
  const runner = await notifications.runner();
  return json({ deliveries: await runner.testAlert(alert, givenUp(services, exchange)) });
}

/** `GET /v1/deliveries`: what became of each message, newest first. */
export async function getDeliveries(
  { sql }: ToldServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { projectId } = await projectOfQuery(sql, exchange);
  const { projects } = requirePrincipal(exchange.who);
  return json(await listDeliveries(sql, projectId, exchange.url.searchParams, projects));
}
