/** The published `posthog-js`, in a real page, against a server that fails now and then. */
/// <reference lib="dom" />
import assert from "node:assert/strict";
import { sharedApp } from "../../support/app.ts";
import { until } from "../../support/server_process.ts";
import {
  ARRIVED_MS_MAX,
  assertClicked,
  ClientSite,
  type Stored,
  trackAll,
} from "../client_site.ts";
import { allStored, assertFaults, faultyProxy, numbersIn } from "../real_client.ts";

const server = sharedApp();
const PATH = "/shop?utm_source=mail";

function assertClicks(
  clicks: readonly Stored[],
  { count, url, device }: { count: number; url: string; device: string },
): void {
  assertClicked(clicks, count);
  for (const event of clicks) {
    const { server: _, ...properties } = event.properties;
    assert.deepEqual(properties, { number: event.properties.number, utm_source: "mail" });
    assert.deepEqual([event.userId, event.anonymousId], [null, device]);
    assert.deepEqual([event.url, event.path, event.referrer], [
      url,
      "/shop",
      "http://search.example/",
    ]);
  }
}

for (
  const [how, count, batching] of [["in batches", 1_000, true], ["one by one", 200, false]] as const
) {
  Deno.test(`posthog-js, ${how}: ${count} events of a page arrive, each once`, async () => {
    const project = await server.project();
    let isFaulty = true;
    await using proxy = await faultyProxy(server, {
      posts: (path) => isFaulty && path !== "/flags/",
      batchesPerRound: batching ? 7 : 40,
    });
    await using site = await ClientSite.open("posthog.ts");
    const page = await site.page(PATH);
    const startedAt = Date.now();
    await page.evaluate(
      (key, url, batching) => globalThis.load(key, url, batching),
      ...[project.publicKey, proxy.url, batching] as const,
    );
    await trackAll(page, count, () => numbersIn(proxy).size);
    await page.evaluate(() => globalThis.others());
    const stored = async (name: string): Promise<Stored> =>
      (await allStored(server, project)).find((event) => event.name === name);
    await until(ARRIVED_MS_MAX, async () => await stored("$identify") !== undefined, "an identify");
    assert.deepEqual(await page.evaluate(() => globalThis.mistakes), []);
    assertFaults(proxy);
    isFaulty = false;
    await page.goto("about:blank");
    await until(ARRIVED_MS_MAX, async () => await stored("$pageleave") !== undefined, "a beacon");

    const events: Stored[] = await allStored(server, project);
    assert.equal(events.length, count + 3);
    const of = (name: string) => events.find((event) => event.name === name);
    const view = of("page_view");
    assert.deepEqual([view.path, view.title, view.userId], ["/shop", "Shop", null]);
    assert.ok(view.context.viewport.width > 0, JSON.stringify(view.context));
    assertClicks(
      events.filter(({ name }) => name === "Clicked"),
      { count, url: site.url + PATH, device: view.anonymousId },
    );
    const identified = of("$identify");
    assert.deepEqual([identified.userId, identified.anonymousId], ["user-7", view.anonymousId]);
    assert.equal(identified.properties.$set.plan, "b");
    for (const { timestamp } of events) {
      const ms = Date.parse(timestamp);
      assert.ok(ms >= startedAt - 1_000 && ms <= Date.now(), timestamp);
    }
    assert.equal(view.sessionId, identified.sessionId);
  });
}
