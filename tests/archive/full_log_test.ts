/**
 * A PostgreSQL whose write-ahead log has a disk of its own, which fills: it ends there and then, and
 * starts again once there is room.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { run } from "../cli/footfall_process.ts";
import { newEvent } from "../support/app.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { postBatch, type SentEvent } from "../support/load.ts";
import { startServer } from "../support/server_process.ts";
import { canMount, mountSmallDisk, type SmallDisk } from "../support/small_disk.ts";
import {
  findPostgresBinaries,
  freshDatabase,
  startPostgres,
  type ThrowawayPostgres,
} from "../support/throwaway_postgres.ts";
import { cli, done, withApp, withDatabase, withEmbedded, withFile } from "./archive_world.ts";

const ignore = (!canMount || findPostgresBinaries() === null) && Deno.env.get("CI") !== "true";
const DISK_MEBIBYTES = 256;
/** More than the files of the log that a new cluster has already. */
const BATCHES = 60;
const BATCH_EVENTS = 50;
const EVENTS = BATCHES * BATCH_EVENTS;
const RANDOM_BYTES = 12_000;

/** Events that no compression makes smaller. */
const batch = () =>
  Array.from({ length: BATCH_EVENTS }, () => {
    const text = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)).toBase64();
    return newEvent({ name: "kept", properties: { text } });
  });

/** A cluster whose log alone lies on a small disk. */
async function withLogOn(
  work: (disk: SmallDisk, cluster: ThrowawayPostgres) => Promise<void>,
): Promise<void> {
  await using disk = await mountSmallDisk(DISK_MEBIBYTES);
  const cluster = await startPostgres();
  try {
    await cluster.stop("fast");
    const log = join(cluster.dataDir, "pg_wal");
    const moved = join(disk.folder, "pg_wal");
    await new Deno.Command("cp", { args: ["-a", log, moved] }).output();
    await Deno.remove(log, { recursive: true });
    await Deno.symlink(moved, log);
    await cluster.start();
    await work(disk, cluster);
  } finally {
    await cluster.remove();
  }
}

/** Makes room, and starts PostgreSQL, which has ended by itself or is still trying. */
async function recover(disk: SmallDisk, cluster: ThrowawayPostgres): Promise<void> {
  await disk.free();
  await cluster.stop("immediate");
  await cluster.start();
}

Deno.test({
  name: "restore: PostgreSQL whose log has no room is told, and the same command completes it",
  ignore,
  fn: () =>
    withFile((file) =>
      withEmbedded(async (source) => {
        await withApp(source, async (app) => {
          const project = await app.project({ id: "prj_one" });
          for (let n = 0; n < BATCHES; n++) {
            assert.equal((await app.post(project, batch())).status, 200);
          }
        });
        await done(source, "archive", file);
        const { mtime } = await Deno.stat(file);
        await withLogOn(async (disk, cluster) => {
          const { url } = await freshDatabase(cluster, { hasSchema: true });
          const dataDir = await makeDataDir("footfall-full-");
          const env = { DATA_DIR: dataDir, DATABASE_URL: url };
          await disk.fill();
          const full = await cli(env, "restore", file);
          assert.equal(full.code, 1, full.errors);
          assert.match(
            full.result.error.detail,
            /The database does not answer.* room for its tables and its log; then run the same/,
          );
          assert.deepEqual((await Deno.stat(file)).mtime, mtime, "the source is untouched");
          await recover(disk, cluster);
          const { events, compared } = await done(env, "restore", file);
          assert.equal(events.stored + events.known, EVENTS);
          const verdicts = compared.map(({ verdict }: { verdict: string }) => verdict);
          assert.deepEqual(verdicts, ["same", "same"]);
          await Deno.remove(dataDir, { recursive: true });
        });
      })
    ),
});

Deno.test({
  name: "move: PostgreSQL whose log has no room is told, and the next run completes it",
  ignore,
  fn: () =>
    withLogOn(async (disk, cluster) => {
      const dataDir = await makeDataDir("footfall-full-");
      const { url } = await freshDatabase(cluster);
      await using server = await startServer({ DATA_DIR: dataDir });
      const store = async (batches: number) => {
        for (let n = 0; n < batches; n++) {
          const { status } = await postBatch(server.url, batch() as unknown as SentEvent[]);
          assert.equal(status, 200);
        }
      };
      await store(BATCHES);
      const move = ["move", "--to", url, "--json"];
      await disk.fill();
      const full = await run(dataDir, move);
      assert.equal(full.code, 1, full.errors);
      const { error } = JSON.parse(full.out);
      assert.equal(error.code, "target_refused");
      assert.match(error.detail, /The server goes on as before with all that it has\./);
      await store(1);
      await recover(disk, cluster);
      const { code, out, errors } = await run(dataDir, move);
      assert.equal(code, 0, errors + out);
      assert.equal(JSON.parse(out).events, EVENTS + BATCH_EVENTS);
      const env = { DATA_DIR: dataDir, DATABASE_URL: url };
      const [{ events }] = await withDatabase(
        env,
        (sql) => sql.query<{ events: number }>("SELECT count(*) AS events FROM event_ids"),
      ) as [{ events: number }];
      assert.equal(events, EVENTS + BATCH_EVENTS);
      assert.equal(await server.stop(), 0);
      await Deno.remove(dataDir, { recursive: true });
    }),
});
