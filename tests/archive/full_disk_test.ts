import assert from "node:assert/strict";
import { join } from "node:path";
import { ended, footfall } from "../cli/footfall_process.ts";
import { counted } from "../../src/number_words.ts";
import { newEvent } from "../support/app.ts";
import { copyFolder } from "../support/folder_template.ts";
import { HeldRequest } from "../support/held_request.ts";
import { startServer, until } from "../support/server_process.ts";
import { canMount, mountSmallDisk } from "../support/small_disk.ts";
import { done, withApp, withEmbedded, withFile } from "./archive_world.ts";

const BATCHES = 40;
const BATCH_EVENTS = 500;
const EVENTS = BATCHES * BATCH_EVENTS;
/** Behind the first ones of events. */
const FRAME = 6;
const DISK_MEBIBYTES = 400;
/** However slow the machine. */
const WAIT_MS_MAX = 180_000;

Deno.test({
  name: "restore: a disk that fills is said so; with room again the same command completes it",
  ignore: !canMount && Deno.env.get("CI") !== "true",
  fn: () =>
    withFile((file) =>
      withEmbedded(async (source) => {
        await using disk = await mountSmallDisk(DISK_MEBIBYTES);
        const dataDir = join(disk.folder, "data");
        copyFolder(join(source.DATA_DIR!, "database"), join(dataDir, "database"));
        await withApp(source, async (app) => {
          const project = await app.project({ id: "prj_one" });
          for (let batch = 0; batch < BATCHES; batch++) {
            const events = Array.from({ length: BATCH_EVENTS }, () => newEvent({ name: "kept" }));
            assert.equal((await app.post(project, events)).status, 200);
          }
        });
        await done(source, "archive", file);
        await using server = await startServer({ DATA_DIR: dataDir });
        const restore = ["restore", file];
        {
          const at = {
            request: "POST /v1/restorations/frames events",
            when: "before",
            nth: FRAME,
          } as const;
          await using held = await HeldRequest.at(at);
          const stopped = ended(footfall(dataDir, restore, "null", held.preload));
          await until(WAIT_MS_MAX, () => held.reached(), "some of it is restored");
          await disk.fill();
          await held.release();
          const { code, errors } = await stopped;
          assert.equal(code, 1, errors);
          assert.match(
            errors,
            new RegExp(`Stopped: [\\d,]+ of ${counted(EVENTS, "event")} restored\\. Run the`),
          );
          assert.match(
            errors,
            /The disk of the database is full: nothing can be stored until space/,
          );
        }
        await disk.free();
        const { code, out, errors } = await ended(footfall(dataDir, [...restore, "--json"]));
        assert.equal(code, 0, errors + out);
        const { events, compared } = JSON.parse(out);
        assert.ok(events.known > 0, "it went on where it was");
        assert.equal(events.stored + events.known, EVENTS);
        const verdicts = compared.map(({ verdict }: { verdict: string }) => verdict);
        assert.deepEqual(verdicts, ["same", "same"]);
        assert.equal(await server.stop(), 0);
      })
    ),
});
