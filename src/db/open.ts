import { openEmbedded } from "./embedded.ts";
import { openPostgres } from "./postgres.ts";
import type { Database } from "./sql.ts";

export interface DatabaseOptions {
  /** A PostgreSQL URL, or null for the embedded engine in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly statementTimeoutMs: number;
  readonly connectionsMax: number;
}

/**
 * Opens the database that the configuration names. PostgreSQL is connected on first use, so it may
 * be down; the embedded engine starts here.
 *
 * @throws FolderInUse, DatabaseUnavailable: embedded only.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { statementTimeoutMs } = options;
  if (options.databaseUrl === null) {
    return await openEmbedded(options.dataDir, { statementTimeoutMs });
  }
  return openPostgres(options.databaseUrl, {
    connectionsMax: options.connectionsMax,
    statementTimeoutMs,
    applicationName: "footfall",
  });
}
