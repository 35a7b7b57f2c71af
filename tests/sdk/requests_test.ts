/// <reference lib="dom" />
import assert from "node:assert/strict";
import { pause } from "../support/server_process.ts";
import { refusal } from "./gate.ts";
import { sharedWorld } from "./world.ts";

const browserTest = sharedWorld();

/** Events as a page that is gone left them, by their names in its queue. */
function left(key: string, texts: Record<string, string>): string {
  const names = Object.entries(texts)
    .map(([name, text]) => [`footfall|event|${key}|of a page that is gone|${name}`, text]);
  return `<script>Object.assign(localStorage, ${
    JSON.stringify(Object.fromEntries(names))
  })</script>`;
}

browserTest("a stored queue that somebody broke takes no other event with it", async (visit) => {
  const broken = left(visit.project.publicKey, {
    cut: `{"eventId":"0193`,
    list: "[]",
    number: "7",
    word: "undefined",
    open: `{}],"events":[`,
    good: JSON.stringify({ eventId: crypto.randomUUID(), name: "kept" }),
    old: JSON.stringify({ id: 1, name: "of an older version" }),
  });
  const others = `<script>Object.assign(localStorage,
    { "footfall|event|": "{", "footfall|event": "[{", "footfall|queue": "[1" })</script>`;
  visit.publish({ head: broken + others + visit.module() });
  const page = await visit.open();
  await page.evaluate(() => footfall.track("own"));
  await visit.until(async () => {
    await page.evaluate(() => footfall.flush());
    return await page.evaluate(() =>
      !Object.keys(localStorage).some((name) => name.includes("gone"))
    );
  }, "an end is made of all of them");
  const names = (await visit.stored()).map(({ name }) => name);
  assert.deepEqual(names.toSorted(), ["kept", "own"]);
  assert.deepEqual(visit.messages.filter((text) => !text.includes("400")), []);
});

browserTest("a stored text that hides others from the server takes none with it", async (visit) => {
  const page = await visit.client({ flushIntervalMs: 60_000, flushAt: 100 });
  // Of two lists of a name the last one counts: an empty one, and one with an event that is none.
  for (const [name, text] of [["one", `{}],"events":[`], ["two", `{}],"events":[{}`]] as const) {
    const queue = `of a page that is gone ${name}`;
    await page.evaluate(
      (name, entry, text) => {
        footfall.track(name);
        localStorage.setItem(entry, text);
      },
      name,
      `footfall|event|${visit.project.publicKey}|${queue}|1`,
      text,
    );
    // So that it comes last.
    await visit.until(
      () =>
        page.evaluate(
          async (lock) => (await navigator.locks.query()).held!.some(({ name }) => name === lock),
          `footfall|${queue}`,
        ),
      "it is taken over",
    );
    await page.evaluate(() => footfall.flush());
  }
  assert.deepEqual((await visit.stored()).map(({ name }) => name).toSorted(), ["one", "two"]);
  const kept = () => page.evaluate(() => Object.keys(localStorage).join());
  assert.doesNotMatch(await kept(), /event/);
});

browserTest("400: a batch of which some may be valid is split, any other is not", async (visit) => {
  const page = await visit.client({ flushIntervalMs: 60_000, flushAt: 100 });
  await page.evaluate(async () => {
    const deep = JSON.parse(`${'{"in":'.repeat(12)}1${"}".repeat(12)}`);
    for (let i = 0; i < 8; i++) footfall.track("too deep", deep);
    await footfall.flush();
  });
  assert.equal(visit.gate.events().length, 8, "the server has read them all");

  visit.gate.fault = ({ events }) =>
    events.some(({ name }) => name === "bad") ? refusal(400)() : null;
  await page.evaluate(async () => {
    for (let i = 0; i < 12; i++) footfall.track(i === 5 ? "bad" : "good");
    await footfall.flush();
    await footfall.flush();
  });
  assert.equal((await visit.stored()).length, 11);
  const tries = visit.gate.posts.length;
  await page.evaluate(() => footfall.flush());
  assert.equal(visit.gate.posts.length, tries);
});

browserTest(
  "a policy of the page that forbids sending: asked once, and nothing is lost",
  async (visit) => {
    const count = `<script>globalThis.refused = 0;
    addEventListener("securitypolicyviolation", () => refused++)</script>`;
    const head = count + visit.module();
    visit.publish({ head, headers: { "Content-Security-Policy": "connect-src 'none'" } });
    const page = await visit.open();
    const refused = () =>
      page.evaluate(() => (globalThis as unknown as { refused: number }).refused);
    await page.evaluate(() => footfall.track("one"));
    await visit.until(async () => await refused() > 0, "the browser refuses");
    await page.evaluate(async () => {
      for (let i = 0; i < 20; i++) footfall.track("more");
      await footfall.flush();
      dispatchEvent(new Event("online"));
      dispatchEvent(new Event("pagehide"));
      await footfall.flush();
    });
    // By now it would have tried again twice.
    await pause(3_000);
    assert.equal(await refused(), 1);

    const told = "Content-Security-Policy-Report-Only";
    visit.publish({ head, headers: { [told]: "connect-src 'none'" } });
    await visit.open("/", page);
    await visit.arrived("one", ...Array<string>(20).fill("more"));
  },
);

browserTest(
  "a policy of the page that forbids another address of the same path: it is not this one",
  async (visit) => {
    visit.publish({
      head: visit.module(),
      headers: { "Content-Security-Policy": "connect-src 'self'" },
    });
    const page = await visit.open();
    await page.evaluate(async (url) => {
      await fetch(url).catch(() => {});
      footfall.track("one");
    }, `${visit.world.collectorUrl}/analytics/v1/events`);
    await visit.arrived("one");
  },
);

browserTest("an endpoint is the address it resolves to, or nothing", async (visit) => {
  visit.publish({
    head: visit.module({ endpoint: "https://name:word@collector.test" }),
    headers: { "Content-Security-Policy": "connect-src 'self'" },
  });
  const page = await visit.open();
  const isOne = await page.evaluate(async (apiKey) => {
    await fetch("https://elsewhere.test").catch(() => {});
    footfall.track("one");
    await footfall.flush();
    const module: string = "/analytics/sdk.mjs";
    const { createAnalytics } = await import(module);
    const client = createAnalytics({ apiKey, endpoint: "/analytics" });
    client.track("two");
    await client.flush();
    return client === createAnalytics({ apiKey, endpoint: `${location.origin}/analytics//` });
  }, visit.project.publicKey);
  assert.ok(isOne, "a page has one client of a key and an address");
  await visit.arrived("two");
  const said = visit.messages.filter((text) => !text.includes("elsewhere.test"));
  assert.deepEqual(said, []);
});

browserTest(
  "a page whose fetch throws at once can be left, and the next one sends",
  async (visit) => {
    const page = await visit.client({ flushIntervalMs: 60_000 });
    await page.evaluate(() => {
      globalThis.fetch = () => {
        throw new Error("of the page's own");
      };
      footfall.track("kept");
    });
    await visit.client({}, page);
    await visit.arrived("kept");
    assert.deepEqual(visit.messages, []);
  },
);
