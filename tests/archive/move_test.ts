import assert from "node:assert/strict";
import { type Ended, ended, footfall, run } from "../cli/footfall_process.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Database } from "../../src/db/sql.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { type LockWait, migrate } from "../../src/db/migrate.ts";
import { assertOurs, openTarget } from "../../src/archive/move_target.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { withDatabase } from "./archive_world.ts";
import { type HeldAt, HeldRequest } from "../support/held_request.ts";
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

/** What a move asks of the server, step by step. */
const STEPS = new Set([
  ...["GET /v1/session", "GET /v1/move", "POST /v1/move cancel", "POST /v1/move begin"],
  ...["GET /v1/archive", "GET /v1/archive since", "POST /v1/move pause"],
  ...["GET /v1/archive rows", "GET /v1/archive pictures", "GET /v1/move/rows"],
  "POST /v1/move complete",
]);

/** Steps at which a move is killed, each one further than the one before. */
const KILLS: readonly (HeldAt & { readonly status: "copying" | "paused" | "moved" })[] = [
  { request: "POST /v1/move begin", when: "after", status: "copying" },
  { request: "GET /v1/archive", when: "after", status: "copying" },
  { request: "GET /v1/archive since", when: "before", status: "copying" },
  { request: "POST /v1/move pause", when: "after", status: "paused" },
  { request: "GET /v1/archive rows", when: "after", status: "paused" },
  { request: "GET /v1/move/rows", when: "after", status: "paused" },
  { request: "POST /v1/move complete", when: "before", status: "paused" },
  { request: "POST /v1/move complete", when: "after", status: "moved" },
];

/** What the server says of its move. */
async function moveStatus(dataDir: string): Promise<string> {
  const { url, token } = JSON.parse(await Deno.readTextFile(`${dataDir}/control.json`));
  const reply = await fetch(`${url}/v1/move`, { headers: { authorization: `Bearer ${token}` } });
  return (await reply.json()).status;
}

/** Runs a move up to one of its requests, works while it is held there, and waits for its end. */
async function moveHeld(
  { dataDir, url }: Place,
  at: HeldAt,
  work: (held: HeldRequest, move: Deno.ChildProcess) => Promise<void>,
): Promise<Ended> {
  await using held = await HeldRequest.at(at);
  const move = footfall(dataDir, ["move", "--to", url, "--json"], "null", held.preload);
  const outcome = ended(move);
  const step = `${at.when} ${at.request}`;
  const early = outcome.then(({ errors, out }) => {
    throw new Error(`It ended before it came to ${step}: ${errors}${out}`);
  });
  await Promise.race([until(WAIT_MS_MAX, () => held.reached(), step), early]);
  const unknown = (await held.requests()).filter((name) => !STEPS.has(name));
  assert.deepEqual(unknown, [], "a step that no kill is tried at");
  await work(held, move);
  early.catch(() => {});
  return await outcome;
}

/** Kills a move at one of its steps. */
async function killAt(place: Place, { status, ...at }: typeof KILLS[number]): Promise<void> {
  await moveHeld(place, at, async (_held, move) => {
    assert.equal(await moveStatus(place.dataDir), status);
    move.kill("SIGKILL");
  });
}

async function assertHalfMoved(place: Place): Promise<void> {
  await using server = new ServerProcess({ DATA_DIR: place.dataDir, DATABASE_URL: place.url });
  assert.notEqual(await server.ended(), 0);
  assert.match(server.errorOutput, /has not come to its end/);
}

async function assertMoved(server: ServerProcess): Promise<void> {
  const ready = await fetch(`${server.url}/readyz`);
  const { checks } = await ready.json();
  assert.equal(ready.status, 503);
  assert.match(checks.moved.message, /DATABASE_URL that its log and moved\.json/);
  assert.doesNotMatch(checks.moved.message, /postgres/);
  await until(
    WAIT_MS_MAX,
    () => Promise.resolve(/databaseUrl\W+postgres/.test(server.errorOutput)),
    "told",
  );
  const reply = await fetch(`${server.url}/v1/events`, {
    method: "POST",
    headers: { "X-API-Key": "pk_of_nobody" },
    body: "{}",
  });
  assert.equal(reply.status, 503);
  const { code, detail } = await reply.json();
  assert.equal(code, "moved");
  assert.match(detail, /to the new server/);
  assert.doesNotMatch(detail, /postgres/);
  assert.ok(Number(reply.headers.get("retry-after")) > 0);
}

