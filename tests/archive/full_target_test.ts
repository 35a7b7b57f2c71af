/** A PostgreSQL whose disk is full in earnest, as the target of a restoration and of a move. */
import assert from "node:assert/strict";
import { ended, footfall, run } from "../cli/footfall_process.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Database } from "../../src/db/sql.ts";
import { newEvent } from "../support/app.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { HeldRequest } from "../support/held_request.ts";
import { assertStored, Load } from "../support/load.ts";
import { startServer, until } from "../support/server_process.ts";
import { canMount, mountSmallDisk, type SmallDisk } from "../support/small_disk.ts";
import {
  findPostgresBinaries,
  freshDatabase,
  startPostgres,
  type ThrowawayPostgres,
} from "../support/throwaway_postgres.ts";
import { cli, done, withApp, withEmbedded, withFile } from "./archive_world.ts";

const ignore = (!canMount || findPostgresBinaries() === null) && Deno.env.get("CI") !== "true";
const DISK_MEBIBYTES = 400;
const BATCHES = 40;
const BATCH_EVENTS = 500;
const EVENTS = BATCHES * BATCH_EVENTS;
/** The schema is there by then; the events do not fit. */
const LEFT_BYTES = 1024 * 1024;
const LOG_FILES = 5;
/** However slow the machine. */
const WAIT_MS_MAX = 180_000;

/** A cluster on a disk of its own, which has the files of its write-ahead log already. */
async function onSmallDisk(
  work: (disk: SmallDisk, cluster: ThrowawayPostgres) => Promise<void>,
): Promise<void> {
  await using disk = await mountSmallDisk(DISK_MEBIBYTES);
  const cluster = await startPostgres({ parent: disk.folder });
  try {
    await work(disk, cluster);
  } finally {
    await cluster.remove();
  }
}

async function withTarget(url: string, work: (target: Database) => Promise<void>): Promise<void> {
  const target = await openDatabase({
    databaseUrl: url,
    dataDir: "",
    statementTimeoutMs: 15_000,
    connectionsMax: 1,
  });
  try {
    await work(target);
  } finally {
    await target.close();
  }
}

/** What is full first is the room for tables then: without a log PostgreSQL ends by itself. */
async function makeLogFiles(url: string): Promise<void> {
  await withTarget(url, async (target) => {
    for (let file = 0; file < LOG_FILES; file++) {
      await target.query("SELECT txid_current(), pg_switch_wal()");
    }
    await target.script("CHECKPOINT");
  });
}

Deno.test({
  name:
    "restore: a full disk of PostgreSQL is reported; with room again the same command completes it",
  ignore,
  fn: () =>
    withFile((file) =>
      withEmbedded(async (source) => {
        await withApp(source, async (app) => {
          const project = await app.project({ id: "prj_one" });
          for (let batch = 0; batch < BATCHES; batch++) {
            const events = Array.from({ length: BATCH_EVENTS }, () => newEvent({ name: "kept" }));
            assert.equal((await app.post(project, events)).status, 200);
          }
        });
        await done(source, "archive", file);
        const archive = await Deno.readFile(file);
        await onSmallDisk(async (disk, cluster) => {
          const { url } = await freshDatabase(cluster, { hasSchema: true });
          await makeLogFiles(url);
          const dataDir = await makeDataDir("footfall-full-");
          const env = { DATA_DIR: dataDir, DATABASE_URL: url };
          await disk.fill(LEFT_BYTES);
          const full = await cli(env, "restore", file);
          assert.equal(full.code, 1, full.errors);
          assert.match(
            full.result.error.detail,
            /The disk of the database is full: nothing can be stored until space/,
          );
          assert.deepEqual(await Deno.readFile(file), archive, "the source is untouched");
          await disk.free();
          const { events, compared } = await done(env, "restore", file);
          assert.equal(events.stored + events.known, EVENTS);
          assert.ok(events.known > 0, "it went on where it was");
          const verdicts = compared.map(({ verdict }: { verdict: string }) => verdict);
          assert.deepEqual(verdicts, ["same", "same"]);
          await Deno.remove(dataDir, { recursive: true });
        });
      })
    ),
});

Deno.test({
  name:
    "move: a full disk of PostgreSQL is reported, the server continues, and the next run completes it",
  ignore,
  fn: () =>
    onSmallDisk(async (disk, cluster) => {
      const dataDir = await makeDataDir("footfall-full-");
      const { url } = await freshDatabase(cluster);
      await makeLogFiles(url);
      await using server = await startServer({ DATA_DIR: dataDir });
      const load = new Load(() => server.url, { clients: 0, eventsPerBatch: 500 });
      const store = async (batches: number) => {
        for (let batch = 0; batch < batches; batch++) {
          assert.ok(await load.attempt(server.url, load.batch()) !== null);
        }
      };
      await store(2);
      const move = ["move", "--to", url, "--json"];
      {
        await using held = await HeldRequest.at({
          request: "GET /v1/archive since",
          when: "before",
        });
        const moving = ended(footfall(dataDir, move, "null", held.preload));
        await until(WAIT_MS_MAX, () => held.reached(), "the first events are copied");
        await disk.fill();
        await store(BATCHES);
        await held.release();
        const full = await moving;
        assert.equal(full.code, 1, full.errors);
        const { error } = JSON.parse(full.out);
        assert.equal(error.code, "target_refused");
        assert.match(error.detail, /The disk of the database at postgres:.* is full: make room/);
        assert.match(error.detail, /The server goes on as before with all that it has\./);
      }
      await store(1);
      await disk.free();
      const { code, out, errors } = await run(dataDir, move);
      assert.equal(code, 0, errors + out);
      assert.equal(JSON.parse(out).events, load.sent.size);
      await withTarget(url, async (target) => {
        assert.equal(await assertStored(target, load), load.sent.size);
      });
      assert.equal(await server.stop(), 0);
      await Deno.remove(dataDir, { recursive: true });
    }),
});
