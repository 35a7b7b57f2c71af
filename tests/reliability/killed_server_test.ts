import assert from "node:assert/strict";
import { onFreshEngines } from "../support/databases.ts";
import { assertStored, Load } from "../support/load.ts";
import { pause, ServerProcess, startServer, until } from "../support/server_process.ts";

const ROUNDS = 9;

onFreshEngines("kill -9: what was acknowledged is stored, exactly once", async (_t, db) => {
  let url: string | null = null;
  await using load = new Load(() => url, { clients: 6, eventsPerBatch: 20, repeatedShare: 0.1 });
  load.start();
  for (let round = 0; round < ROUNDS; round++) {
    await using server = new ServerProcess(db.env);
    // One round in three ends wherever the start has come to; the others end under load.
    if (round % 3 === 0) await pause(Math.random() * 1200);
    else {
      await server.ready();
      url = server.url;
      // However slow the machine: what is killed has taken events in.
      const before = load.acknowledged.size;
      await until(15_000, () => Promise.resolve(load.acknowledged.size > before), "a first batch");
      await pause(100 + Math.random() * 700);
    }
    await server.kill();
  }
  assert(load.failedAttempts > 0, "no client noticed that the server was killed");
  await using server = await startServer(db.env);
  url = server.url;
  await load.finish();
  assert.equal(await server.stop(), 0);
  const stored = await assertStored(await db.open(), load);
  assert.equal(stored, load.sent.size, "all batches were acknowledged in the end");
  assert(stored > ROUNDS * 20, "the load was a load");
  assert(load.duplicates > 0);
});