Deno.test({
  name: "move: a server under load moves to PostgreSQL, killed at each step, and loses nothing",
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
        const killed = footfall(dataDir, move);
        const outcome = ended(killed);
        const sql = "SELECT FROM event_ids LIMIT 1";
        await until(WAIT_MS_MAX, there(target, sql), "the first events come");
        killed.kill("SIGKILL");
        await outcome;
        let hasPaused = false;
        for (const kill of KILLS) {
          await killAt(place, kill);
          const isMoved = kill.status === "moved";
          if (!isMoved) await assertHalfMoved(place);
          // Once in the pause: the server goes on by itself. Else the next run sees to it.
          if (kill.status === "copying" || kill.status === "paused" && !hasPaused) await grows();
          hasPaused ||= kill.status === "paused";
        }
        await assertMoved(server);
        await assertHalfMoved(place);
        // The same database by another name: whether it is the same, nobody but the operator knows.
        const other = databaseUrl.replace("127.0.0.1", "localhost");
        const refused = await run(dataDir, ["move", "--to", other]);
        assert.equal(refused.code, 1, refused.out);
        assert.match(
          refused.errors,
          /has moved to postgres:\/\/127\.0\.0\.1:.*--to postgres:\/\/127/s,
        );
        await assertHalfMoved(place);
        const { code, out, errors } = await run(dataDir, move);
        assert.equal(code, 0, errors + out);
        assert.deepEqual(JSON.parse(out).moved, true);
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
  name: "move: a target that goes away or has no room is reported, and the next run completes it",
  ignore,
  fn: () =>
    between(async (place) => {
      const { dataDir, url: databaseUrl, target } = place;
      const at: HeldAt = { request: "GET /v1/archive since", when: "before" };
      await using server = await startServer({ DATA_DIR: dataDir });
      const load = new Load(() => server.url, { clients: 0, eventsPerBatch: 30 });
      const store = async () => assert.ok(await load.attempt(server.url, load.batch()) !== null);
      await store();
      const full = await moveHeld(place, at, async (held) => {
        await target.script(`
          CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
          CREATE TRIGGER no_space BEFORE INSERT ON journal FOR EACH ROW EXECUTE FUNCTION no_space()`);
        await store();
        await held.release();
      });
      assert.equal(full.code, 1, full.errors);
      assert.match(JSON.parse(full.out).error.detail, /The disk of the database at .* is full/);
      assert.equal(await moveStatus(dataDir), "none");
      await store();
      await target.script("DROP FUNCTION no_space CASCADE");

      const away = await moveHeld(place, at, async (held) => {
        await cluster!.stop("immediate");
        await store();
        await held.release();
      });
      assert.equal(away.code, 1, away.errors);
      const { error } = JSON.parse(away.out);
      assert.equal(error.code, "target_refused");
      assert.match(error.detail, /does not answer any more .*run the same command again/);
      assert.equal(await moveStatus(dataDir), "none");
      await store();
      await cluster!.start();

      const { code, out, errors } = await run(dataDir, ["move", "--to", databaseUrl, "--json"]);
      assert.equal(code, 0, errors + out);
      assert.equal(JSON.parse(out).events, load.sent.size);
      assert.equal(await assertStored(target, load), load.sent.size);
      assert.equal(await server.stop(), 0);
    }),
});

