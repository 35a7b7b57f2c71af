import assert from "node:assert/strict";
import { onFreshEngines } from "../support/databases.ts";
import { assertStored, Load } from "../support/load.ts";
import { pause, startServer, until } from "../support/server_process.ts";
import { RawConnection } from "./raw_connection.ts";

/** Half of what a start leaves of these is for connections; the embedded engine takes some forty more later. */
const DESCRIPTORS = 512;
const SILENT = 900;

onFreshEngines("descriptors that run out: the server stays and serves", async (_t, db) => {
  await using server = await startServer(db.env, { descriptorsMax: DESCRIPTORS });
  await using load = new Load(() => server.url, { clients: 2, eventsPerBatch: 5 });
  load.start();
  using stack = new DisposableStack();
  const connections: RawConnection[] = [];
  for (let i = 0; i < SILENT; i++) {
    connections.push(stack.use(await RawConnection.open(server.port)));
    // Some say nothing, some half a head, and some ask once and stay.
    if (i % 3 === 1) await connections[i]!.send("GET /healthz HTTP/1.1\r\nHost: foot");
    if (i % 3 === 2) {
      await connections[i]!.send("GET /healthz HTTP/1.1\r\nHost: footfall.test\r\n\r\n");
    }
  }
  const before = load.acknowledged.size;
  await until(
    60_000,
    () => Promise.resolve(load.acknowledged.size > before + 100),
    "events are taken in beside the silent",
  ).catch((cause) => {
    const refused = JSON.stringify([...load.refusals]);
    throw new Error(`${refused}\n${server.errorOutput.slice(-4_000)}`, { cause });
  });
  assert.match(server.errorOutput, /those that wait longest for nothing are closed/);
  assert((await fetch(`${server.url}/readyz`)).ok);
  stack.dispose();
  await pause(100);
  await load.finish();
  assert.equal(await server.stop(), 0);
  assert.doesNotMatch(server.errorOutput, /unexpected failure/);
  await assertStored(await db.open(), load);
});
