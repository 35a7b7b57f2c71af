/** The published `posthog-node`, in a process of its own, against a server that fails now and then. */
import assert from "node:assert/strict";
import { arrived, assertFaulty, runClient, withFaultyServer } from "../client_delivery.ts";

const START_MS = Date.UTC(2026, 9, 1);
const PROGRAM = new URL("./posthog_node_program.ts", import.meta.url);

Deno.test("posthog-node: 1,000 events arrive, each once", () =>
  withFaultyServer(async (delivery) => {
    const { proxy, project } = delivery;
    const report = await runClient(PROGRAM, [proxy.url, project.publicKey]);
    assert.deepEqual(report, { errors: [], flags: {} });
    assertFaulty(delivery);

    const events = await arrived(delivery, 1_003);
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
      assert.equal(event.clock, "client");
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
  }));
