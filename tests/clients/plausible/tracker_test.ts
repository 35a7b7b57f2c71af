/// <reference lib="dom" />
/** Plausible's tracker for bundlers, as it is published. */
import assert from "node:assert/strict";
import { sharedApp } from "../../support/app.ts";
import { until } from "../../support/server_process.ts";
import { ClientSite } from "../client_site.ts";
import { allStored, faultyProxy } from "../real_client.ts";

const server = sharedApp();
const EVENTS = 1_000;
/** It reads no reply, so that a browser takes its requests for under way until they are 64 KiB. */
const EVENTS_PER_PAGE = 250;
const ARRIVAL_MS_MAX = 20_000;

// deno-lint-ignore no-explicit-any -- events are read as a page would
type Event = any;

Deno.test({
  name: "@plausible-analytics/tracker: 1,000 events of a page arrive under resets and 503s",
  async fn() {
    const project = await server.project({ siteUrl: "https://www.shop.example" });
    await using site = await ClientSite.open("plausible.ts");
    await using proxy = await faultyProxy(server, { batchesPerRound: 100 });
    for (let from = 0; from < EVENTS; from += EVENTS_PER_PAGE) {
      const before = proxy.bodies.length;
      const page = await site.page("/cart?utm_source=mail");
      await page.evaluate((url) => globalThis.load("shop.example", url, false), proxy.url);
      const arrives = () => Promise.resolve(proxy.bodies.length > before);
      await until(ARRIVAL_MS_MAX, arrives, "its page view");
      await page.evaluate((...span) => globalThis.track(...span), from, EVENTS_PER_PAGE);
      assert.deepEqual(await page.evaluate(() => globalThis.mistakes), []);
      await page.close();
    }
    const { refused, cut, lost } = proxy.counts;
    assert.ok(refused > 0 && cut > 0 && lost > 0, JSON.stringify(proxy.counts));
    assert.deepEqual([...proxy.statuses.keys()], [202]);
    assert.deepEqual(proxy.preflights, [], "none of its requests needs one");

    const events: Event[] = await allStored(server, project);
    const clicked = events.filter(({ name }) => name === "Clicked");
    // It makes no ids: whose answer was lost is sent again, and is another event.
    assert.equal(clicked.length, EVENTS + lost);
    const byNumber = new Map<number, Event>(
      clicked.map((event) => [Number(event.properties.number), event]),
    );
    assert.equal(byNumber.size, EVENTS);
    for (const [i, event] of byNumber) {
      const { server: stored, ...properties } = event.properties;
      assert.deepEqual(properties, {
        number: String(i),
        ...(i % 5 === 0 ? { revenue: i, currency: "EUR" } : {}),
        ...(i % 2 === 0 ? {} : { $interactive: false }),
      });
      assert.deepEqual([event.path, event.referrer, event.clock], [
        ...["/cart", "http://search.example/", "received"],
      ]);
      assert.deepEqual([stored.ip, event.browser, event.device, event.bot], [
        ...["127.0.0.1", "Chrome", "desktop", false],
      ]);
    }
    const views = events.filter(({ name }) => name === "page_view");
    assert.ok(views.length >= EVENTS / EVENTS_PER_PAGE, `${views.length} page views`);
  },
});
