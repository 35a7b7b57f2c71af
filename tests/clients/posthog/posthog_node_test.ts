/** The published `posthog-node`, in a process of its own, against a server that fails now and then. */
import assert from "node:assert/strict";
import { sharedApp } from "../../support/app.ts";
import { allStored, assertFaults, faultyProxy, runProgram } from "../real_client.ts";

const server = sharedApp();
/** A week ago, on a whole second. */
const START_MS = Math.floor(Date.now() / 1_000) * 1_000 - 7 * 86_400_000;

// deno-lint-ignore no-explicit-any -- read as a client of the API would
type Stored = any;

Deno.test("posthog-node: 1,000 events arrive, each once", async () => {
  // The client asks for flags once, without a second try.
  await using proxy = await faultyProxy(server, { posts: (path) => path.startsWith("/batch") });
  const project = await server.project();
  const report = await runProgram("posthog_node.ts", [
    proxy.url,
    project.publicKey,
    String(START_MS),
  ]);
  assert.deepEqual(report, { errors: [], flags: {} });
  assertFaults(proxy);

  const events: Stored[] = await allStored(server, project);
  assert.equal(events.length, 1_003);
  const paid = events.filter(({ name }) => name === "paid")
    .toSorted((a, b) => a.properties.i - b.properties.i);
  assert.deepEqual(paid.map(({ properties }) => properties.i), [...Array(1_000).keys()]);
  for (const [i, event] of paid.entries()) {
    assert.equal(event.timestamp, new Date(START_MS + i * 1_000).toISOString());
    assert.equal(event.userId, `user-${i % 10}`);
    assert.equal(event.anonymousId, null);
    assert.equal(event.url, `https://shop.example/checkout/${i}?utm_source=letter`);
    assert.equal(event.path, `/checkout/${i}`);
    assert.deepEqual([event.clock, event.bot], ["client", null]);
    const { server: _, ...properties } = event.properties;
    assert.deepEqual(properties, { i, $session: false });
  }
  const ofName = (name: string) => events.filter((event) => event.name === name);
  const [identify] = ofName("$identify");
  assert.equal(identify.userId, "user-1");
  assert.deepEqual(identify.properties.$set, { plan: "pro" });
  const [alias] = ofName("$alias");
  assert.deepEqual([alias.userId, alias.anonymousId], ["user-2", "browser-2"]);
  const [group] = ofName("$group");
  assert.deepEqual([group.userId, group.anonymousId], [null, null]);
  assert.deepEqual(group.properties.$group_set, { seats: 7 });
});
