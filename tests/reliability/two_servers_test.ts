import assert from "node:assert/strict";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { storedRows } from "../support/event_rows.ts";
import { assertStored, Load, type SentEvent } from "../support/load.ts";
import { operatorToken, pause, ServerProcess } from "../support/server_process.ts";
import { onPostgres } from "./on_postgres.ts";

const KEYS = "/v1/projects/prj_default/keys";
/** A revoked key may be believed this long by another server. */
const REVOCATION_MS_MAX = 1_000;

async function postOne(url: string, key: string): Promise<number> {
  const reply = await fetch(`${url}/v1/events`, {
    method: "POST",
    headers: { "X-API-Key": key },
    body: JSON.stringify({ events: [{ eventId: crypto.randomUUID() }] }),
  });
  await reply.body?.cancel();
  return reply.status;
}

async function administer(method: string, url: string, body?: unknown): Promise<Response> {
  const reply = await fetch(url, {
    method,
    headers: {
      "Authorization": `Bearer ${await operatorToken()}`,
      "Content-Type": "application/json",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!reply.ok) throw new Error(`${method}: ${reply.status} ${await reply.text()}`);
  return reply;
}

/** The same events in another order. */
function shuffled(events: readonly SentEvent[]): SentEvent[] {
  return events.map((event) => ({ event, at: Math.random() }))
    .sort((a, b) => a.at - b.at).map(({ event }) => event);
}

/** Batches of which each goes to both servers at the same time, and shares events with its neighbours. */
async function postEverywhere(servers: readonly ServerProcess[]): Promise<Load> {
  const load = new Load(() => null, { clients: 0, eventsPerBatch: 150, repeatedShare: 0.3 });
  for (let round = 0; round < 15; round++) {
    const batches = Array.from({ length: 4 }, () => load.batch());
    const attempts = batches.flatMap((batch) =>
      servers.map(async (server) => {
        const acknowledgement = await load.attempt(server.url, shuffled(batch));
        assert(acknowledgement !== null, "a server did not store the batch at the first attempt");
      })
    );
    await Promise.all(attempts);
  }
  return load;
}

/** A key made through one server works on the other at once, and is refused there soon after its end. */
async function tradeKeys([one, two]: [ServerProcess, ServerProcess]): Promise<void> {
  const creation = await administer("POST", one.url + KEYS, { kind: "public" });
  const { id, key } = await creation.json();
  assert.equal(await postOne(two.url, key), 200, "a new key works everywhere at once");

  const until = performance.now() + 600;
  while (performance.now() < until) {
    assert.equal(await postOne(two.url, key), 200);
    await pause(20);
  }
  await (await administer("DELETE", `${one.url}${KEYS}/${id}`)).body?.cancel();
  const revokedAt = performance.now();
  assert.equal(await postOne(one.url, key), 403, "the server that revoked the key refuses it");
  let status = 200;
  while (status === 200) {
    // By when it was sent: a slow machine answers late.
    const sentAt = performance.now();
    status = await postOne(two.url, key);
    const isInTime = sentAt - revokedAt < REVOCATION_MS_MAX;
    assert(status !== 200 || isInTime, "a revoked key is still taken");
    await pause(10);
  }
  assert.equal(status, 403);
}

onPostgres(
  "two servers on one PostgreSQL: exact counts, shared keys, salts and schema",
  async (postgres) => {
    await using one = new ServerProcess(postgres.env);
    await using two = new ServerProcess(postgres.env);
    await Promise.all([one.ready(), two.ready()]);
    const migrated = `${one.errorOutput}\n${two.errorOutput}`.match(/"migration applied"/g) ?? [];
    assert.equal(migrated.length, MIGRATIONS.length, "each migration is applied once");

    const load = await postEverywhere([one, two]);
    const sql = postgres.open();
    try {
      const stored = await assertStored(sql, load);
      assert.equal(load.accepted - load.duplicates, stored);
      assert.equal(stored, load.sent.size);
      const days = Map.groupBy(await storedRows(sql), (row) => row.occurred_at.slice(0, 10));
      for (const rows of days.values()) {
        const hashes = new Set(rows.map((row) => row.visitor_hash));
        assert.equal(hashes.size, 1, "one visitor has one hash a day");
      }
    } finally {
      await sql.close();
    }
    await tradeKeys([one, two]);
    assert.deepEqual(await Promise.all([one.stop(), two.stop()]), [0, 0]);
  },
);
