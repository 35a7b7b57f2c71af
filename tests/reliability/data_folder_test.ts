import assert from "node:assert/strict";
import { join } from "node:path";
import { assertStored, Load } from "../support/load.ts";
import { ServerProcess, startServer } from "../support/server_process.ts";
import { openEmbedded } from "../../src/db/embedded.ts";

async function withFolder(fn: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "footfall-data-" });
  try {
    await fn(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The server ends by itself with code 1, and says why in one line that a person can read. */
async function assertRefuses(server: ServerProcess, why: RegExp): Promise<void> {
  assert.equal(await server.ended(), 1);
  const lines = server.errorOutput.split("\n").filter((line) => line !== "");
  assert.equal(lines.length, 1, server.errorOutput);
  assert.match(lines[0]!, why);
}

Deno.test("DATA_DIR: a second process on the folder ends at once, the first goes on", async () => {
  await withFolder(async (folder) => {
    await using first = await startServer({ DATA_DIR: folder });
    await using load = new Load(() => first.url, { clients: 2, eventsPerBatch: 10, pauseMs: 5 });
    load.start();
    const control = await Deno.readTextFile(join(folder, "control.json"));
    for (let i = 0; i < 2; i++) {
      await using second = new ServerProcess({ DATA_DIR: folder });
      await assertRefuses(second, new RegExp(`in use by another Footfall.*pid ${first.pid}`));
      assert.equal(await Deno.readTextFile(join(folder, "control.json")), control);
    }
    await load.finish();
    assert.equal(load.failedAttempts, 0);
    assert.equal(await first.stop(), 0);
    const sql = await openEmbedded(folder);
    try {
      assert.equal(await assertStored(sql, load), load.sent.size);
    } finally {
      await sql.close();
    }
  });
});

Deno.test("DATA_DIR: where nothing can be written, the server says so and ends", async () => {
  await withFolder(async (folder) => {
    // Root may write wherever permissions forbid it, but nobody makes a folder below a file.
    const file = join(folder, "file");
    await Deno.writeTextFile(file, "");
    await using below = new ServerProcess({ DATA_DIR: join(file, "data") });
    await assertRefuses(below, /cannot be written.*DATA_DIR/);
  });
});
