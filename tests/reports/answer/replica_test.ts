import assert from "node:assert/strict";
import { openPostgres } from "../../../src/db/postgres.ts";
import type { Database } from "../../../src/db/sql.ts";
import { REPLICA_CHECK_CONNECTIONS_MAX } from "../../../src/limits.ts";
import { createReplica } from "../../../src/reports/answer/replica.ts";
import { onPostgres } from "../../reliability/on_postgres.ts";
import { withMembers } from "../../support/fake_sql.ts";
import { until } from "../../support/server_process.ts";
import { freshDatabase, startReplica } from "../../support/throwaway_postgres.ts";

const READS = 200;
const WAIT_MS = 1_000;
/** Each read may look once as it comes; all of them look again together, every 10 ms. */
const STATEMENTS_MAX = 2 * READS;

const OPTIONS = {
  connectionsMax: REPLICA_CHECK_CONNECTIONS_MAX,
  statementTimeoutMs: 15_000,
  applicationName: "tests",
};

/** Keeps the standby at what it has by now. */
async function pauseReplay(standby: Database): Promise<void> {
  await standby.query("SELECT pg_wal_replay_pause()");
  const paused = "SELECT WHERE pg_get_wal_replay_pause_state() = 'paused'";
  await until(20_000, async () => (await standby.query(paused)).length > 0, "it stands still");
}

onPostgres(
  "createReplica: many waiting reads ask the replica no more often than one",
  async ({ cluster }) => {
    const { url } = await freshDatabase(cluster, { hasSchema: true });
    const server = await startReplica(cluster);
    const readUrl = new URL(url);
    readUrl.port = String(server.port);
    const [primary, standby] = [openPostgres(url, OPTIONS), openPostgres(readUrl.href, OPTIONS)];
    try {
      let statements = 0;
      const query: Database["query"] = (...asked) => {
        statements++;
        return standby.query(...asked);
      };
      const replica = createReplica(primary, withMembers(standby, { query }));
      const readsLag = (msMax: number) =>
        Promise.all(Array.from({ length: READS }, () => replica.lagging([1], msMax)));
      await pauseReplay(standby);
      await primary.query("CREATE TABLE later ()");
      assert((await readsLag(WAIT_MS)).every((lacked) => lacked !== null));
      assert(statements < STATEMENTS_MAX, `${statements} statements`);
      await standby.query("SELECT pg_wal_replay_resume()");
      assert.deepEqual(new Set(await readsLag(20_000)), new Set([null]));
    } finally {
      await Promise.all([primary.close(), standby.close()]);
      await server.remove();
    }
  },
);
