import { z } from "zod";
import { recordAuditOnce } from "../audit/audit.ts";
import type { ApiExchange } from "../auth/access.ts";
import { askedBy, type AuditServices } from "../auth/audited.ts";
import { projectOfPath } from "../auth/project_endpoints.ts";
import { type Project, projectName } from "../auth/projects.ts";
import type { Sql } from "../db/sql.ts";
import { readJson } from "../http/json_body.ts";
import { json } from "../http/reply.ts";
import { PROJECTION_WAIT_MS_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import { dateAt } from "../query/local_dates.ts";
import { firstEventMs } from "./imported_reading.ts";
import { IMPORTED_BODY_BYTES_MAX } from "./imported_limits.ts";
import {
  IMPORTED_SOURCES,
  ImportedDays,
  type ImportedSource,
  SOURCE_NAMES,
} from "./imported_sums.ts";
import {
  ImportedExtent,
  listImportedDays,
  removeImportedDays,
  storeImportedDays,
} from "./imported_store.ts";

export interface ImportedServices extends AuditServices {
  readonly sql: Sql;
  readonly projection: { catchUpWithin(projectId: number, msMax: number): Promise<void> };
}

export const ImportedHistoryShown = z.object({
  firstOwnDay: z.iso.date().nullable().meta({
    description:
      "The project's local day of its first counted event: from it on nothing imported is shown",
  }),
  sources: z.array(ImportedExtent),
});

export const ImportedDaysRemoved = z.object({ days: z.int() });

function sourceOfPath({ params }: ApiExchange): ImportedSource {
  const source = IMPORTED_SOURCES.find((known) => known === params.source);
  if (source !== undefined) return source;
  throw new Problem(
    "not_found",
    `Daily sums are imported from ${IMPORTED_SOURCES.join(", ")}.`,
  );
}

/** `GET /v1/projects/:id/imported-history`: lists what is imported, and until when it is shown. */
export async function getImportedHistory(
  { sql, projection }: ImportedServices,
  exchange: ApiExchange,
) {
  const { projectId, timezone } = await projectOfPath(sql, exchange);
  // The project's first events may still be pending.
  await projection.catchUpWithin(projectId, PROJECTION_WAIT_MS_MAX);
  const firstMs = await firstEventMs(sql, projectId);
  const firstOwnDay = firstMs === null ? null : dateAt(firstMs, timezone).toString();
  return json({ firstOwnDay, sources: await listImportedDays(sql, projectId) });
}

function entryOf(
  services: ImportedServices,
  exchange: ApiExchange,
  project: Project,
  source: ImportedSource,
) {
  return {
    ...askedBy(services, exchange),
    subject: `${projectName(project)}: ${SOURCE_NAMES[source]}`,
    projectId: project.projectId,
  };
}

/** `POST /v1/projects/:id/imported-history/:source`: stores days, and replaces the same days stored before. */
export async function postImportedHistory(services: ImportedServices, exchange: ApiExchange) {
  const { sql } = services;
  const project = await projectOfPath(sql, exchange);
  const source = sourceOfPath(exchange);
  const { days, dryRun } = await readJson(exchange.request, ImportedDays, IMPORTED_BODY_BYTES_MAX);
  const { projectId } = project;
  if (dryRun) return json(await storeImportedDays(sql, projectId, source, days, true));
  const stored = await sql.transaction(async (inside) => {
    const stored = await storeImportedDays(inside, projectId, source, days);
    // One import is many requests, and one entry of the audit.
    if (stored.added + stored.replaced > 0) {
      const entry = entryOf(services, exchange, project, source);
      await recordAuditOnce(inside, { ...entry, what: "history.import" });
    }
    return stored;
  });
  return json(stored);
}

/** `DELETE /v1/projects/:id/imported-history/:source`: deletes a source's days, and replies how many. */
export async function deleteImportedHistory(services: ImportedServices, exchange: ApiExchange) {
  const { sql } = services;
  const project = await projectOfPath(sql, exchange);
  const source = sourceOfPath(exchange);
  const days = await sql.transaction(async (inside) => {
    const days = await removeImportedDays(inside, project.projectId, source);
    if (days > 0) {
      const entry = entryOf(services, exchange, project, source);
      await recordAuditOnce(inside, { ...entry, what: "history.remove" });
    }
    return days;
  });
  return json({ days });
}
