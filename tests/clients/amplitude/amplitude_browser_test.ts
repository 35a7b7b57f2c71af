/** The published `@amplitude/analytics-browser`, in a real page, against a server that fails now and then. */
/// <reference lib="dom" />
import assert from "node:assert/strict";
import { sharedApp } from "../../support/app.ts";
import { assertClicked, ClientSite, type Stored, trackAll } from "../client_site.ts";
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
    assert.equal(properties.platform, "Web");
    assert.deepEqual([event.userId, event.anonymousId], [null, device]);
    assert.deepEqual([event.url, event.path, event.title], [url, "/shop", "Shop"]);
  }
}

for (
  const [path, count, batching] of [["/batch", 1_000, true], ["/2/httpapi", 200, false]] as const
) {
  Deno.test(`@amplitude/analytics-browser: ${count} events of a page arrive on ${path}, each once`, async () => {
    const project = await server.project();
    await using proxy = await faultyProxy(server);
    await using site = await ClientSite.open("amplitude.ts");
    const page = await site.page(PATH);
    const startedAt = Date.now();
    const asked: string[] = [];
    page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
    await page.evaluate(
      (key, url, batching) => globalThis.load(key, url, batching),
      ...[project.publicKey, proxy.url, batching] as const,
    );
    await trackAll(page, count, () => numbersIn(proxy).size);
    await page.evaluate(() => globalThis.others());
    assert.deepEqual(await page.evaluate(() => globalThis.mistakes), []);
    assertFaults(proxy);
    assert.ok(asked.includes(`/config/${project.publicKey}`), "it asks for its settings here");

    const events: Stored[] = await allStored(server, project);
    const of = (name: string) => events.filter((event) => event.name === name);
    assert.deepEqual(
      ["page_view", "$session_start", "$identify", "Clicked"].map((name) => of(name).length),
      [1, 1, 1, count],
    );
    assert.equal(events.length, count + 3);
    const [view] = of("page_view");
    assert.deepEqual([view.path, view.title, view.userId], ["/shop", "Shop", null]);
    assert.equal(view.referrer, "http://search.example/");
    assertClicks(of("Clicked"), { count, url: site.url + PATH, device: view.anonymousId });
    const [identified] = of("$identify");
    assert.deepEqual([identified.userId, identified.anonymousId], ["user-7", view.anonymousId]);
    assert.deepEqual(identified.properties.user_properties, { $set: { plan: "b" } });
    assert.equal(identified.sessionId, view.sessionId);
    for (const { timestamp } of events) {
      const ms = Date.parse(timestamp);
      assert.ok(ms >= startedAt - 1_000 && ms <= Date.now(), timestamp);
    }
  });
}
