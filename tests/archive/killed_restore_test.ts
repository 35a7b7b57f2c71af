import assert from "node:assert/strict";
import { ended, footfall } from "../cli/footfall_process.ts";
import { newEvent } from "../support/app.ts";
import { startServer, until } from "../support/server_process.ts";
import { done, withApp, withEmbedded, withFile } from "./archive_world.ts";

const BATCHES = 60;
const BATCH_EVENTS = 500;
/** However slow the machine. */
const WAIT_MS_MAX = 120_000;

Deno.test("restore: killed beside a running server, the same command completes it, each event once", () =>
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
      await withEmbedded(async (target) => {
        const dataDir = target.DATA_DIR!;
        await using server = await startServer(target);
        const killed = footfall(dataDir, ["restore", file, "--json"]);
        const outcome = ended(killed);
        const control = JSON.parse(await Deno.readTextFile(`${dataDir}/control.json`));
        const isBegun = async () => {
          const headers = { authorization: `Bearer ${control.token}` };
          const reply = await fetch(`${control.url}/v1/move/rows`, { headers });
          return (await reply.json()).events.prj_one > 0;
        };
        await until(WAIT_MS_MAX, isBegun, "the first events are restored");
        killed.kill("SIGKILL");
        await outcome;

        const { code, out, errors } = await ended(footfall(dataDir, ["restore", file, "--json"]));
        assert.equal(code, 0, errors + out);
        const result = JSON.parse(out);
        assert.ok(result.events.known > 0, "it went on where it was");
        assert.equal(result.events.stored + result.events.known, BATCHES * BATCH_EVENTS);
        const verdicts = result.compared.map((one: { verdict: string }) => one.verdict);
        assert.deepEqual(verdicts, ["same", "same"]);
        assert.equal(await server.stop(), 0);
      });
    })
  ));
