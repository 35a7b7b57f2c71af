/** A database that answers and takes nothing in: servers are degraded, say why, and go on answering reads. */
import assert from "node:assert/strict";
import type { Database, Sql } from "../../src/db/sql.ts";
import { run } from "../cli/footfall_process.ts";
import { Load, postBatch } from "../support/load.ts";
import { operatorToken, ServerProcess, startServer, until } from "../support/server_process.ts";
import { startReplica } from "../support/throwaway_postgres.ts";
import { onPostgres, type OwnPostgres } from "./on_postgres.ts";

const STANDBY = /default_transaction_read_only is on; DATABASE_URL has to name/;
const NO_RIGHT =
  /lacks a right; let it own Footfall's tables, and the database until they are there/;

const load = new Load(() => null, { clients: 0, eventsPerBatch: 2 });

/** Nothing is taken in, and that is told; reads are answered. */
async function assertRefuses(server: ServerProcess, why: RegExp): Promise<void> {
  const ready = await fetch(`${server.url}/readyz`);
  const { status, checks } = await ready.json();
  assert.deepEqual([ready.status, status, checks.writes.ok], [200, "degraded", false]);
  assert.match(checks.writes.message, why);
  const posted = await postBatch(server.url, load.batch());
  const { code, detail } = await posted.json();
  assert.deepEqual([posted.status, code], [503, "database_unavailable"]);
  assert.match(detail, /^The database refuses this: it is read-only, or the server lacks a right/);
  const read = await fetch(`${server.url}/v1/kpis?project=prj_default`, {
    headers: { "Authorization": `Bearer ${await operatorToken()}` },
  });
  assert.equal(read.status, 200, await read.text());
}

/** Of a database without tables, the log and `/readyz` say why none can be made. */
async function assertWaits(server: ServerProcess, why: RegExp): Promise<void> {
  const { reason } = await server.logged("the database is not ready; trying again every second");
  assert.match(String(reason), why);
  const { status, checks } = await (await fetch(`${server.url}/readyz`)).json();
  assert.deepEqual([status, checks.database.ok, checks.migrations.ok], ["not_ready", true, false]);
  assert.match(checks.writes.message, why);
}

const PROJECT = { DEFAULT_SITE_URL: "https://shop.example", DEFAULT_PROJECT_NAME: "Shop" };
const LEFT = "not all that a start writes is stored: the server goes on trying";
const LEFT_IS_STORED = "what the start had left is stored";

/** Starts a server on a database that another one has made ready. */
async function assertStartTells(env: Record<string, string>, why: RegExp): Promise<void> {
  await using server = await startServer({ ...env, ...PROJECT });
  for (const message of [LEFT, "the database refuses what the server has to write"]) {
    assert.match(String((await server.logged(message)).reason), why);
  }
  await assertRefuses(server, why);
  assert.equal(await server.stop(), 0);
}

async function setReadOnly(sql: Sql, isOn: boolean): Promise<void> {
  await sql.query(`ALTER SYSTEM SET default_transaction_read_only = ${isOn ? "on" : "off"}`);
  await sql.query("SELECT pg_reload_conf()");
}

/** Salts as they stand in a database that has taken no writes for days: a start would delete them. */
async function ageSalts(sql: Sql): Promise<void> {
  await sql.query("UPDATE daily_salts SET day = day - 9");
}

async function statusOf(server: ServerProcess): Promise<string> {
  return (await (await fetch(`${server.url}/readyz`)).json()).status;
}

async function takesIn(server: ServerProcess): Promise<boolean> {
  if (await statusOf(server) !== "ready") return false;
  return (await postBatch(server.url, load.batch())).ok;
}

/** The same database for another role. */
function urlOf({ env }: OwnPostgres, role: string): string {
  return env.DATABASE_URL!.replace("postgres@", `${role}@`);
}

type Work = (postgres: OwnPostgres, sql: Database) => Promise<void>;

