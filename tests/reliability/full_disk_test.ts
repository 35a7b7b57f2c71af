import assert from "node:assert/strict";
import { join } from "node:path";
import { DiskReserve } from "../../src/db/disk_reserve.ts";
import { diskStatus } from "../../src/db/disk_space.ts";
import { openEmbedded } from "../../src/db/embedded.ts";
import {
  DATABASE_LOG_BYTES_MAX,
  DISK_FULL_BYTES,
  DISK_LOW_BYTES_MAX,
  DISK_LOW_BYTES_MIN,
  DISK_SPACE_AGAIN_BYTES,
} from "../../src/limits.ts";
import { assertProblem, newEvent, TestApp } from "../support/app.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { copyFolder } from "../support/folder_template.ts";
import { canMount, mountSmallDisk } from "../support/small_disk.ts";
import { onPostgres } from "./on_postgres.ts";

const LONG_MS = 60_000;
const isInCi = Deno.env.get("CI") === "true";
const PLENTY = { freeBytes: 1e12, totalBytes: 1e13 };

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LONG_MS;
  while (!await holds()) {
    assert.ok(performance.now() < end, `not within ${LONG_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function makeCluster(folder: string): Promise<void> {
  const made = await makeDataDir("footfall-data-");
  copyFolder(join(made, "database"), join(folder, "database"));
  await Deno.remove(made, { recursive: true });
}

/** Bytes of the write-ahead log's files. */
function logBytes(dataDir: string): number {
  const folder = join(dataDir, "database", "pg_wal");
  const files = [...Deno.readDirSync(folder)].filter((entry) => entry.isFile);
  return files.reduce((sum, { name }) => sum + Deno.statSync(join(folder, name)).size, 0);
}

Deno.test("diskStatus: full, low and ok, on both sides of each bound", () => {
  const large = DISK_LOW_BYTES_MAX * 100;
  assert.equal(diskStatus(DISK_FULL_BYTES - 1, large, "ok"), "full");
  assert.equal(diskStatus(DISK_FULL_BYTES, large, "ok"), "low");
  const again = DISK_FULL_BYTES + DISK_SPACE_AGAIN_BYTES;
  assert.equal(diskStatus(again - 1, large, "full"), "full");
  assert.equal(diskStatus(again, large, "full"), "low");
  assert.equal(diskStatus(DISK_LOW_BYTES_MAX - 1, large, "ok"), "low");
  assert.equal(diskStatus(DISK_LOW_BYTES_MAX, large, "ok"), "ok");
  const small = DISK_LOW_BYTES_MIN * 4;
  assert.equal(diskStatus(DISK_LOW_BYTES_MIN - 1, small, "ok"), "low");
  assert.equal(diskStatus(DISK_LOW_BYTES_MIN, small, "ok"), "ok");
  assert.equal(diskStatus(2e9 - 1, 4e10, "ok"), "low");
  assert.equal(diskStatus(2e9, 4e10, "ok"), "ok");
});

Deno.test("a disk without room: writes fail with the reason, reads go on, and writes do again once there is room", async () => {
  const dataDir = await makeDataDir("footfall-data-");
  let freeBytes = PLENTY.freeBytes;
  const probeDisk = () => Promise.resolve({ ...PLENTY, freeBytes });
  const sql = await openEmbedded(dataDir, { probeDisk });
  try {
    await sql.script("CREATE TABLE kept (n int)");
    await sql.query("INSERT INTO kept VALUES (1)");
    freeBytes = DISK_FULL_BYTES - 1;
    await until("full", () => sql.disk.reading.status === "full");
    await assert.rejects(sql.query("INSERT INTO kept VALUES (2)"), { name: "DiskFull" });
    const both = sql.transaction(async (tx) => {
      await tx.query("INSERT INTO kept VALUES (3)");
    });
    await assert.rejects(both, { name: "DiskFull" });
    let seen: unknown = null;
    await sql.transaction((tx) =>
      tx.query("DELETE FROM kept").catch((error) => void (seen = error))
    )
      .catch(() => {});
    assert.equal((seen as Error | null)?.name, "DiskFull", "in the transaction, too");
    assert.deepEqual(await sql.query("SELECT n FROM kept"), [{ n: 1 }]);
    await assert.rejects(sql.query("SELECT nonsense"), { name: "StatementRefused" });
    freeBytes = PLENTY.freeBytes;
    await sql.query("INSERT INTO kept VALUES (4)");
    assert.equal(sql.disk.reading.status, "ok", "nobody waits for the next look");
    assert.deepEqual(await sql.query("SELECT n FROM kept"), [{ n: 1 }, { n: 4 }]);
  } finally {
    await sql.close();
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("the embedded engine's log is bounded by checkpoints, without a loss", async () => {
  const dataDir = await makeDataDir("footfall-data-");
  let sql = await openEmbedded(dataDir);
  try {
    await sql.script("CREATE TABLE kept (n int)");
    let largest = 0;
    for (let n = 0; n < 100; n++) {
      await sql.query("INSERT INTO kept VALUES ($1)", [n]);
      await sql.query("SELECT pg_logical_emit_message(false, '', repeat('x', 4000000))");
      largest = Math.max(largest, logBytes(dataDir));
    }
    assert.ok(largest > DATABASE_LOG_BYTES_MAX, `${largest}: the log has been written`);
    assert.ok(largest < 2.5 * DATABASE_LOG_BYTES_MAX, `${largest}`);
    await sql.close();
    sql = await openEmbedded(dataDir);
    assert.deepEqual(await sql.query("SELECT count(*) AS n FROM kept"), [{ n: 100 }]);
  } finally {
    await sql.close();
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test({
  name: "a disk that others fill: 503 with the reason, reads, and recovery by itself",
  ignore: !canMount && !isInCi,
  fn: async () => {
    await using disk = await mountSmallDisk(360);
    await makeCluster(disk.folder);
    await new DiskReserve(disk.folder).make();
    const server = await new TestApp({ DATA_DIR: disk.folder }).start();
    try {
      server.app.startJobs();
      const project = await server.project();
      const today = { from: new Date().toISOString().slice(0, 10) };
      assert.equal((await server.post(project, [newEvent()])).body.accepted, 1);
      await disk.fill();
      const refused = async () => {
        const reply = await server.post(project, [newEvent()]);
        if (reply.status === 200) return false;
        assertProblem(reply, 503, "database_unavailable");
        assert.match(reply.body.detail, /disk of the database is full/);
        assert.ok(reply.headers.has("retry-after"));
        return true;
      };
      await until("refused", refused);
      const before = (await server.stored(project)).length;
      for (const path of ["/v1/kpis", "/v1/events"]) {
        const query = new URLSearchParams({ project: project.id, ...today });
        const headers = { Authorization: `Bearer ${server.app.controlToken}` };
        const { status, body } = await server.fetch(`${path}?${query}`, { headers });
        assert.equal(status, 200, JSON.stringify(body));
      }
      const ready = await server.fetch("/readyz");
      assert.deepEqual([ready.status, ready.body.status], [200, "degraded"]);
      assert.deepEqual([ready.body.checks.disk.ok, ready.body.checks.disk.status], [false, "full"]);
      const { body: metrics } = await server.fetch("/metrics", {}, "127.0.0.1");
      assert.match(metrics, /^footfall_disk_status 2$/m);
      assert.ok(server.logLines.some((line) => /disk of the database is full/.test(line)));
      await server.stop();
      await server.start();
      assert.equal((await server.fetch("/readyz")).body.status, "degraded");
      assert.equal((await server.stored(project)).length, before, "a start on the full disk");
      await disk.free();
      await until("stored", async () => (await server.post(project, [newEvent()])).status === 200);
      assert.equal((await server.stored(project)).length, before + 1);
      assert.equal((await server.fetch("/readyz")).body.status, "ready");
    } finally {
      await server.stop();
    }
  },
});

Deno.test({
  name:
    "a full disk: events that are not counted yet are exported; what must count them says why not",
  ignore: !canMount && !isInCi,
  fn: async () => {
    await using disk = await mountSmallDisk(360);
    await makeCluster(disk.folder);
    const server = await new TestApp({ DATA_DIR: disk.folder }).start();
    try {
      const project = await server.project();
      const event = newEvent({ anonymousId: "device-1" });
      assert.equal((await server.post(project, [event])).body.accepted, 1);
      await disk.fill();
      await until("refused", async () => (await server.post(project, [newEvent()])).status === 503);
      const bots = { bots: "include" };
      const lines = { Accept: "application/x-ndjson" };
      const all = await server.read(project, bots, lines);
      assert.equal(all.status, 200, JSON.stringify(all.body));
      assert.ok(all.body.includes(event.eventId));
      const filters = JSON.stringify([{ field: "path", op: "exists" }]);
      for (
        const reply of [
          await server.read(project, { ...bots, filters }, lines),
          await server.admin("GET", `/v1/actors/device-1?project=${project.id}`),
        ]
      ) {
        assertProblem(reply, 503, "database_unavailable");
        assert.match(reply.body.detail, /disk of the database is full/);
      }
    } finally {
      await server.stop();
    }
  },
});

Deno.test({
  name: "an engine that ends for want of space starts again, on its reserve or once there is room",
  ignore: !canMount && !isInCi,
  fn: async () => {
    await using disk = await mountSmallDisk(200);
    await makeCluster(disk.folder);
    const reserve = new DiskReserve(disk.folder);
    await reserve.make();
    // It is not told that the disk is full, so that it runs into the end in the midst of its log.
    // A busy machine may take long to start it again: each statement waits for that.
    const probeDisk = () => Promise.resolve(PLENTY);
    const sql = await openEmbedded(disk.folder, { probeDisk, turnMsMax: LONG_MS });
    try {
      await sql.script("CREATE TABLE kept (n int)");
      await sql.query("INSERT INTO kept VALUES (1)");
      const log = () =>
        sql.query("SELECT pg_logical_emit_message(false, '', repeat('x', 4000000))");
      const runOut = async () => {
        await disk.fill();
        await assert.rejects(async () => {
          for (let n = 0; n < 20; n++) await log();
        }, { name: "DiskFull" });
      };
      await runOut();
      assert.deepEqual(await sql.query("SELECT n FROM kept"), [{ n: 1 }]);
      assert.equal(await reserve.giveUp(), false, "the reserve is used up");
      await runOut();
      await disk.free();
      await until(
        "started",
        () => sql.query("INSERT INTO kept VALUES (2)").then(() => true, () => false),
      );
      assert.deepEqual(await sql.query("SELECT n FROM kept"), [{ n: 1 }, { n: 2 }]);
    } finally {
      await sql.close();
    }
  },
});

onPostgres(
  "PostgreSQL whose disk is full: 503 with the reason, and reads go on",
  async (postgres) => {
    const server = await new TestApp(postgres.env).start();
    const sql = postgres.open();
    try {
      const project = await server.project();
      assert.equal((await server.post(project, [newEvent()])).body.accepted, 1);
      await sql.script(`
      CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER no_space BEFORE INSERT ON journal FOR EACH ROW EXECUTE FUNCTION no_space();
      CREATE TRIGGER no_space BEFORE INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION no_space()`);
      const reply = await server.post(project, [newEvent()]);
      assertProblem(reply, 503, "database_unavailable");
      assert.match(reply.body.detail, /disk of the database is full/);
      assert.ok(reply.headers.has("retry-after"));
      const headers = { Authorization: `Bearer ${server.app.controlToken}` };
      const read = await server.fetch(`/v1/kpis?project=${project.id}`, { headers });
      assert.equal(read.status, 200, JSON.stringify(read.body));
      await sql.script("DROP FUNCTION no_space CASCADE");
      assert.equal((await server.post(project, [newEvent()])).status, 200);
    } finally {
      await sql.close();
      await server.stop();
    }
  },
);
