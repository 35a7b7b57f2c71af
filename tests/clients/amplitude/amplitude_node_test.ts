/** The published `@amplitude/analytics-node`, in a process of its own, against a server that fails now and then. */
import assert from "node:assert/strict";
import { sharedApp } from "../../support/app.ts";
import { allStored, assertFaults, faultyProxy, runProgram } from "../real_client.ts";

const server = sharedApp();
/** A week ago, on a whole second. */
const START_MS = Math.floor(Date.now() / 1_000) * 1_000 - 7 * 86_400_000;

// deno-lint-ignore no-explicit-any -- read as a client of the API would
type Stored = any;

async function delivers(path: string): Promise<void> {
  await using proxy = await faultyProxy(server);
  const project = await server.project();
  const report = await runProgram("amplitude_node.ts", [
    proxy.url + path,
    project.publicKey,
    String(START_MS),
  ]);
  assert.deepEqual(report, { errors: [] });
  assertFaults(proxy);

  const events: Stored[] = await allStored(server, project);
  assert.equal(events.length, 1_001);
  const paid = events.filter(({ name }) => name === "paid")
    .toSorted((a, b) => a.properties.i - b.properties.i);
  assert.deepEqual(paid.map(({ properties }) => properties.i), [...Array(1_000).keys()]);
  for (const [i, event] of paid.entries()) {
    const user = `user-${i % 10}`;
    assert.equal(event.timestamp, new Date(START_MS + i * 1_000).toISOString());
    assert.deepEqual([event.userId, event.anonymousId], [user, `device of ${user}`]);
    assert.deepEqual([event.clock, event.bot], ["client", null]);
    assert.equal(event.url, `https://shop.example/checkout/${i}`);
    const { server: _, ...properties } = event.properties;
    assert.deepEqual(properties, { i });
  }
  const identify = events.find(({ name }) => name === "$identify");
  assert.deepEqual([identify.userId, identify.anonymousId], ["user-1", "device-1"]);
  assert.deepEqual(identify.properties.user_properties, { $set: { plan: "pro" } });
}

for (const path of ["/2/httpapi", "/batch"]) {
  Deno.test(`@amplitude/analytics-node: 1,000 events arrive on ${path}, each once`, () =>
    delivers(path));
}
