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

type SettingsTold = Pick<ConnectionOptions, "onSettingsRefused">;

export interface DatabaseOptions extends SettingsTold {
  /** A PostgreSQL URL, or null for the embedded engine in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly statementTimeoutMs: number;
  readonly connectionsMax: number;
}

/** Where it is told what an operator has to know of a database. */
export interface DatabaseLog {
  warn(message: string, facts: { readonly reason: string }): void;
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
  const { databaseUrl, dataDir, ...others } = options;
  if (databaseUrl === null) {
    const { statementTimeoutMs } = others;
    const template = fileURLToPath(templateUrl(MIGRATIONS));
    return await openEmbedded(dataDir, { statementTimeoutMs, template });
  }
  const { openPostgres } = await import("./postgres.ts");
  return openPostgres(databaseUrl, { ...others, applicationName: "footfall" });
}

/** Logs the first time that settings are refused: each connection asks for the same. */
function toldOnce(log: DatabaseLog): SettingsTold {
  let isTold = false;
  const onSettingsRefused = (reason: string) => {
    if (isTold) return;
    isTold = true;
    log.warn("the database refuses settings, so that those of its role hold", { reason });
  };
  return { onSettingsRefused };
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
    ...toldOnce(log),
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
    // Of the database that is written to, that is told already.
    ...(databaseReadUrl === null ? {} : toldOnce(log)),
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
