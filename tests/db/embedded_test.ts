import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { openEmbedded } from "../../src/db/embedded.ts";
import { FolderInUse, lockFolder } from "../../src/db/folder_lock.ts";
import { pause } from "../../src/turns/pause.ts";
import { makeDataDir } from "../support/embedded_template.ts";

const WRITER = `
  import { openEmbedded } from ${JSON.stringify(import.meta.resolve("../../src/db/embedded.ts"))};
  const sql = await openEmbedded(Deno.args[0]);
  await sql.script("CREATE TABLE IF NOT EXISTS kept (n int)");
  const out = (line) => Deno.stdout.writeSync(new TextEncoder().encode(line + "\\n"));
  for (let n = 0;; n++) {
    await sql.query("INSERT INTO kept VALUES ($1)", [n]);
    out(String(n));
  }
`;
const SECOND = `
  import { openEmbedded } from ${JSON.stringify(import.meta.resolve("../../src/db/embedded.ts"))};
  await openEmbedded(Deno.args[0]).catch((error) => console.log(error.name + ": " + error.message));
`;
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));

async function inFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-data-" });
  try {
    await work(dataDir);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

/** With a cluster in it, whose making takes seconds. */
async function inMadeFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await makeDataDir("footfall-data-");
  try {
    await work(dataDir);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

async function program(folder: string, name: string, source: string): Promise<Deno.Command> {
  const path = `${folder}/${name}.js`;
  await Deno.writeTextFile(path, source);
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", "--config", CONFIG, path, folder],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  });
}

Deno.test("openEmbedded: every commit is written to the disk before it is acknowledged", () =>
  inFolder(async (dataDir) => {
    const sql = await openEmbedded(dataDir);
    try {
      await sql.script("CREATE TABLE kept (n int)");
      for (let n = 0; n < 5; n++) {
        const before = await sql.fsyncCount();
        await sql.query("INSERT INTO kept VALUES ($1)", [n]);
        assert.equal(await sql.fsyncCount() - before, 1);
      }
      const before = await sql.fsyncCount();
      await sql.transaction(async (tx) => {
        await tx.query("INSERT INTO kept VALUES (5)");
        await tx.query("INSERT INTO kept VALUES (6)");
        assert.equal(await sql.fsyncCount() - before, 0);
      });
      assert.equal(await sql.fsyncCount() - before, 1);
      await sql.query("SELECT * FROM kept");
      assert.equal(await sql.fsyncCount() - before, 1);
      await sql.script("CHECKPOINT");
      assert.ok(await sql.fsyncCount() - before > 2, "a checkpoint syncs the tables' files too");
      const mode = (await Deno.stat(`${dataDir}/database`)).mode ?? 0;
      assert.equal(mode & 0o777, 0o700);
    } finally {
      await sql.close();
    }
  }));

Deno.test("openEmbedded: a killed process loses no acknowledged row, and its lock is free", () =>
  inFolder(async (dataDir) => {
    const child = (await program(dataDir, "writer", WRITER)).spawn();
    let output = "";
    try {
      const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        output += value;
        if (output.split("\n").length > 100) {
          try {
            child.kill("SIGKILL");
          } catch {
            // It has been killed by the line before.
          }
        }
      }
    } finally {
      await child.status;
    }
    const acknowledged = output.split("\n").slice(0, -1).length;
    assert.ok(acknowledged >= 100, `${acknowledged}`);
    const sql = await openEmbedded(dataDir);
    try {
      const [row] = await sql.query("SELECT count(DISTINCT n) AS rows FROM kept WHERE n < $1", [
        acknowledged,
      ]);
      assert.equal(row!.rows, acknowledged);
    } finally {
      await sql.close();
    }
  }));

Deno.test("openEmbedded: a second process is refused, with the id of the first", () =>
  inFolder(async (dataDir) => {
    const lock = lockFolder(dataDir);
    try {
      await assert.rejects(openEmbedded(dataDir), FolderInUse);
      const { stdout } = await (await program(dataDir, "second", SECOND)).output();
      const said = new TextDecoder().decode(stdout);
      assert.match(said, /^FolderInUse: The data folder .* is in use by another Footfall process/);
      assert.ok(said.includes(`(pid ${Deno.pid})`), said);
    } finally {
      lock.release();
    }
  }));

Deno.test("openEmbedded: the engine is starting when the call returns", () =>
  inFolder(async (dataDir) => {
    const threads: unknown[] = [];
    const { Worker } = globalThis;
    globalThis.Worker = class extends Worker {
      constructor(...given: ConstructorParameters<typeof Worker>) {
        super(...given);
        threads.push(given[0]);
      }
    };
    let opening;
    try {
      opening = openEmbedded(dataDir);
      assert.equal(threads.length, 1);
      assert.match(String(threads[0]), /embedded_worker\.ts$/);
    } finally {
      globalThis.Worker = Worker;
      await (await opening)?.close();
    }
  }));

Deno.test("openEmbedded: a first start that was interrupted is made anew", () =>
  inFolder(async (dataDir) => {
    await Deno.mkdir(`${dataDir}/database.new`);
    await Deno.writeTextFile(`${dataDir}/database.new/PG_VERSION`, "18\n");
    const sql = await openEmbedded(dataDir);
    try {
      assert.deepEqual(await sql.query("SELECT 1 AS a"), [{ a: 1 }]);
      const names = [...Deno.readDirSync(dataDir)].map((entry) => entry.name).sort();
      assert.deepEqual(names, ["database", "footfall.lock"]);
    } finally {
      await sql.close();
    }
  }));

Deno.test("openEmbedded: a folder that is not a database is unavailable, and unlocked again", () =>
  inFolder(async (dataDir) => {
    await Deno.mkdir(`${dataDir}/database`);
    await Deno.writeTextFile(`${dataDir}/database/PG_VERSION`, "9\n");
    await assert.rejects(openEmbedded(dataDir), { name: "DatabaseUnavailable" });
    lockFolder(dataDir).release();
  }));

Deno.test("openEmbedded: a statement that waits too long for its turn is refused, and never run", () =>
  inFolder(async (dataDir) => {
    const sql = await openEmbedded(dataDir, { turnMsMax: 300 });
    try {
      await sql.script("CREATE TABLE kept (n int)");
      const slow =
        "SELECT count(*) AS n FROM generate_series(1, 2500) a, generate_series(1, 2500) b";
      const long = sql.query<{ n: number }>(slow);
      let isOver = false;
      long.then(() => isOver = true);
      const late = [
        sql.query("INSERT INTO kept VALUES (1)"),
        sql.transaction((tx) => tx.query("INSERT INTO kept VALUES (2)")),
      ];
      for (const one of late) {
        await assert.rejects(one, { name: "DatabaseUnavailable", message: /busy for 300 ms/ });
      }
      assert.equal(isOver, false);
      // Whoever comes while it is still busy, and whoever has begun, is served in turn.
      const patient = long.then(() => sql.query("INSERT INTO kept VALUES (3)"));
      assert.equal((await long)[0]!.n, 6_250_000);
      await patient;
      assert.deepEqual(await sql.query("SELECT n FROM kept"), [{ n: 3 }]);
    } finally {
      await sql.close();
    }
  }));

const ENDLESS =
  "SELECT count(*) AS n FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b";

Deno.test("openEmbedded: an engine at work answers a ping, until others are refused", () =>
  inMadeFolder(async (dataDir) => {
    const turnMsMax = 1_500;
    const sql = await openEmbedded(dataDir, { turnMsMax });
    try {
      // A read that counts.
      const counted = Promise.withResolvers<void>();
      const read = sql.transaction(() => counted.promise);
      await sql.ping();
      counted.resolve();
      await read;
      const gone = new AbortController();
      const long = sql.transaction((tx) => tx.query(ENDLESS), gone.signal);
      let isOver = false;
      long.catch(() => isOver = true);
      await pause(100);
      await sql.ping();
      assert.equal(isOver, false, "the statement is not waited for");
      await pause(turnMsMax);
      await assert.rejects(sql.ping(), {
        name: "DatabaseUnavailable",
        message: /busy for 1500 ms/,
      });
      gone.abort();
      await assert.rejects(long, { sqlState: "57014" });
      await sql.ping();
      // A turn of short statements.
      let isDone = false;
      const turn = sql.transaction(async (tx) => {
        while (!isDone) await tx.query("SELECT 1");
      });
      await assert.rejects(sql.query("SELECT 1"), { message: /busy for 1500 ms/ });
      await assert.rejects(sql.ping(), { message: /busy for 1500 ms/ });
      isDone = true;
      await turn;
      await sql.ping();
    } finally {
      await sql.close();
    }
  }));

Deno.test("openEmbedded: a statement past its limit is cancelled, and the session stays usable", () =>
  inMadeFolder(async (dataDir) => {
    const sql = await openEmbedded(dataDir, { statementTimeoutMs: 400 });
    try {
      // The engine's code is compiled as its first statement runs, which may take as long on a busy machine.
      await sql.transaction((tx) =>
        tx.script("SET LOCAL statement_timeout = 0; CREATE TABLE kept (n int)")
      );
      const cancelled = { name: "StatementRefused", sqlState: "57014" };
      const begun = performance.now();
      await assert.rejects(sql.query(ENDLESS), cancelled);
      assert.ok(performance.now() - begun < 30_000);
      await assert.rejects(sql.script(`${ENDLESS}; SELECT 1`), cancelled);
      // Everything of the transaction is undone, and whoever waited meanwhile is served.
      const slow = sql.transaction(async (tx) => {
        await tx.query("INSERT INTO kept VALUES (1)");
        await tx.script("SET LOCAL statement_timeout = 100");
        await tx.query(ENDLESS);
      });
      const waiting = sql.query("INSERT INTO kept VALUES (2)");
      await assert.rejects(slow, cancelled);
      await waiting;
      assert.deepEqual(await sql.query("SELECT n FROM kept"), [{ n: 2 }]);
      // A transaction's own limit is over with it, in both directions.
      const took = await sql.transaction(async (tx) => {
        await tx.script("SET LOCAL statement_timeout = 0");
        const at = performance.now();
        await tx.query(
          "SELECT count(*) FROM generate_series(1, 4000) a, generate_series(1, 4000) b",
        );
        return performance.now() - at;
      });
      assert.ok(took > 400, `${took} ms`);
      await assert.rejects(sql.query(ENDLESS), cancelled);
    } finally {
      await sql.close();
    }
  }));

Deno.test("openEmbedded: an aborted caller's statement is cancelled, and only that one", () =>
  inMadeFolder(async (dataDir) => {
    const sql = await openEmbedded(dataDir);
    try {
      const gone = new AbortController();
      const read = sql.transaction((tx) => tx.query(ENDLESS), gone.signal);
      setTimeout(() => gone.abort(), 200);
      await assert.rejects(read, { sqlState: "57014" });
      assert.deepEqual(await sql.query("SELECT 1 AS a"), [{ a: 1 }]);
      const early = new AbortController();
      const soon = sql.transaction(async (tx) => {
        await tx.query("SELECT 1");
        early.abort();
        return await tx.query("SELECT 2 AS a");
      }, early.signal);
      assert.deepEqual(await soon, [{ a: 2 }], "between two statements there is none to cancel");
    } finally {
      await sql.close();
    }
  }));

Deno.test("openEmbedded: an engine that cannot be cancelled is replaced, without loss", () =>
  inMadeFolder(async (dataDir) => {
    // On a busy machine a statement takes longer, and starting the engine again far longer.
    const sql = await openEmbedded(dataDir, { statementTimeoutMs: 1_000, turnMsMax: 60_000 });
    try {
      await sql.script("CREATE TABLE kept (n int)");
      await sql.query("INSERT INTO kept VALUES (1)");
      // The one thing that the engine does without looking up: it waits for a signal.
      const deaf = sql.transaction(async (tx) => {
        await tx.query("INSERT INTO kept VALUES (2)");
        await tx.query("SELECT pg_sleep(20)");
      });
      const waiting = [3, 4, 5].map((n) => sql.query("INSERT INTO kept VALUES ($1)", [n]));
      await assert.rejects(deaf, {
        name: "DatabaseUnavailable",
        message: /a statement could not be stopped/,
      });
      await Promise.all(waiting);
      assert.deepEqual(await sql.query("SELECT n FROM kept ORDER BY n"), [
        { n: 1 },
        { n: 3 },
        { n: 4 },
        { n: 5 },
      ]);
      assert.throws(() => lockFolder(dataDir), FolderInUse);
    } finally {
      await sql.close();
    }
    lockFolder(dataDir).release();
  }));
