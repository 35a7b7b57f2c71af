import assert from "node:assert/strict";
import { readEvent, suspicionOf } from "../../src/ingest/event_schema.ts";
import { openGeo } from "../../src/ingest/geo.ts";
import { createAgentReader } from "../../src/ingest/user_agent.ts";
import {
  BATCH_EVENTS_MAX,
  type DemoBatch,
  demoEvents,
  type DemoOptions,
} from "../../src/demo/visitors/demo_events.ts";
import { addressIn, PLACES } from "../../src/demo/visitors/places.ts";
import { Random } from "../../src/demo/visitors/random.ts";
import type { DemoEvent } from "../../src/demo/visitors/visit.ts";

const OPTIONS: DemoOptions = {
  seed: 1,
  weeks: 3,
  visitors: 900,
  untilMs: Date.UTC(2026, 10, 21, 8),
};

const batchesOf = (change: Partial<DemoOptions> = {}): DemoBatch[] => [
  ...demoEvents({ ...OPTIONS, ...change }).batches(),
];
const BATCHES = batchesOf();
const EVENTS = BATCHES.flatMap((batch) => batch.events);

/** Who did it, as identity resolves: the user that a browser was ever seen with, else the browser. */
const USERS = new Map(
  EVENTS.flatMap(({ anonymousId, userId }) =>
    anonymousId !== undefined && userId !== undefined ? [[anonymousId, userId] as const] : []
  ),
);
const actorOf = ({ anonymousId = "", userId }: DemoEvent) =>
  userId ?? USERS.get(anonymousId) ?? anonymousId;
const actorsOf = (name: string) =>
  new Set(EVENTS.filter((event) => event.name === name).map(actorOf));
const landings = EVENTS.filter(({ name }) => name === "page_view");

Deno.test("demoEvents: the same options give the same bytes", () => {
  assert.equal(JSON.stringify(batchesOf()), JSON.stringify(BATCHES));
});

Deno.test("demoEvents: another seed gives other events, and none of the ids", () => {
  const ids = new Set(EVENTS.map(({ eventId }) => eventId));
  const other = batchesOf({ seed: 2 }).flatMap((batch) => batch.events);
  assert.ok(other.length > 1000);
  assert.ok(other.every(({ eventId }) => !ids.has(eventId)));
});

Deno.test("demoEvents: a later end adds events and changes none, the surge apart", () => {
  const later = new Map(
    batchesOf({ untilMs: OPTIONS.untilMs + 5 * 3_600_000 })
      .flatMap((batch) => batch.events).map((event) => [event.eventId, JSON.stringify(event)]),
  );
  assert.ok(later.size > EVENTS.length);
  for (const event of EVENTS) assert.equal(later.get(event.eventId), JSON.stringify(event));
});

Deno.test("demoEvents: ids are unique, and all events are before the end", () => {
  assert.equal(new Set(EVENTS.map(({ eventId }) => eventId)).size, EVENTS.length);
  const first = Math.min(...EVENTS.map(({ timestamp }) => Date.parse(timestamp)));
  const last = Math.max(...EVENTS.map(({ timestamp }) => Date.parse(timestamp)));
  assert.ok(last < OPTIONS.untilMs);
  assert.ok(last > OPTIONS.untilMs - 3_600_000, "the last hour is not empty");
  assert.ok(first > OPTIONS.untilMs - 22 * 86_400_000);
});

Deno.test("demoEvents: every event is one that the server takes", () => {
  for (const event of EVENTS) readEvent(event, { size: true, text: true });
  const longest = Math.max(...BATCHES.map((batch) => JSON.stringify(batch.events).length));
  assert.ok(longest < 1024 * 1024);
  assert.equal(suspicionOf(JSON.stringify(EVENTS[0])).text, false);
});

Deno.test("demoEvents: batches are one browser's, bounded, oldest first, and count the people", () => {
  let done = 0;
  for (const { events, visitorsDone } of BATCHES) {
    assert.ok(events.length > 0 && events.length <= BATCH_EVENTS_MAX);
    assert.equal(new Set(events.map(({ anonymousId }) => anonymousId)).size, 1);
    assert.ok(visitorsDone >= done);
    done = visitorsDone;
  }
  const { visitors } = demoEvents(OPTIONS);
  assert.ok(done <= visitors && done > visitors * 0.95);
  assert.ok(visitors > OPTIONS.visitors * 0.9 && visitors < OPTIONS.visitors * 1.4);
});

Deno.test("demoEvents: events of one visit follow each other in time", () => {
  for (const { events } of BATCHES) {
    for (const [i, event] of events.entries()) {
      const before = events[i - 1];
      if (before?.url !== event.url || event.name === "page_view") continue;
      assert.ok(before.timestamp <= event.timestamp, event.eventId);
    }
  }
});

