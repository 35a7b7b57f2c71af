/// <reference lib="dom" />
/** The usual script tags of Umami and Plausible, pointed here: our own SDK under their scripts' names. */
import assert from "node:assert/strict";
import { sharedApp } from "../support/app.ts";
import { until } from "../support/server_process.ts";
import { ClientSite } from "./client_site.ts";
import { allStored, faultyProxy } from "./real_client.ts";

const server = sharedApp();
const EVENTS = 1_000;
const ARRIVAL_MS_MAX = 60_000;
const WEBSITE = "b59e9c65-ae32-47f1-8400-119fcf4861c4";

// deno-lint-ignore no-explicit-any -- events are read as a page would
type Event = any;

async function arrives(isPlausible: boolean): Promise<void> {
  const project = await server.project({ siteUrl: isPlausible ? "https://tags.example" : null });
  const key = isPlausible ? "tags.example" : WEBSITE;
  if (!isPlausible) await server.key(project.id, { kind: "public", value: WEBSITE });
  await using site = await ClientSite.open("tags.ts");
  await using proxy = await faultyProxy(server);
  const page = await site.page("/cart?utm_source=mail");
  await page.evaluate((...all) => globalThis.load(...all), key, proxy.url, isPlausible);
  await page.evaluate((count) => globalThis.track(0, count), EVENTS);
  await page.evaluate(() => globalThis.others());
  const expected = EVENTS + (isPlausible ? 1 : 2);
  const arrived = () =>
    new Set(
      proxy.bodies.flatMap((body) => JSON.parse(body).events.map(({ eventId }: Event) => eventId)),
    ).size;
  await until(ARRIVAL_MS_MAX, () => Promise.resolve(arrived() >= expected), "all of them arrive");
  assert.deepEqual(await page.evaluate(() => globalThis.mistakes), []);
  const { refused, cut, lost } = proxy.counts;
  assert.ok(refused > 0 && cut > 0 && lost > 0, JSON.stringify(proxy.counts));
  assert.deepEqual([...proxy.statuses.keys()], [200]);

  const events: Event[] = await allStored(server, project);
  const clicked = events.filter(({ name }) => name === "Clicked");
  assert.equal(clicked.length, EVENTS, "each once");
  assert.equal(new Set(clicked.map(({ properties }) => properties.number)).size, EVENTS);
  assert.equal(new Set(events.map(({ anonymousId }) => anonymousId)).size, 1);
  for (const { path, browser, bot, inSession } of clicked) {
    assert.deepEqual([path, browser, bot, inSession], ["/cart", "Chrome", false, true]);
  }
  const others = events.filter(({ name }) => name !== "Clicked" && name !== "scroll");
  assert.deepEqual(
    others.map(({ name, userId }) => [name, userId]).toSorted(),
    isPlausible ? [["page_view", null]] : [["$identify", "user-7"], ["page_view", null]],
  );
}

for (const name of ["umami", "plausible"]) {
  Deno.test({
    name: `${name}'s script tag: 1,000 events of a page arrive under resets and 503s, each once`,
    fn: () => arrives(name === "plausible"),
  });
}
