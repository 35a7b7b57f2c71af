import assert from "node:assert/strict";
import { createKeyDirectory } from "../../src/auth/keys.ts";
import { createKey } from "../../src/auth/stored_keys.ts";
import type { Database } from "../../src/db/sql.ts";
import { BodyBudget } from "../../src/http/body_budget.ts";
import { createCors } from "../../src/http/cors.ts";
import { createLog } from "../../src/http/log.ts";
import { createRouter } from "../../src/http/router.ts";
import { openGeo } from "../../src/ingest/geo.ts";
import { ingestEvents } from "../../src/ingest/ingest_endpoint.ts";
import { createSalts } from "../../src/ingest/salts.ts";
import { createAgentReader } from "../../src/ingest/user_agent.ts";
import { createVisitorHasher } from "../../src/ingest/visitor_hash.ts";
import { Writer } from "../../src/ingest/writer.ts";
import { assertProblem, newEvent, readReply } from "../support/app.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects, storedNames } from "../support/event_rows.ts";
import { withMembers } from "../support/fake_sql.ts";

/** The endpoint over a database whose inserts wait until `open` is called, with a queue of 3 rows. */
async function startNarrow(database: Database) {
  const gate = Promise.withResolvers<void>();
  const held = withMembers(database, {
    query: async (text, params) => (await gate.promise, await database.query(text, params)),
  });
  const log = createLog({
    level: "error",
    format: "json",
    colour: false,
    now: Date.now,
    write: (line) => assert.fail(line),
  });
  const budget = new BodyBudget(2_000, 2);
  const salts = createSalts(database, Date.now, (n) => crypto.getRandomValues(new Uint8Array(n)));
  const made = { projectId: 1, kind: "public", label: null, expiresAt: null } as const;
  const { key } = await createKey(database, { ...made, nowMs: Date.now() });
  const services = {
    keys: createKeyDirectory(database, { now: Date.now, log }),
    writer: new Writer(held, { flushesAtOnce: 1, queuedRowsMax: 3, observe: () => {} }),
    enrichment: {
      readAgent: createAgentReader(),
      geo: await openGeo(null),
      hasher: createVisitorHasher((day) => salts.saltFor(day)),
    },
    budget,
    rateLimit: null,
    ipStorage: "full" as const,
    clientAddress: (peer: string | null) => peer,
    peerOf: () => Promise.resolve(null),
    now: Date.now,
    observe: () => {},
  };
  const handle = createRouter([{
    method: "POST",
    path: "/v1/events",
    access: "key",
    handler: (exchange) => ingestEvents(services, { ...exchange, who: null }),
  }], {
    basePath: "",
    cors: createCors(["*"]),
    log,
    authorize: () => Promise.resolve(null),
    observe: () => {},
  });
  const post = async (body: string) => {
    const init = { method: "POST", headers: { "X-API-Key": key }, body };
    return await readReply(await handle(new Request("http://x/v1/events", init), null));
  };
  return { post, open: () => gate.resolve(), services };
}

const batch = (events: number) =>
  JSON.stringify({ events: Array.from({ length: events }, () => newEvent()) });

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    assert.ok(tries < 2_000, "it does not come to that");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

onBothEngines(
  "POST /v1/events: a full queue is 503 overloaded, with Retry-After and CORS",
  async (_, db) => {
    const database = await openWithProjects(db);
    const { post, open, services } = await startNarrow(database);
    const waiting = [post(batch(2)), post(batch(2))];
    await until(() => services.writer.full);
    const refused = await post(batch(1));
    assertProblem(refused, 503, "overloaded");
    assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.equal(refused.headers.get("access-control-allow-origin"), "*");
    open();
    assert.deepEqual((await Promise.all(waiting)).map(({ status }) => status), [200, 200]);
    assert.equal((await storedNames(database)).size, 4);
    assert.equal((await post(batch(1))).status, 200);

    const large = await post(batch(100));
    assertProblem(large, 503, "overloaded");
    assert.ok(large.headers.has("retry-after"));
    assert.equal(services.budget.bytes, 0);
    assert.equal((await storedNames(database)).size, 5);
  },
);