Deno.test("demoEvents: the funnel loses people at every step, and some arrive", () => {
  const steps = ["view_product", "add_to_cart", "begin_checkout", "purchase"].map(actorsOf);
  const sizes = steps.map((step) => step.size);
  for (let i = 1; i < steps.length; i++) {
    assert.ok(sizes[i]! < sizes[i - 1]! * 0.85, sizes.join(" → "));
    assert.ok([...steps[i]!].every((actor) => steps[i - 1]!.has(actor)), "nobody skips a step");
  }
  assert.ok(sizes[3]! > 10, sizes.join(" → "));
  const [purchase] = EVENTS.filter(({ name }) => name === "purchase");
  assert.equal(typeof purchase?.properties?.value, "number");
  assert.equal(purchase?.properties?.currency, "EUR");
});

Deno.test("demoEvents: identities are learnt late, and some people use two browsers", () => {
  const anonymousFirst = EVENTS.filter(({ userId, anonymousId }) =>
    userId === undefined && USERS.has(anonymousId ?? "")
  );
  assert.ok(anonymousFirst.length > 100);
  const browsers = new Map<string, number>();
  for (const user of USERS.values()) browsers.set(user, (browsers.get(user) ?? 0) + 1);
  assert.ok([...browsers.values()].filter((count) => count === 2).length >= 5);
  assert.ok(actorsOf("sign_up").size > 20);
  assert.ok(actorsOf("login").size >= 5);
});

Deno.test("demoEvents: every campaign and referrer is there, and visits without either", () => {
  const urls = landings.map(({ url }) => url).join("\n");
  for (
    const tag of [
      "utm_source=newsletter",
      "utm_medium=cpc",
      "gclid=",
      "fbclid=",
      "utm_source=instagram",
      "utm_source=partners",
    ]
  ) assert.ok(urls.includes(tag), tag);
  const referrers = new Set(landings.map(({ referrer }) => referrer ?? null));
  for (const host of ["www.google.com", "www.bing.com", "duckduckgo.com", "chatgpt.com"]) {
    assert.ok(referrers.has(`https://${host}/`), host);
  }
  assert.ok(referrers.has(null));
});

Deno.test("demoEvents: clicks lie on the page, some in rage, some dead; scrolls end on it", () => {
  const clicks = EVENTS.filter(({ name }) => name === "click").map(({ properties = {} }) =>
    properties as Record<string, number & boolean>
  );
  for (const { x, y, fixed, viewportHeight, documentHeight } of clicks) {
    assert.ok(x! > 0 && x! < 1 && y! >= 0);
    assert.ok(y! <= (fixed ? viewportHeight! : documentHeight!));
  }
  assert.ok(clicks.filter(({ rage }) => rage).length >= 3);
  assert.ok(clicks.filter(({ dead, rage }) => dead && !rage).length >= 10);
  assert.ok(clicks.some(({ fixed }) => fixed));
  for (const { name, properties } of EVENTS) {
    if (name !== "scroll") continue;
    const { depthPx, documentHeight } = properties as Record<string, number>;
    assert.ok(depthPx! > 0 && depthPx! <= documentHeight!);
  }
});

Deno.test("demoEvents: people come back in later weeks", () => {
  const days = new Map<string, Set<string>>();
  for (const event of EVENTS) {
    const actor = actorOf(event);
    days.set(actor, (days.get(actor) ?? new Set()).add(event.timestamp.slice(0, 10)));
  }
  const spans = [...days.values()].map((seen) => {
    const sorted = [...seen].sort();
    return (Date.parse(sorted.at(-1)!) - Date.parse(sorted[0]!)) / 86_400_000;
  });
  const returned = spans.filter((span) => span >= 7).length;
  assert.ok(returned > 0.1 * spans.length && returned < 0.6 * spans.length);
});

Deno.test("demoEvents: in the last days one referrer surges", () => {
  const perDay = new Map<string, number>();
  for (const { referrer, timestamp } of landings) {
    if (referrer !== "https://news.ycombinator.com/") continue;
    const day = timestamp.slice(0, 10);
    perDay.set(day, (perDay.get(day) ?? 0) + 1);
  }
  const before = perDay.get("2026-11-16") ?? 0;
  for (const day of ["2026-11-18", "2026-11-19", "2026-11-20"]) {
    assert.ok(perDay.get(day)! > 5 * (before + 1), `${day}: ${perDay.get(day)}, before: ${before}`);
  }
});

Deno.test("demoEvents: crawlers, phones, tablets and computers come, and are seen as such", () => {
  const readAgent = createAgentReader();
  const agents = BATCHES.map(({ userAgent }) => readAgent(userAgent));
  for (const device of ["desktop", "mobile", "tablet"] as const) {
    assert.ok(agents.some((agent) => agent.device === device && agent.bot === false), device);
  }
  const bots = BATCHES.filter((_, i) => agents[i]!.bot);
  assert.ok(bots.length >= 20 && bots.length < 0.1 * BATCHES.length, String(bots.length));
  assert.ok(bots.every((batch) => batch.events.every(({ name }) => name === "page_view")));
});

Deno.test("addressIn: every address is in its country", async () => {
  const geo = await openGeo(null);
  for (const place of PLACES) {
    const random = new Random(place.country);
    for (let i = 0; i < 200; i++) {
      const address = addressIn(place, random);
      assert.equal(geo.locate(address)?.country, place.country, address);
    }
  }
});
