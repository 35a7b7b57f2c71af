/** Umami's library for servers, as it is published. */
import assert from "node:assert/strict";
import { sharedApp } from "../../support/app.ts";
import { allStored, faultyProxy, runProgram } from "../real_client.ts";

const server = sharedApp();
const EVENTS = 1_000;
/** A week ago, on a whole second. */
const START_MS = Math.floor(Date.now() / 1_000) * 1_000 - 7 * 86_400_000;
const AT = (i: number) => new Date(START_MS + i * 1_000).toISOString();

// deno-lint-ignore no-explicit-any -- events are read as a page would
type Event = any;

Deno.test("@umami/node: 1,000 events arrive under resets and 503s, to the same website's id", async () => {
  const project = await server.project();
  const website = crypto.randomUUID();
  await server.key(project.id, { kind: "public", value: website });
  await using proxy = await faultyProxy(server, { batchesPerRound: 100 });
  const { failures, replies, last } = await runProgram("umami_node.ts", [
    ...[proxy.url, website, String(START_MS)],
  ]);
  const { refused, cut, lost } = proxy.counts;
  assert.ok(refused > 0 && cut > 0 && lost > 0, JSON.stringify(proxy.counts));
  assert.deepEqual([...proxy.statuses.keys()], [200]);
  // Its runtime tries broken connections once more by itself.
  assert.ok(failures >= refused && failures <= refused + cut + lost, `${failures} failures`);
  assert.equal(replies, EVENTS);
  assert.deepEqual(Object.keys(last), ["cache", "sessionId", "visitId"]);

  const events: Event[] = await allStored(server, project);
  // It makes no ids: whose answer was lost is sent again, and is another event.
  assert.equal(events.length, EVENTS + lost);
  const tracked = new Map<number, Event>(
    events.filter(({ name }) => name.startsWith("Ordered"))
      .map((event) => [event.properties.number, event]),
  );
  assert.equal(tracked.size, 998);
  for (const [i, event] of tracked) {
    const { server: stored, ...properties } = event.properties;
    assert.deepEqual(
      [event.name, event.userId, event.anonymousId, event.timestamp, event.clock, properties],
      [`Ordered ${i % 3}`, `user-${i % 10}`, null, AT(i), "client", { number: i }],
    );
    assert.deepEqual([event.path, event.title, event.url, event.referrer], [
      ...["/cart", "Cart", `https://shop.example/cart?utm_source=mail&n=${i}`],
      "https://search.example/",
    ]);
    assert.deepEqual([event.context.locale, event.context.screen], [
      ...["de", { width: 1920, height: 1080 }],
    ]);
    // Its agent, Mozilla/5.0 Umami/…, is made up.
    assert.deepEqual([stored.ip, event.browser, event.os, event.bot], [
      ...["127.0.0.1", null, null, null],
    ]);
  }
  const view = events.find(({ name }) => name === "page_view");
  assert.deepEqual([view.path, view.timestamp], ["/cart", AT(998)]);
  const identified = events.find(({ name }) => name === "$identify");
  assert.equal(identified.properties.plan, "b");
});