const DELIVERIES = `
INSERT INTO projects (public_id, name) VALUES ('prj_one', 'One'), ('prj_two', 'Two');
INSERT INTO deliveries (delivery_id, project_id, source, slug, channel, receiver, message, status, tries,
  outcome, created_at, due_at, claimed_until, ended_at)
SELECT 'msg_' || n, p.project_id, 'alert', 'quiet', 'webhook', 'chat', '{"kind": "alert", "sections": []}',
  CASE n WHEN 1 THEN 'sent' ELSE 'waiting' END, n, 'Answered 503.', now(),
  CASE WHEN n > 1 THEN timestamptz '2030-01-01' END, CASE n WHEN 3 THEN timestamptz '2030-01-01' END,
  CASE n WHEN 1 THEN now() END
FROM generate_series(1, 4) n
JOIN projects p ON p.public_id = CASE WHEN n % 2 = 1 THEN 'prj_two' ELSE 'prj_one' END ORDER BY n;
DELETE FROM deliveries WHERE delivery_id = 'msg_2'`;

Deno.test({
  name: "move: messages that wait come along in their order, and go on being numbered",
  ignore,
  fn: () =>
    between(async ({ dataDir, url, target }) => {
      const read = (sql: Database) =>
        sql.query(
          `SELECT delivery_no, delivery_id, public_id, status, tries, outcome, message, due_at, ended_at
          FROM deliveries JOIN projects USING (project_id) ORDER BY delivery_no`,
        );
      const there = await withDatabase({ DATA_DIR: dataDir }, async (source) => {
        await source.script(DELIVERIES);
        return await read(source);
      });
      assert.equal(there.length, 3);
      const { code, out, errors } = await run(dataDir, ["move", "--to", url, "--json"]);
      assert.equal(code, 0, errors + out);
      assert.deepEqual(await read(target), there);
      const claimed = await target.query("SELECT FROM deliveries WHERE claimed_until IS NOT NULL");
      assert.deepEqual(claimed, [], "another server had taken it");
      const [made] = await target.query<{ delivery_no: number }>(
        `INSERT INTO deliveries (delivery_id, project_id, source, slug, channel, receiver, message,
          created_at)
        SELECT 'msg_5', project_id, source, slug, channel, receiver, message, created_at
        FROM deliveries LIMIT 1 RETURNING delivery_no`,
      );
      assert.ok(made!.delivery_no > Number(there.at(-1)!.delivery_no));
    }),
});

Deno.test({
  name: "move: a target whose schema was only half made is used",
  ignore,
  fn: () =>
    between(async ({ target }) => {
      for (const { version } of MIGRATIONS) {
        await migrate(target, MIGRATIONS.filter((each) => each.version <= version));
        await assertOurs(target, "any");
      }
      await target.query("INSERT INTO projects (public_id, name) VALUES ('prj_one', 'One')");
      await assert.rejects(assertOurs(target, "any"), { name: "TargetRefused" });
    }),
});

Deno.test({
  name: "move: a wait for a table of the target that somebody holds is told",
  ignore,
  fn: () =>
    between(async ({ target }) => {
      await migrate(target, MIGRATIONS.slice(0, -1));
      const told = Promise.withResolvers<LockWait>();
      const held = Promise.withResolvers<void>();
      const holding = target.transaction(async (tx) => {
        await tx.query("LOCK TABLE schema_migrations IN SHARE MODE");
        held.resolve();
        await told.promise;
      });
      await held.promise;
      const patience = { lockMs: 100, pauseMs: 100, onWait: told.resolve };
      const opening = openTarget(target, "any", patience);
      await Promise.race([told.promise, opening]);
      await holding;
      await opening;
      assert.equal((await told.promise).migration, MIGRATIONS.at(-1)!.name);
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

Deno.test("move: the error for a database that does not answer names the option", async () => {
  const dataDir = await makeDataDir("footfall-move-");
  try {
    const to = "postgres://nobody:a-password@127.0.0.1:1/footfall";
    const { code, out } = await run(dataDir, ["move", "--to", to, "--json"]);
    assert.equal(code, 1);
    const { error } = JSON.parse(out);
    assert.equal(error.code, "target_refused");
    assert.match(error.detail, /^At postgres:.*127\.0\.0\.1:1\/footfall: .*--to/s);
    assert.doesNotMatch(error.detail, /a-password|DATABASE_URL/);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
