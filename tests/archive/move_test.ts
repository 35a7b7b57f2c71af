import assert from "node:assert/strict";
import { ended, footfall, run } from "../cli/footfall_process.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Database } from "../../src/db/sql.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { assertStored, Load } from "../support/load.ts";
import { operatorToken, ServerProcess, startServer, until } from "../support/server_process.ts";
import {
  findPostgresBinaries,
  freshDatabase,
  startPostgres,
  type ThrowawayPostgres,
} from "../support/throwaway_postgres.ts";

const ignore = findPostgresBinaries() === null && Deno.env.get("CI") !== "true";
/** However slow the machine. */
const WAIT_MS_MAX = 180_000;

let cluster: ThrowawayPostgres | null = null;
if (!ignore) {
  Deno.test.beforeAll(async () => {
    cluster = await startPostgres();
  });
  Deno.test.afterAll(async () => {
    await cluster?.remove();
  });
}

interface Place {
  readonly dataDir: string;
  readonly url: string;
  readonly target: Database;
}

/** An empty embedded database, and an empty PostgreSQL. */
async function between(work: (place: Place) => Promise<void>): Promise<void> {
  const dataDir = await makeDataDir("footfall-move-");
  const { url, drop } = await freshDatabase(cluster!);
  const target = await openDatabase({
    databaseUrl: url,
    dataDir,
    statementTimeoutMs: 15_000,
    connectionsMax: 2,
  });
  try {
    await work({ dataDir, url, target });
  } finally {
    await target.close();
    await drop();
    await Deno.remove(dataDir, { recursive: true });
  }
}

const there = (target: Database, sql: string) => () =>
  target.query(sql).then((rows) => rows.length > 0, () => false);

/** Moments at which a move is killed. */
const KILLS = [
  ["as it begins", "SELECT FROM settings WHERE name = 'move:state'"],
  ["as events come", "SELECT FROM event_ids LIMIT 1"],
] as const;

async function assertHalfMoved(place: Place): Promise<void> {
  await using server = new ServerProcess({ DATA_DIR: place.dataDir, DATABASE_URL: place.url });
  assert.notEqual(await server.ended(), 0);
  assert.match(server.errorOutput, /has not come to its end/);
}

async function assertMoved(server: ServerProcess): Promise<void> {
  const ready = await fetch(`${server.url}/readyz`);
  const { checks } = await ready.json();
  assert.equal(ready.status, 503);
  assert.match(checks.moved.message, /DATABASE_URL=postgres/);
  const reply = await fetch(`${server.url}/v1/events`, {
    method: "POST",
    headers: { "X-API-Key": "pk_of_nobody" },
    body: "{}",
  });
  assert.equal(reply.status, 503);
  assert.equal((await reply.json()).code, "moved");
  assert.ok(Number(reply.headers.get("retry-after")) > 0);
}

Deno.test({
  name: "move: a server under load moves to PostgreSQL, killed twice on the way, and loses nothing",
  ignore,
  fn: () =>
    between(async (place) => {
      const { dataDir, url: databaseUrl, target } = place;
      let url: string | null = null;
      await using load = new Load(() => url, {
        clients: 3,
        eventsPerBatch: 20,
        repeatedShare: 0.1,
        pauseMs: 200,
      });
      const move = ["move", "--to", databaseUrl, "--json"];
      const grows = async () => {
        const before = load.acknowledged.size;
        await until(
          WAIT_MS_MAX,
          () => Promise.resolve(load.acknowledged.size >= before + 100),
          "events are taken",
        );
      };
      {
        await using server = await startServer({ DATA_DIR: dataDir });
        url = server.url;
        load.start();
        await grows();
        for (const [moment, sql] of KILLS) {
          const killed = footfall(dataDir, move);
          const outcome = ended(killed);
          await until(WAIT_MS_MAX, there(target, sql), moment);
          killed.kill("SIGKILL");
          await outcome;
          await grows();
        }
        await assertHalfMoved(place);

        const { code, out, errors } = await run(dataDir, move);
        assert.equal(code, 0, errors + out);
        assert.ok(JSON.parse(out).events >= 200);
        await assertMoved(server);
        const again = await run(dataDir, move);
        assert.equal(again.code, 0, again.errors);
        assert.equal(await server.stop(), 0);
      }
      {
        await using server = await startServer({ DATA_DIR: dataDir });
        await assertMoved(server);
        await server.stop();
      }
      await using server = await startServer({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl });
      url = server.url;
      await load.finish();
      const stored = await assertStored(target, load);
      assert.equal(stored, load.sent.size, "every batch was acknowledged in the end");
      const today = new Date();
      const day = (offset: number) =>
        new Date(today.getTime() + offset * 86_400_000).toISOString().slice(0, 10);
      const headers = { authorization: `Bearer ${await operatorToken()}` };
      // What Deno says of itself counts as a bot.
      const query = `project=prj_default&bots=include&from=${day(-1)}&to=${day(1)}`;
      const counted = async () => {
        const reply = await fetch(`${server.url}/v1/kpis?${query}`, { headers });
        const body = await reply.json();
        assert.equal(reply.status, 200, JSON.stringify(body));
        return body.pending === 0 && body.totals.events === stored;
      };
      await until(WAIT_MS_MAX, counted, "a read counts every event");
      assert.equal(await server.stop(), 0);
    }),
});

Deno.test({
  name: "move: a database that holds something else is left alone",
  ignore,
  fn: () =>
    between(async ({ dataDir, url, target }) => {
      await target.script("CREATE TABLE orders (id int); INSERT INTO orders VALUES (1)");
      const { code, out } = await run(dataDir, ["move", "--to", url, "--json"]);
      assert.equal(code, 1);
      const { error } = JSON.parse(out);
      assert.equal(error.code, "target_refused");
      assert.match(error.detail, /orders/);
      const tables = await target.query(
        "SELECT FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
      );
      assert.equal(tables.length, 1);
    }),
});

Deno.test("move: a database that does not answer is told by the option that names it", async () => {
  const dataDir = await makeDataDir("footfall-move-");
  try {
    const to = "postgres://nobody:a-password@127.0.0.1:1/footfall";
    const { code, out } = await run(dataDir, ["move", "--to", to, "--json"]);
    assert.equal(code, 1);
    const { error } = JSON.parse(out);
    assert.equal(error.code, "target_refused");
    assert.match(error.detail, /127\.0\.0\.1:1\/footfall does not answer: .*--to/s);
    assert.doesNotMatch(error.detail, /a-password|DATABASE_URL/);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
