/** The published `@amplitude/analytics-node`, in a process of its own, against a server that fails now and then. */
import assert from "node:assert/strict";
import {
  arrived,
  assertFaulty,
  type Delivery,
  runClient,
  withFaultyServer,
} from "../client_delivery.ts";

const START_MS = Date.UTC(2026, 9, 1);
const PROGRAM = new URL("./amplitude_node_program.ts", import.meta.url);

async function delivers(delivery: Delivery, path: string): Promise<void> {
  const { proxy, project } = delivery;
  const report = await runClient(PROGRAM, [proxy.url + path, project.publicKey]);
  assert.deepEqual(report, { errors: [] });
  assertFaulty(delivery);

  const events = await arrived(delivery, 1_001);
  assert.equal(events.length, 1_001);
  const paid = events.filter(({ name }) => name === "paid")
    .toSorted((a, b) => a.properties.i - b.properties.i);
  assert.deepEqual(paid.map(({ properties }) => properties.i), [...Array(1_000).keys()]);
  for (const [i, event] of paid.entries()) {
    const user = `user-${i % 10}`;
    assert.equal(event.timestamp, new Date(START_MS + i * 1_000).toISOString());
    assert.deepEqual([event.userId, event.anonymousId], [user, `device of ${user}`]);
    assert.equal(event.url, `https://shop.example/checkout/${i}`);
    const { server: _, ...properties } = event.properties;
    assert.deepEqual(properties, { i });
  }
  const identify = events.find(({ name }) => name === "$identify");
  assert.deepEqual([identify.userId, identify.anonymousId], ["user-1", "device-1"]);
  assert.deepEqual(identify.properties.user_properties, { $set: { plan: "pro" } });
}

Deno.test("@amplitude/analytics-node: 1,000 events arrive, each once", () =>
  withFaultyServer((delivery) => delivers(delivery, "/2/httpapi")));

Deno.test("@amplitude/analytics-node: so they do on /batch", () =>
  withFaultyServer((delivery) => delivers(delivery, "/batch")));