/** A test of a server of PostgreSQL's of its own. */
function onDatabase(name: string, work: Work): void {
  onPostgres(name, async (postgres) => {
    const sql = postgres.open();
    try {
      await work(postgres, sql);
    } finally {
      await sql.close();
    }
  });
}

/** The same, once a start has made the tables. */
function onMadeTables(name: string, work: Work): void {
  onDatabase(name, async (postgres, sql) => {
    const first = await startServer(postgres.env);
    assert.equal(await first.stop(), 0);
    await work(postgres, sql);
  });
}

onDatabase(
  "refused writes: a server whose database becomes read-only is degraded until it is not",
  async (postgres, sql) => {
    await using server = await startServer(postgres.env);
    assert(await takesIn(server));
    await ageSalts(sql);
    await setReadOnly(sql, true);
    const isDegraded = async () => await statusOf(server) === "degraded";
    await until(10_000, isDegraded, "the setting holds");
    await assertRefuses(server, STANDBY);
    await assertStartTells(postgres.env, STANDBY);
    await setReadOnly(sql, false);
    await until(10_000, () => takesIn(server), "events are taken in again");
    assert.equal(await server.stop(), 0);
  },
);

onDatabase(
  "refused writes: a start on an empty read-only database says why it waits",
  async (postgres, sql) => {
    await setReadOnly(sql, true);
    await using server = new ServerProcess(postgres.env);
    await server.listening();
    await assertWaits(server, STANDBY);
    await setReadOnly(sql, false);
    await server.ready();
    assert.equal(await server.stop(), 0);
  },
);

onDatabase(
  "refused writes: a start as a role that may make no tables says so, and goes on once it may",
  async (postgres, sql) => {
    await sql.script("CREATE ROLE maker LOGIN");
    const url = urlOf(postgres, "maker");
    await using server = new ServerProcess({ ...postgres.env, DATABASE_URL: url });
    await server.listening();
    await assertWaits(server, NO_RIGHT);
    await sql.script(`ALTER DATABASE "${new URL(url).pathname.slice(1)}" OWNER TO maker`);
    await server.ready();
    assert(await takesIn(server));
    assert.equal(await server.stop(), 0);
  },
);

onMadeTables(
  "refused writes: a start on a standby, and one as a role that may only read, say so",
  async (postgres, sql) => {
    await ageSalts(sql);
    const replica = await startReplica(postgres.cluster);
    try {
      const url = new URL(postgres.env.DATABASE_URL!);
      url.port = String(replica.port);
      await assertStartTells({ ...postgres.env, DATABASE_URL: url.href }, STANDBY);
    } finally {
      await replica.remove();
    }
    await sql.script(
      "CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
    );
    const env = { ...postgres.env, DATABASE_URL: urlOf(postgres, "reader") };
    await assertStartTells(env, NO_RIGHT);
    // A command ends, and tries nothing again.
    const command = await run(postgres.env.DATA_DIR!, ["project", "list"], undefined, {
      ...env,
      ...PROJECT,
    });
    assert.deepEqual([command.code, command.errors], [0, ""]);
  },
);

/** The key that the banner shows, as a start or what it had left has made it. */
function shownKey(server: ServerProcess): string | undefined {
  return /public\): (pk_\S+)/.exec(server.output)?.[1];
}

