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
import type { ConnectionOptions } from "./postgres_connection.ts";
import type { Database } from "./sql.ts";

interface DatabaseOptions extends Pick<ConnectionOptions, "onSettingsRefused"> {
  /** A PostgreSQL URL, or null for the embedded engine in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly statementTimeoutMs: number;
  readonly connectionsMax: number;
}

/** The part of the log for what an operator must know of a database. */
interface DatabaseLog {
  warn(message: string, facts: { readonly reason: string }): void;
}

interface DatabaseConfig {
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
  const { databaseUrl, dataDir, ...others } = options;
  if (databaseUrl === null) {
    const { statementTimeoutMs } = others;
    const template = fileURLToPath(templateUrl(MIGRATIONS));
    return await openEmbedded(dataDir, { statementTimeoutMs, template });
  }
  const { openPostgres } = await import("./postgres.ts");
  return openPostgres(databaseUrl, { ...others, applicationName: "footfall" });
}

/** Returns a function that logs the first refusal of settings; every connection gets the same one. */
function logOnce(log: DatabaseLog): (reason: string) => void {
  let isLogged = false;
  return (reason) => {
    if (isLogged) return;
    isLogged = true;
    log.warn("the database refuses settings, so that those of its role hold", { reason });
  };
}

/** Opens the database that everything is written to. Throws as `openDatabase` does. */
export function openWriteDatabase(
  { databaseUrl, dataDir }: DatabaseConfig,
  log: DatabaseLog,
): Promise<Database> {
  return openDatabase({
    databaseUrl,
    dataDir,
    connectionsMax: WRITE_CONNECTIONS_MAX,
    statementTimeoutMs: FLUSH_MS_MAX,
    onSettingsRefused: logOnce(log),
  });
}

/** Opens the database that reports are read from; the embedded engine has one session for everything. */
export async function openReadDatabase(
  { databaseUrl, databaseReadUrl, dataDir, readTimeoutMs }: DatabaseConfig,
  written: Database,
  log: DatabaseLog,
): Promise<Database> {
  if (databaseUrl === null) return written;
  return await openDatabase({
    databaseUrl: databaseReadUrl ?? databaseUrl,
    dataDir,
    statementTimeoutMs: readTimeoutMs,
    connectionsMax: READ_CONNECTIONS_MAX,
    // Of the database for writes, the refusal is logged already.
    ...(databaseReadUrl === null ? {} : { onSettingsRefused: logOnce(log) }),
  });
}

/**
 * Opens the replica once more, to check how far it is: the connections for reads may all be busy for long. Null: none
 * is configured.
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
