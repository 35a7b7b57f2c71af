import { DatabaseUnavailable, type Sql } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import { type AuditEntry, recordAuditOnce } from "./audit.ts";

/**
 * Records a request that stores nothing itself, such as an export, before its reply. If the database cannot store
 * the entry, as on a full disk, data can still be exported: then only the log says that it happened.
 */
export async function recordAnyway(
  { sql, log }: { readonly sql: Sql; readonly log: Pick<Log, "warn"> },
  entry: AuditEntry,
): Promise<void> {
  try {
    await recordAuditOnce(sql, entry);
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    // The log names no person.
    const { what, projectId } = entry;
    log.warn("not in the audit: the database takes no entry", { what, projectId });
  }
}

/** Records an export as `recordAnyway` does. A `HEAD` gives nothing out, so it is not in the audit. */
export async function recordExport(
  services: Parameters<typeof recordAnyway>[0],
  { method }: Pick<Request, "method">,
  entry: AuditEntry,
): Promise<void> {
  if (method !== "HEAD") await recordAnyway(services, entry);
}
