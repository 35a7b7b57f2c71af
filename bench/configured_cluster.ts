/** A throwaway PostgreSQL with settings of its own, and databases with the product's schema in it. */
import { migrate } from "../src/db/migrate.ts";
import { MIGRATIONS } from "../src/db/migrations.ts";
import { openPostgres } from "../src/db/postgres.ts";
import type { Database } from "../src/db/sql.ts";
import {
  freshDatabase,
  startPostgres,
  type ThrowawayPostgres,
} from "../tests/support/throwaway_postgres.ts";

export interface ConfiguredCluster {
  readonly cluster: ThrowawayPostgres;
  readonly version: string;
  /** What it runs with: those that were set, and others that reads depend on. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Folding ten million events, or one VACUUM of them, is nothing to hurry. */
const STATEMENT_MS_MAX = 3_600_000;
const TOLD = [
  "work_mem",
  "effective_cache_size",
  "random_page_cost",
  "max_parallel_workers_per_gather",
  "autovacuum",
  "jit",
];

/** A connection pool for the benchmark's own statements. */
export function openBench(url: string): Database {
  return openPostgres(url, {
    connectionsMax: 3,
    statementTimeoutMs: STATEMENT_MS_MAX,
    applicationName: "bench",
  });
}

/** Makes a cluster with these settings. Values come from the program, never from outside. */
export async function startConfigured(
  settings: Readonly<Record<string, string>>,
): Promise<ConfiguredCluster> {
  const cluster = await startPostgres();
  try {
    const sql = openBench(cluster.url);
    for (const [name, value] of Object.entries(settings)) {
      await sql.query(`ALTER SYSTEM SET ${name} = '${value}'`);
    }
    await sql.close();
    await cluster.stop("fast");
    await cluster.start();
    const again = openBench(cluster.url);
    const [row] = await again.query<{ server_version: string }>("SHOW server_version");
    const shown: Record<string, string> = {};
    for (const name of [...Object.keys(settings), ...TOLD]) {
      const [{ value }] = await again.query(
        "SELECT current_setting($1::text) AS value",
        [name],
      ) as [{ value: string }];
      shown[name] = value;
    }
    await again.close();
    return { cluster, version: row!.server_version.split(" ")[0]!, settings: shown };
  } catch (error) {
    await cluster.remove();
    throw error;
  }
}

export interface SchemaDatabase {
  readonly url: string;
  readonly name: string;
  readonly sql: Database;
  drop(): Promise<void>;
}

/** A database of its own with the product's schema. */
export async function createSchemaDatabase(cluster: ThrowawayPostgres): Promise<SchemaDatabase> {
  const { url, drop } = await freshDatabase(cluster);
  const sql = openBench(url);
  await migrate(sql, MIGRATIONS);
  return {
    url,
    name: url.slice(url.lastIndexOf("/") + 1),
    sql,
    async drop() {
      await sql.close();
      await drop();
    },
  };
}
