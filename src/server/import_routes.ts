import { recordAnyway } from "../audit/recorded_anyway.ts";
import { askedBy, type AuditServices } from "../auth/audited.ts";
import { projectOfPath } from "../auth/project_endpoints.ts";
import { projectName } from "../auth/projects.ts";
import type { Database } from "../db/sql.ts";
import type { DocumentedRoute } from "./documented_route.ts";
import type { Log } from "../http/log.ts";
import {
  IMPORT_QUERY,
  importEvents,
  ImportReply,
  type ImportServices,
} from "../ingest/import_endpoint.ts";
import { IMPORTS_REMEMBERED_MAX } from "../ingest/import_limits.ts";
import { ImportedLine } from "../ingest/import_schema.ts";
import { RecentCache } from "../recent_cache.ts";

const IMPORT_NAME_LENGTH_MAX = 64;

/** Events as they were exported, taken as they stand. */
export function importRoutes(
  services: ImportServices & AuditServices & { readonly database: Database; readonly log: Log },
): DocumentedRoute[] {
  const recorded = new RecentCache<string, true>(IMPORTS_REMEMBERED_MAX);
  return [{
    method: "POST",
    path: "/v1/projects/:id/import",
    access: "admin",
    handler: async (exchange) => {
      const { request, url } = exchange;
      const project = await projectOfPath(services.database, exchange);
      const isDryRun = url.searchParams.get("dryRun") === "true";
      const name = (url.searchParams.get("import") ?? "").slice(0, IMPORT_NAME_LENGTH_MAX);
      const asked = askedBy(services, exchange);
      const subject = name === ""
        ? projectName(project)
        : `${projectName(project)}, import ${name}`;
      const key = JSON.stringify([project.projectId, asked.who, name]);
      if (!isDryRun && recorded.get(key) === undefined) {
        await recordAnyway({ sql: services.database, log: services.log }, {
          ...asked,
          what: "events.import",
          subject,
          projectId: project.projectId,
        });
        if (name !== "") recorded.set(key, true);
      }
      return await importEvents(services, { project, request, url });
    },
    doc: {
      summary: "Import events as they were exported, one on each line, each exactly once",
      body: ImportedLine,
      bodyTypes: ["application/x-ndjson"],
      query: IMPORT_QUERY,
      success: { status: 200, description: "The lines are committed", schema: ImportReply },
      problems: [
        "invalid_encoding",
        "body_timeout",
        "body_too_large",
        "too_many_events",
        "unsupported_media_type",
        "unsupported_encoding",
        "not_found",
        "overloaded",
      ],
    },
  }];
}
