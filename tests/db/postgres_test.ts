import assert from "node:assert/strict";
import { openPostgres } from "../../src/db/postgres.ts";
import {
  type Database,
  DatabaseRefuses,
  DatabaseUnavailable,
  StatementRefused,
} from "../../src/db/sql.ts";
import {
  findPostgresBinaries,
  startPostgres,
  type ThrowawayPostgres,
} from "../support/throwaway_postgres.ts";

const OPTIONS = { connectionsMax: 3, statementTimeoutMs: 15_000, applicationName: "tests" };

async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Sooner than a connection is given up, which takes 3 s. */
const AT_ONCE_MS_MAX = 2_500;
/** Later than a connection is given up, and before anything else ends the wait. */
const GIVEN_UP_MS_MAX = 12_000;

async function unavailable(sql: Database, msMax: number): Promise<void> {
  const ms = await elapsedMs(() => assert.rejects(sql.query("SELECT 1"), DatabaseUnavailable));
  assert.ok(ms < msMax, `${ms} ms`);
}

async function withServer(
  work: (server: ThrowawayPostgres, open: (options?: object) => Database) => Promise<void>,
): Promise<void> {
  const server = await startPostgres();
  const opened: Database[] = [];
  try {
    await work(server, (options = {}) => {
      const sql = openPostgres(server.url, { ...OPTIONS, ...options });
      opened.push(sql);
      return sql;
    });
  } finally {
    for (const sql of opened) await sql.close();
    await server.remove();
  }
}

/** A real server: see `onBothEngines` for when it may be missing. */
function onPostgres(name: string, fn: () => Promise<void>): void {
  const ignore = findPostgresBinaries() === null && Deno.env.get("CI") !== "true";
  Deno.test({ name, ignore, fn });
}

onPostgres(
  "openPostgres: fails fast while the server is down and recovers by itself",
  () =>
    withServer(async (server, open) => {
      const sql = open();
      await sql.script("CREATE TABLE kept (n int)");
      const during = sql.transaction(async (tx) => {
        await tx.query("INSERT INTO kept VALUES (1)");
        await tx.query("SELECT pg_sleep(10)");
      });
      const failed = assert.rejects(during, DatabaseUnavailable);
      const idle = [sql.query("SELECT 1"), sql.query("SELECT 2")];
      await Promise.all(idle);
      await server.kill();
      await failed;
      for (let i = 0; i < 5; i++) await unavailable(sql, AT_ONCE_MS_MAX);
      const burst = await Promise.allSettled(
        Array.from({ length: 50 }, () => sql.query("SELECT 1")),
      );
      assert.ok(burst.every(({ status }) => status === "rejected"));
      await server.start();
      assert.deepEqual(await sql.query("SELECT count(*) AS n FROM kept"), [{ n: 0 }]);
      await server.stop("fast");
      await unavailable(sql, AT_ONCE_MS_MAX);
      await server.start();
      await sql.ping();
    }),
);

onPostgres(
  "openPostgres: a transaction that lost its connection never goes on elsewhere",
  () =>
    withServer(async (_server, open) => {
      const sql = open({ connectionsMax: 1 });
      const other = open({ connectionsMax: 1 });
      await sql.script("CREATE TABLE kept (n int)");
      await assert.rejects(
        sql.transaction(async (tx) => {
          const [own] = await tx.query("SELECT pg_backend_pid() AS pid");
          await other.query("SELECT pg_terminate_backend($1::int)", [own!.pid as number]);
          await assert.rejects(tx.query("INSERT INTO kept VALUES (1)"), DatabaseUnavailable);
          await sql.query("SELECT 1");
          await assert.rejects(tx.query("INSERT INTO kept VALUES (2)"), DatabaseUnavailable);
        }),
        DatabaseUnavailable,
      );
      assert.deepEqual(await sql.query("SELECT count(*) AS n FROM kept"), [{ n: 0 }]);
    }),
);

