import assert from "node:assert/strict";
import { assertStored, Load } from "../support/load.ts";
import {
  operatorToken,
  pause,
  ServerProcess,
  startServer,
  until,
} from "../support/server_process.ts";
import { onPostgres } from "./on_postgres.ts";

interface Told {
  readonly status: number;
  readonly retryAfter: string | null;
  // deno-lint-ignore no-explicit-any -- replies are read as a client would
  readonly body: any;
}

async function ask(url: string, init: RequestInit = {}): Promise<Told> {
  const reply = await fetch(url, { ...init, signal: AbortSignal.timeout(15_000) });
  return {
    status: reply.status,
    retryAfter: reply.headers.get("retry-after"),
    body: await reply.json(),
  };
}

/** The server lives, says what it lacks, and turns nobody away for good. */
async function assertWaits(server: ServerProcess, load: Load): Promise<void> {
  const asks = { headers: { "Authorization": `Bearer ${await operatorToken()}` } };
  const [health, readiness, read] = await Promise.all([
    ask(`${server.url}/healthz`),
    ask(`${server.url}/readyz`),
    ask(`${server.url}/v1/events?project=prj_default`, asks),
  ]);
  assert.equal(health.status, 200);
  assert.equal(readiness.status, 503);
  assert.equal(readiness.body.checks.database.ok, false);
  assert.equal(read.status, 503);
  assert.equal(read.body.code, "database_unavailable");
  assert.match(read.retryAfter ?? "", /^[1-9]\d*$/);
  assert.equal(await load.attempt(server.url, load.batch()), null);
  assert.deepEqual(load.surprises, []);
}

const isReady = (server: ServerProcess) => async () => {
  return (await ask(`${server.url}/readyz`)).status === 200;
};

onPostgres(
  "PostgreSQL away at start: the server waits, and serves when it comes",
  async (postgres) => {
    await postgres.cluster.stop("fast");
    await using server = new ServerProcess(postgres.env);
    // Its secret lies in the database: until that is there, no token can be called bad.
    await using secretive = new ServerProcess({ ...postgres.env, JWT_SECRET: "" });
    const load = new Load(() => server.url, { clients: 0, eventsPerBatch: 5 });
    for (const each of [server, secretive]) {
      await each.listening();
      await assertWaits(each, load);
    }
    assert.equal(load.refusals.get("database_unavailable"), 2);
    await using impatient = new ServerProcess(postgres.env);
    await impatient.listening();
    assert.equal(await impatient.stop(), 0, "a server that waits for its database can be stopped");

    await postgres.cluster.start();
    for (const each of [server, secretive]) {
      await each.ready();
      assert(await isReady(each)());
    }
    const batch = load.batch();
    assert.deepEqual(await load.attempt(server.url, batch), {
      accepted: 5,
      duplicates: 0,
      rejected: [],
    });
    const sql = postgres.open();
    try {
      assert.equal(await assertStored(sql, load), 5);
    } finally {
      await sql.close();
    }
    assert.deepEqual(await Promise.all([server.stop(), secretive.stop()]), [0, 0]);
  },
);

onPostgres("PostgreSQL killed under load: nothing acknowledged is lost", async (postgres) => {
  await using server = await startServer(postgres.env);
  await using load = new Load(() => server.url, {
    clients: 6,
    eventsPerBatch: 20,
    repeatedShare: 0.1,
  });
  load.start();
  for (const how of ["kill", "immediate", "fast", "kill"] as const) {
    await until(10_000, () => Promise.resolve(load.acknowledged.size > 0), "the load is under way");
    await pause(300 + Math.random() * 500);
    const before = load.acknowledged.size;
    await (how === "kill" ? postgres.cluster.kill() : postgres.cluster.stop(how));
    await assertWaits(server, load);
    // Past this, no key is believed without the database.
    await pause(900);
    await assertWaits(server, load);
    await postgres.cluster.start();
    await until(10_000, isReady(server), "the server is ready again");
    await until(
      10_000,
      () => Promise.resolve(load.acknowledged.size > before),
      "events are stored",
    );
  }
  await load.finish();
  assert((load.refusals.get("database_unavailable") ?? 0) > 0);
  const sql = postgres.open();
  try {
    await assertStored(sql, load);
  } finally {
    await sql.close();
  }
  assert.equal(await server.stop(), 0);
});
