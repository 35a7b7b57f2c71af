import { fileURLToPath } from "node:url";
import {
  DATABASE_PING_MS_MAX,
  FLUSH_MS_MAX,
  READ_CONNECTIONS_MAX,
  REPLICA_CHECK_CONNECTIONS_MAX,
  WRITE_CONNECTIONS_MAX,
} from "../limits.ts";
import { templateUrl } from "./cluster_template.ts";
import { openEmbedded } from "./embedded.ts";
import { MIGRATIONS } from "./migrations.ts";
import type { Database } from "./sql.ts";

export interface DatabaseOptions {
  /** A PostgreSQL URL, or null for the embedded engine in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly statementTimeoutMs: number;
  readonly connectionsMax: number;
}

/** The configuration of databases. */
export interface DatabaseConfig {
  readonly databaseUrl: string | null;
  readonly databaseReadUrl: string | null;
  readonly dataDir: string;
  readonly readTimeoutMs: number;
}

/**
 * Opens the database that the options name. PostgreSQL is connected on first use, so it may be down;
 * the embedded engine starts here.
 *
 * @throws FolderInUse, DatabaseUnavailable: embedded only.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { statementTimeoutMs } = options;
  if (options.databaseUrl === null) {
    const template = fileURLToPath(templateUrl(MIGRATIONS));
    return await openEmbedded(options.dataDir, { statementTimeoutMs, template });
  }
  const { openPostgres } = await import("./postgres.ts");
  return openPostgres(options.databaseUrl, {
    connectionsMax: options.connectionsMax,
    statementTimeoutMs,
    applicationName: "footfall",
  });
}

/** Opens the database that everything is written to. Throws as `openDatabase` does. */
export function openWriteDatabase({ databaseUrl, dataDir }: DatabaseConfig): Promise<Database> {
  const connectionsMax = WRITE_CONNECTIONS_MAX;
  return openDatabase({ databaseUrl, dataDir, connectionsMax, statementTimeoutMs: FLUSH_MS_MAX });
}

/** Opens the database that reports are read from; the embedded engine has one session for everything. */
export async function openReadDatabase(
  { databaseUrl, databaseReadUrl, dataDir, readTimeoutMs }: DatabaseConfig,
  written: Database,
): Promise<Database> {
  if (databaseUrl === null) return written;
  return await openDatabase({
    databaseUrl: databaseReadUrl ?? databaseUrl,
    dataDir,
    statementTimeoutMs: readTimeoutMs,
    connectionsMax: READ_CONNECTIONS_MAX,
  });
}

/**
 * Opens the replica once more, to be asked how far it is: in the connections of reads, which may all be busy for
 * long, that would be waited for. Null: none is configured.
 */
export async function openReplicaChecks(
  { databaseReadUrl, dataDir }: DatabaseConfig,
): Promise<Database | null> {
  if (databaseReadUrl === null) return null;
  return await openDatabase({
    databaseUrl: databaseReadUrl,
    dataDir,
    statementTimeoutMs: DATABASE_PING_MS_MAX,
    connectionsMax: REPLICA_CHECK_CONNECTIONS_MAX,
  });
}
