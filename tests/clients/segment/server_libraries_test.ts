/** The libraries for servers of Segment and RudderStack, as they are published. */
import assert from "node:assert/strict";
import { type Json, sharedApp } from "../../support/app.ts";
import { allStored, assertFaults, faultyProxy, runProgram } from "../real_client.ts";

const server = sharedApp();
/** A week ago, on a whole second. */
const START_MS = Math.floor(Date.now() / 1_000) * 1_000 - 7 * 86_400_000;
const AT = (i: number) => new Date(START_MS + i * 1_000).toISOString();

// deno-lint-ignore no-explicit-any -- events are read as a page would
type Event = any;

function assertTracked(events: readonly Json[]): void {
  const tracked: Event[] = events.filter(({ name }) => String(name).startsWith("Ordered"));
  assert.equal(tracked.length, 997);
  tracked.sort((a, b) => a.properties.number - b.properties.number);
  for (const [i, event] of tracked.entries()) {
    const { server: stored, ...properties } = event.properties;
    assert.deepEqual(
      [event.name, event.userId, event.anonymousId, event.timestamp, event.clock, properties],
      [`Ordered ${i % 3}`, `user-${i % 10}`, `anon-${i % 10}`, AT(i), "client", { number: i }],
    );
    assert.deepEqual([stored.ip, event.os, event.bot], ["81.2.69.142", "iOS", false]);
    assert.deepEqual([event.path, event.title, event.url], [
      "/cart",
      "Cart",
      "https://shop.example/cart?utm_source=mail",
    ]);
  }
}

function assertOthers(events: readonly Json[]): void {
  const named = (name: string): Event => {
    const found = events.filter((event) => event.name === name);
    assert.equal(found.length, 1, name);
    return found[0];
  };
  const page = named("page_view");
  assert.deepEqual([page.url, page.userId, page.timestamp], [
    "https://shop.example/own",
    "user-1",
    AT(997),
  ]);
  assert.equal(page.properties.name, "Basket");
  const identified = named("$identify");
  assert.deepEqual([identified.userId, identified.anonymousId, identified.properties.plan], [
    "user-1",
    "anon-new",
    "b",
  ]);
  const alias = named("$alias");
  assert.deepEqual([alias.userId, alias.anonymousId], ["user-1", "anon-old"]);
}

for (
  const [library, program] of [
    ["@segment/analytics-node", "segment_node.ts"],
    ["@rudderstack/rudder-sdk-node", "rudder_node.ts"],
  ] as const
) {
  Deno.test(`${library}: 1,000 events arrive under resets and 503s, each once`, async () => {
    const project = await server.project();
    await using proxy = await faultyProxy(server);
    const { mistakes } = await runProgram(program, [
      proxy.url,
      project.secretKey,
      String(START_MS),
    ]);
    assert.deepEqual(mistakes, []);
    assertFaults(proxy);
    const events = await allStored(server, project);
    assert.equal(events.length, 1_000);
    assertTracked(events);
    assertOthers(events);
  });
}