onPostgres(
  "openPostgres: the server cancels a statement that runs too long",
  () =>
    withServer(async (_server, open) => {
      const sql = open({ statementTimeoutMs: 300 });
      await assert.rejects(
        sql.query("SELECT pg_sleep(10)"),
        (error) => error instanceof StatementRefused && error.sqlState === "57014",
      );
      await sql.ping();
    }),
);

onPostgres(
  "openPostgres: a server that hangs is given up and its connection dropped",
  () =>
    withServer(async (server, open) => {
      const sql = open({ connectionsMax: 1, statementTimeoutMs: 500 });
      const [backend] = await sql.query("SELECT pg_backend_pid() AS pid");
      Deno.kill(backend!.pid as number, "SIGSTOP");
      try {
        const pinged = assert.rejects(sql.ping(), DatabaseUnavailable);
        await unavailable(sql, GIVEN_UP_MS_MAX);
        await pinged;
        assert.deepEqual(await sql.query("SELECT 1 AS a"), [{ a: 1 }]);
      } finally {
        Deno.kill(backend!.pid as number, "SIGKILL");
        await server.stop("immediate");
      }
    }),
);

onPostgres(
  "openPostgres: idle connections as old as one that fell silent are not waited for",
  () =>
    withServer(async (server, open) => {
      const sql = open({ connectionsMax: 3, statementTimeoutMs: 500 });
      const ask = () => sql.query<{ pid: number }>("SELECT pg_backend_pid() AS pid, pg_sleep(0.2)");
      const pids = (await Promise.all([ask(), ask()])).map(([row]) => row!.pid);
      for (const pid of pids) Deno.kill(pid, "SIGSTOP");
      try {
        await unavailable(sql, GIVEN_UP_MS_MAX);
        assert.deepEqual(await sql.query("SELECT 1 AS a"), [{ a: 1 }]);
      } finally {
        for (const pid of pids) Deno.kill(pid, "SIGKILL");
        await server.stop("immediate");
      }
    }),
);

