import { openPostgres } from "../../src/db/postgres.ts";
import type { Database } from "../../src/db/sql.ts";
import {
  findPostgresBinaries,
  freshDatabase,
  startPostgres,
  type ThrowawayPostgres,
} from "../support/throwaway_postgres.ts";

/** A PostgreSQL server that the test may kill, and an empty database of it. */
export interface OwnPostgres {
  readonly cluster: ThrowawayPostgres;
  /** What a server process needs in its environment to use the database. */
  readonly env: Record<string, string>;
  /** A connection of the test itself, to be closed by it. */
  open(): Database;
}

/** Registers a test with a cluster of its own. Without PostgreSQL it is ignored, in CI it fails. */
export function onPostgres(name: string, fn: (postgres: OwnPostgres) => Promise<void>): void {
  const ignore = findPostgresBinaries() === null && Deno.env.get("CI") !== "true";
  Deno.test({
    name,
    ignore,
    fn: async () => {
      const cluster = await startPostgres();
      const dataDir = await Deno.makeTempDir({ prefix: "footfall-data-" });
      try {
        const { url } = await freshDatabase(cluster);
        const options = { connectionsMax: 1, statementTimeoutMs: 15_000, applicationName: "tests" };
        await fn({
          cluster,
          env: { DATABASE_URL: url, DATA_DIR: dataDir },
          open: () => openPostgres(url, options),
        });
      } finally {
        await cluster.remove();
        await Deno.remove(dataDir, { recursive: true });
      }
    },
  });
}