onMadeTables(
  "refused writes: what a start has left is stored once the database takes writes, and the key is told",
  async (postgres, sql) => {
    await setReadOnly(sql, true);
    const env = {
      ...postgres.env,
      ...PROJECT,
      DEFAULT_API_KEY: "",
      DEFAULT_PROJECT_ID: "prj_new",
    };
    await using server = await startServer(env, { keepsOutput: true });
    assert.match(String((await server.logged(LEFT)).reason), STANDBY);
    await setReadOnly(sql, false);
    await server.logged(LEFT_IS_STORED);
    await until(10_000, () => Promise.resolve(shownKey(server) !== undefined), "the key is told");
    const headers = { "X-API-Key": shownKey(server)! };
    const posted = await fetch(`${server.url}/v1/events`, {
      method: "POST",
      headers,
      body: JSON.stringify({ events: [{ eventId: crypto.randomUUID() }] }),
    });
    assert.equal((await posted.json()).accepted, 1);
    assert.match(server.output, /#setup=/);
    const made = "SELECT name, site_url FROM projects WHERE public_id = 'prj_new'";
    assert.deepEqual(await sql.query(made), [{ name: "Shop", site_url: "https://shop.example" }]);
    assert.equal(await server.stop(), 0);
  },
);

onMadeTables(
  "refused writes: what a start has stored is not written again with what it has left",
  async (postgres, sql) => {
    await sql.script(
      `INSERT INTO daily_salts (day, salt)
          VALUES (current_date - 9, decode(repeat('00', 32), 'hex'));
        CREATE ROLE writer LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO writer;
        REVOKE TRUNCATE ON daily_salts FROM writer`,
    );
    const env = { ...postgres.env, ...PROJECT, DATABASE_URL: urlOf(postgres, "writer") };
    await using server = await startServer(env, { keepsOutput: true });
    const salts = "the deletion of old salts";
    assert.equal((await server.logged(LEFT)).left, salts);
    const renamed = await fetch(`${server.url}/v1/projects/prj_default`, {
      method: "PATCH",
      headers: {
        "Authorization": `Bearer ${await operatorToken()}`,
        "Content-Type": "application/json",
      },
      body: JSON.stringify({ name: "Store" }),
    });
    assert.equal(renamed.status, 200, await renamed.text());
    await sql.script("GRANT TRUNCATE ON daily_salts TO writer");
    assert.equal((await server.logged(LEFT_IS_STORED)).stored, salts);
    const named = "SELECT name FROM projects WHERE public_id = 'prj_default'";
    assert.deepEqual(await sql.query(named), [{ name: "Store" }]);
    // The link of the start stays the only one.
    assert.equal(await server.stop(), 0);
    assert.equal(server.output.match(/#setup=/g)?.length, 1);
  },
);

onMadeTables(
  "refused writes: a right that the role lacks to count events is named",
  async (postgres, sql) => {
    await sql.script(
      `CREATE ROLE writer LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO writer;
        GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO writer; REVOKE UPDATE ON projections FROM writer`,
    );
    const url = urlOf(postgres, "writer");
    await using server = await startServer({ ...postgres.env, DATABASE_URL: url });
    const { reason } = await server.logged("the database refuses what the server has to write");
    assert.match(String(reason), /removed without UPDATE on projections \(42501\): the role of/);
    assert.equal(await statusOf(server), "degraded");
    await sql.script("GRANT UPDATE ON projections TO writer");
    assert(await takesIn(server));
    assert.equal(await server.stop(), 0);
  },
);

onMadeTables(
  "refused writes: what the database refuses in passing is asked for again, and no mistake",
  async (postgres, sql) => {
    await sql.query(`ALTER ROLE postgres SET lock_timeout = 100`);
    await using server = await startServer(postgres.env);
    const headers = { "Authorization": `Bearer ${await operatorToken()}` };
    await sql.transaction(async (tx) => {
      await tx.query("LOCK TABLE projects IN ACCESS EXCLUSIVE MODE");
      const asked = ["projects", "overview", "kpis?project=prj_default"].map((path) =>
        fetch(`${server.url}/v1/${path}`, { headers })
      );
      for (const reply of await Promise.all([...asked, postBatch(server.url, load.batch())])) {
        const { code } = await reply.json();
        assert.deepEqual([reply.status, code], [503, "database_unavailable"], reply.url);
        assert(reply.headers.has("retry-after"));
      }
    });
    await until(10_000, () => takesIn(server), "events are taken in again");
    assert.match(server.errorOutput, /canceling statement due to lock timeout \(55P03\)/);
    assert.equal(await server.stop(), 0);
  },
);