onPostgres(
  "openPostgres: a server that hangs within a transaction is given up by its next setting",
  () =>
    withServer(async (server, open) => {
      const sql = open({ connectionsMax: 1, statementTimeoutMs: 500 });
      let pid = 0;
      try {
        const hung = sql.transaction(async (tx) => {
          pid = (await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid"))[0]!.pid;
          Deno.kill(pid, "SIGSTOP");
          await tx.script("SET LOCAL statement_timeout = 100");
        });
        const ms = await elapsedMs(() => assert.rejects(hung, DatabaseUnavailable));
        assert.ok(ms < GIVEN_UP_MS_MAX, `${ms} ms`);
        assert.deepEqual(await sql.query("SELECT 1 AS a"), [{ a: 1 }]);
      } finally {
        Deno.kill(pid, "SIGKILL");
        await server.stop("immediate");
      }
    }),
);

onPostgres(
  "openPostgres: a connection whose transaction could not be ended is not used again",
  () =>
    withServer(async (_server, open) => {
      const sql = open({ connectionsMax: 1 });
      await sql.script(
        "CREATE TABLE pairs (a int PRIMARY KEY, b int REFERENCES pairs DEFERRABLE INITIALLY DEFERRED)",
      );
      const pidOf = async () =>
        (await sql.query<{ pid: number }>("SELECT pg_backend_pid() AS pid"))[0]!.pid;
      const before = await pidOf();
      await assert.rejects(
        sql.transaction((tx) => tx.query("INSERT INTO pairs VALUES (1, 2)")),
        (error) => error instanceof StatementRefused && error.sqlState === "23503",
      );
      assert.notEqual(await pidOf(), before);
      assert.deepEqual(await sql.query("SELECT count(*) AS n FROM pairs"), [{ n: 0 }]);
    }),
);

onPostgres(
  "openPostgres: a wrong database or a refused login is the server's fault, not the statement's",
  () =>
    withServer(async (server) => {
      for (const url of [`${server.url}_absent`, server.url.replace("postgres@", "nobody@")]) {
        const sql = openPostgres(url, OPTIONS);
        await unavailable(sql, AT_ONCE_MS_MAX);
        await sql.close();
      }
    }),
);

onPostgres(
  "openPostgres: what a role has set of its own changes no value and no transaction",
  () =>
    withServer(async (server, open) => {
      const odd = {
        ...{ array_nulls: "off", DateStyle: "SQL, DMY", IntervalStyle: "sql_standard" },
        ...{ TimeZone: "Asia/Kathmandu", extra_float_digits: "-15", bytea_output: "escape" },
        ...{ statement_timeout: "1", idle_in_transaction_session_timeout: "1" },
        ...{ default_transaction_isolation: "serializable", standard_conforming_strings: "off" },
        ...{ client_min_messages: "error", transform_null_equals: "on", backslash_quote: "off" },
      };
      const settings = Object.entries(odd)
        .map(([name, value]) => `ALTER ROLE odd SET ${name} = '${value}'`);
      await open().script(["CREATE ROLE odd LOGIN", ...settings].join(";"));
      const asked = `SELECT $1::text::int[] AS list, $2::text::timestamptz AS at, 0.1::float8 AS n,
        '\\x00ff'::bytea AS bytes, '2026-11-21'::date AS day, $3::text AS text,
        current_setting('transaction_isolation') AS isolation`;
      const params = ["{1,NULL}", "2026-11-21T04:00:00.123Z", "a\\'b"];
      const url = server.url.replace("postgres@", "odd@");
      for (const query of ["", "?prepare=false"]) {
        const sql = openPostgres(url + query, OPTIONS);
        try {
          const rows = await sql.transaction(async (tx) => {
            await tx.query("SELECT pg_sleep(0.1)");
            return await tx.query(asked, params);
          });
          const { list, at, n, bytes, day, text, isolation } = rows[0]!;
          assert.deepEqual([list, at, n], [[1, null], new Date("2026-11-21T04:00:00.123Z"), 0.1]);
          assert.deepEqual([bytes, day, text], [Uint8Array.of(0, 255), "2026-11-21", "a\\'b"]);
          assert.equal(isolation, "read committed");
        } finally {
          await sql.close();
        }
      }
    }),
);

async function assertReaches(url: string, listener: Deno.TcpListener): Promise<void> {
  const sql = openPostgres(url, OPTIONS);
  const asked = assert.rejects(sql.query("SELECT 1"), /closed the connection before the login/);
  (await listener.accept()).close();
  await asked;
  await sql.close();
}

Deno.test("openPostgres: an IPv6 address is connected to, at the port of the URL or PGPORT", async () => {
  using listener = Deno.listen({ hostname: "::1", port: 0 });
  const { port } = listener.addr;
  await assertReaches(`postgres://u@[::1]:${port}/d`, listener);
  Deno.env.set("PGPORT", String(port));
  try {
    await assertReaches("postgres://u@[::1]/d", listener);
  } finally {
    Deno.env.delete("PGPORT");
  }
});

Deno.test("openPostgres: an invalid port is refused, and reported", async () => {
  Deno.env.set("PGPORT", "none");
  try {
    const sql = openPostgres("postgres://u@localhost/d", OPTIONS);
    for (let times = 0; times < 2; times++) {
      await assert.rejects(
        sql.query("SELECT 1"),
        (error) => error instanceof DatabaseUnavailable && /port/i.test(error.message),
      );
    }
    await sql.close();
  } finally {
    Deno.env.delete("PGPORT");
  }
});

onPostgres(
  "openPostgres: a right that the role lacks is refused, and the connection stays",
  () =>
    withServer(async (server, open) => {
      await open().script("CREATE ROLE reader LOGIN; CREATE TABLE kept (n int)");
      const sql = openPostgres(server.url.replace("postgres@", "reader@"), OPTIONS);
      const pidOf = async () =>
        (await sql.query<{ pid: number }>("SELECT pg_backend_pid() AS pid"))[0]!.pid;
      try {
        const before = await pidOf();
        const refused = (work: Promise<unknown>) => assert.rejects(work, DatabaseRefuses);
        await refused(sql.query("INSERT INTO kept VALUES (1)"));
        await refused(sql.transaction((tx) => tx.query("INSERT INTO kept VALUES (1)")));
        assert.equal(await pidOf(), before);
      } finally {
        await sql.close();
      }
    }),
);

onPostgres(
  "openPostgres: statements wait for a free connection, and no longer than their time",
  () =>
    withServer(async (_server, open) => {
      const patient = open({ connectionsMax: 2 });
      const rows = await Promise.all(
        Array.from({ length: 40 }, (_, i) => patient.query("SELECT $1::int AS i", [i])),
      );
      assert.deepEqual(rows.flat(), Array.from({ length: 40 }, (_, i) => ({ i })));
      const sql = open({ connectionsMax: 2, statementTimeoutMs: 1_000 });
      const { promise, resolve } = Promise.withResolvers<void>();
      const holders = [sql.transaction(() => promise), sql.transaction(() => promise)];
      await assert.rejects(sql.query("SELECT 1"), /busy/);
      resolve();
      await Promise.all(holders);
      await sql.ping();
    }),
);

onPostgres(
  "openPostgres: a caller that goes away ends its statement, and only that one",
  () =>
    withServer(async (_server, open) => {
      const sql = open({ connectionsMax: 1 });
      const gone = new AbortController();
      const read = sql.transaction((tx) => tx.query("SELECT pg_sleep(20)"), gone.signal);
      const refused = assert.rejects(read, { sqlState: "57014" });
      setTimeout(() => gone.abort(), 200);
      await refused;
      // As it ends by itself at that moment, the connection may be given up, and is never handed on too early.
      for (let i = 0; i < 60; i++) {
        const late = new AbortController();
        const sleeping = sql.transaction((tx) => tx.query("SELECT pg_sleep(0.01)"), late.signal);
        setTimeout(() => late.abort(), 5 + i / 5);
        const next = sql.transaction((tx) => tx.query("SELECT pg_sleep(0.01), 1 AS a"));
        await sleeping.catch(() => {});
        assert.equal((await next)[0]!.a, 1);
      }
      const early = new AbortController();
      const soon = sql.transaction(async (tx) => {
        await tx.query("SELECT 1");
        early.abort();
        return await tx.query("SELECT 2 AS a");
      }, early.signal);
      assert.deepEqual(await soon, [{ a: 2 }], "between two statements there is none to cancel");
    }),
);

onPostgres(
  "openPostgres: many different statements do not fill one connection's memory",
  () =>
    withServer(async (_server, open) => {
      const sql = open({ connectionsMax: 1 });
      for (let i = 0; i < 700; i++) await sql.query(`SELECT ${i}`);
      const [row] = await sql.query("SELECT count(*) AS n FROM pg_prepared_statements");
      assert.ok((row!.n as number) < 300, `${row!.n}`);
    }),
);

for (
  const [what, onConnection] of [
    ["accepts and never answers", () => {}],
    ["accepts and hangs up", (connection: Deno.Conn) => connection.close()],
  ] as const
) {
  Deno.test(`openPostgres: a server that ${what} is given up within 3 s`, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const connections: Deno.Conn[] = [];
    const accepting = (async () => {
      for await (const connection of listener) {
        connections.push(connection);
        onConnection(connection);
      }
    })();
    const { port } = listener.addr as Deno.NetAddr;
    const sql = openPostgres(`postgres://u:p@127.0.0.1:${port}/d`, OPTIONS);
    const ms = await elapsedMs(async () => {
      const calls = Array.from({ length: 10 }, () => sql.query("SELECT 1"));
      const outcomes = await Promise.allSettled(calls);
      for (const outcome of outcomes) {
        assert.ok(outcome.status === "rejected" && outcome.reason instanceof DatabaseUnavailable);
      }
    });
    assert.ok(ms < GIVEN_UP_MS_MAX, `${ms} ms`);
    await sql.close();
    listener.close();
    for (const connection of connections) {
      try {
        connection.close();
      } catch {
        // Closed already.
      }
    }
    await accepting;
  });
}
