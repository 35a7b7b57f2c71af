import assert from "node:assert/strict";
import { HeldRequest } from "../support/held_request.ts";
import { ended, footfall } from "../cli/footfall_process.ts";
import { newEvent } from "../support/app.ts";
import { startServer, until } from "../support/server_process.ts";
import { done, withApp, withEmbedded, withFile } from "./archive_world.ts";

const BATCHES = 60;
const BATCH_EVENTS = 500;
/** Where it is killed. */
const KILLS = [
  { request: "POST /v1/restorations", when: "after" },
  { request: "POST /v1/restorations/frames events", when: "after" },
  { request: "GET /v1/archive/figures", when: "before" },
] as const;
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
        const restore = ["restore", file, "--json"];
        const killAt = async (at: typeof KILLS[number]) => {
          await using held = await HeldRequest.at(at);
          const killed = footfall(dataDir, restore, "null", held.preload);
          const outcome = ended(killed);
          await until(WAIT_MS_MAX, () => held.reached(), `${at.when} ${at.request}`);
          killed.kill("SIGKILL");
          await outcome;
        };
        for (const kill of KILLS) await killAt(kill);

        const { code, out, errors } = await ended(footfall(dataDir, restore));
        assert.equal(code, 0, errors + out);
        const result = JSON.parse(out);
        assert.deepEqual(result.events, { stored: 0, known: BATCHES * BATCH_EVENTS });
        const verdicts = result.compared.map((one: { verdict: string }) => one.verdict);
        assert.deepEqual(verdicts, ["same", "same"]);
        assert.equal(await server.stop(), 0);
      });
    })
  ));
