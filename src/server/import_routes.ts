import { z } from "zod";
import { recordAnyway } from "../audit/recorded_anyway.ts";
import type { ApiExchange } from "../auth/access.ts";
import { askedBy, type AuditServices } from "../auth/audited.ts";
import { projectOfPath } from "../auth/project_endpoints.ts";
import { type Project, projectName } from "../auth/projects.ts";
import type { Database } from "../db/sql.ts";
import type { DocumentedRoute } from "./documented_route.ts";
import { FILE_IMPORT_QUERY, FileImportReply, importFile } from "./file_import.ts";
import type { Log } from "../http/log.ts";
import { UPLOADS_IN_FLIGHT_BYTES_MAX } from "../importers/importer_limits.ts";
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

/** The bytes of a file, whose format is recognised by the first ones. */
const FileBytes = z.string().meta({ format: "binary", description: "At most 10 MiB; no Parquet" });

type Services =
  & ImportServices
  & AuditServices
  & { readonly database: Database; readonly log: Log };

/**
 * Returns functions that write imports into the audit: each uploaded file, and each import of lines, which
 * takes many requests of one name, once.
 */
function importRecorder(services: Services) {
  const recorded = new RecentCache<string, true>(IMPORTS_REMEMBERED_MAX);
  const write = async (asker: ReturnType<typeof askedBy>, project: Project, name: string) => {
    const subject = name === "" ? projectName(project) : `${projectName(project)}, import ${name}`;
    await recordAnyway({ sql: services.database, log: services.log }, {
      ...asker,
      what: "events.import",
      subject,
      projectId: project.projectId,
    });
  };
  return {
    file: (exchange: ApiExchange, project: Project, name: string) =>
      write(askedBy(services, exchange), project, name),
    async lines(exchange: ApiExchange, project: Project, name: string) {
      const asker = askedBy(services, exchange);
      const key = JSON.stringify([project.projectId, asker.who, name]);
      if (recorded.get(key) !== undefined) return;
      await write(asker, project, name);
      if (name !== "") recorded.set(key, true);
    },
  };
}

const nameOf = (url: URL, parameter: string) =>
  (url.searchParams.get(parameter) ?? "").slice(0, IMPORT_NAME_LENGTH_MAX);

/** Returns the routes that import events, exported by this product or by another. */
export function importRoutes(services: Services): DocumentedRoute[] {
  const record = importRecorder(services);
  const uploads = services.budget.beside(UPLOADS_IN_FLIGHT_BYTES_MAX);
  return [{
    method: "POST",
    path: "/v1/projects/:id/import",
    access: "admin",
    handler: async (exchange) => {
      const { request, url } = exchange;
      const project = await projectOfPath(services.database, exchange);
      return await importEvents(services, {
        project,
        request,
        url,
        record: () => record.lines(exchange, project, nameOf(url, "import")),
      });
    },
    doc: {
      summary: "Import events as they were exported, one on each line, each exactly once",
      body: ImportedLine,
      bodyTypes: ["application/x-ndjson"],
      query: IMPORT_QUERY,
      success: { status: 200, description: "The lines are committed", schema: ImportReply },
      problems: [
        "invalid_parameter",
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
  }, {
    method: "POST",
    path: "/v1/projects/:id/import/file",
    access: "admin",
    handler: async (exchange) => {
      const { request, url } = exchange;
      const project = await projectOfPath(services.database, exchange);
      return await importFile({ ...services, uploads }, {
        project,
        request,
        url,
        record: () => record.file(exchange, project, nameOf(url, "name")),
      });
    },
    doc: {
      summary: "Import a file that another product exported, each event exactly once",
      body: FileBytes,
      bodyTypes: ["application/octet-stream"],
      query: FILE_IMPORT_QUERY,
      success: { status: 200, description: "What became of it", schema: FileImportReply },
      problems: [
        "unreadable_file",
        "invalid_parameter",
        "invalid_encoding",
        "body_timeout",
        "body_too_large",
        "unsupported_encoding",
        "not_found",
        "overloaded",
      ],
    },
  }];
}
