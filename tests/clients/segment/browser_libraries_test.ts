/** The libraries for browsers of Segment and RudderStack, as they are published, in real pages. */
import assert from "node:assert/strict";
import { type Json, sharedApp } from "../../support/app.ts";
import { until } from "../../support/server_process.ts";
import {
  ARRIVED_MS_MAX,
  assertClicked,
  ClientSite,
  type Stored,
  trackAll,
} from "../client_site.ts";
import { allStored, assertFaults, faultyProxy } from "../real_client.ts";

const server = sharedApp();
const PATH = "/shop?utm_source=mail";

function assertClicks(
  events: readonly Json[],
  { count, url, from, to }: { count: number; url: string; from: number; to: number },
): void {
  const clicks: Stored[] = events.filter(({ name }) => name === "Clicked");
  assertClicked(clicks, count);
  assert.equal(new Set(clicks.map(({ anonymousId }) => anonymousId)).size, 1);
  for (const event of clicks) {
    const { server: _, ...properties } = event.properties;
    assert.deepEqual(Object.keys(properties), ["number"]);
    assert.deepEqual([event.url, event.path, event.title, event.referrer], [
      url,
      "/shop",
      "Shop",
      "http://search.example/",
    ]);
    const ms = Date.parse(event.timestamp);
    assert.ok(ms >= from && ms <= to, event.timestamp);
  }
}

function assertOthers(events: readonly Json[]): void {
  const of = (name: string): Stored => events.find((event) => event.name === name);
  const [page, identified] = [of("page_view"), of("$identify")];
  assert.deepEqual([page.path, page.properties.name, page.properties.section], [
    "/shop",
    "Home",
    "a",
  ]);
  assert.deepEqual([identified.userId, identified.properties.plan], ["user-7", "b"]);
  assert.equal(identified.anonymousId, page.anonymousId);
}

for (
  const [library, program, count, batching] of [
    ["@segment/analytics-next", "segment.ts", 400, false],
    ["@segment/analytics-next, in batches", "segment.ts", 200, true],
    ["@rudderstack/analytics-js", "rudder.ts", 400, false],
    ["@rudderstack/analytics-js, in batches", "rudder.ts", 200, true],
  ] as const
) {
  Deno.test(`${library}: ${count} events of a page arrive under resets and 503s, each once`, async () => {
    const project = await server.project();
    await using proxy = await faultyProxy(server, batching ? {} : { batchesPerRound: 100 });
    await using site = await ClientSite.open(program);
    const page = await site.page(PATH);
    const startedAt = Date.now();
    await page.evaluate(
      (key, url, batching) => globalThis.load(key, url, batching),
      ...[project.publicKey, proxy.url, batching] as const,
    );
    await trackAll(page, count, () => proxy.ids.size);
    await page.evaluate(() => globalThis.others());
    await until(ARRIVED_MS_MAX, () => Promise.resolve(proxy.ids.size >= count + 2), "all arrive");
    assert.deepEqual(await page.evaluate(() => globalThis.mistakes), []);
    assertFaults(proxy);
    const events = await allStored(server, project);
    assert.equal(events.length, count + 2);
    assertClicks(events, { count, url: site.url + PATH, from: startedAt, to: Date.now() });
    assertOthers(events);
  });
}
