import assert from "node:assert/strict";
import { join } from "node:path";
import { makeDataDir } from "../support/embedded_template.ts";
import { ServerProcess } from "../support/server_process.ts";

/** Makes the first `count` threads of the engine fail as they load. */
const failing = (count: number) => `
  const Real = globalThis.Worker;
  const failing = "data:text/javascript," + encodeURIComponent("throw new Error('it does not load')");
  let left = ${count};
  globalThis.Worker = class extends Real {
    constructor(url, options) {
      const fails = String(url).endsWith("/embedded_worker.ts") && left-- > 0;
      super(fails ? failing : url, options);
    }
  };
`;

/** Starts a server of which that many threads of the engine fail, and calls `look` with it. */
async function withFailures(
  count: number,
  env: Readonly<Record<string, string>>,
  look: (server: ServerProcess) => Promise<void>,
): Promise<void> {
  const dataDir = await makeDataDir("footfall-early-");
  try {
    const preload = join(dataDir, "failing.js");
    await Deno.writeTextFile(preload, failing(count));
    await using server = new ServerProcess({ DATA_DIR: dataDir, ...env }, { preload });
    await look(server);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

Deno.test("footfall serve: an engine whose code cannot be loaded is told as any failure of it", () =>
  withFailures(9, {}, async (server) => {
    assert.equal(await server.ended(), 1);
    assert.match(
      server.errorOutput,
      /^footfall: The embedded database has stopped: .*it does not load/m,
    );
    assert.doesNotMatch(server.errorOutput, /Unhandled error/);
  }));

Deno.test("footfall serve: mistakes of the environment are told although the engine's thread has failed", () =>
  withFailures(9, { PORT: "high" }, async (server) => {
    assert.equal(await server.ended(), 1);
    assert.match(server.errorOutput, /PORT/);
    assert.doesNotMatch(server.errorOutput, /Unhandled error/);
  }));
