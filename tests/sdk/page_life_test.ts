/// <reference lib="dom" />
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { pause } from "../support/server_process.ts";
import { refusal } from "./gate.ts";
import { sharedWorld, type Visit } from "./world.ts";

const browserTest = sharedWorld();

/** What a browser does as another tab covers this one; a headless one shows all its tabs. */
function hide(page: Page): Promise<void> {
  return page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
}

/** Each event id with the number of posts that carried it. */
function sendings(visit: Visit): Map<string, number> {
  const count = new Map<string, number>();
  for (const { eventId } of visit.gate.events()) count.set(eventId, (count.get(eventId) ?? 0) + 1);
  return count;
}

browserTest("hidden tab: what is queued goes at once, without a preflight", async (visit) => {
  const page = await visit.client({ flushIntervalMs: 60_000 });
  await page.evaluate(() => footfall.track("one"));
  await hide(page);
  await visit.arrived("one");
  assert.equal(visit.gate.posts[0]!.contentType, "text/plain;charset=UTF-8");
  await page.evaluate(() => footfall.flush());
  assert.equal(visit.gate.posts.length, 1, "it was sent once");
});

browserTest("hidden tab: more than 64 KiB go in requests below the quota", async (visit) => {
  const page = await visit.client({ flushIntervalMs: 60_000, flushAt: 1_000 });
  await page.evaluate(() => {
    for (let i = 0; i < 40; i++) footfall.track("large", { text: "é".repeat(2_500) });
  });
  await hide(page);
  await visit.arrived(...Array<string>(40).fill("large"));
  assert.ok(visit.gate.posts.length >= 4);
  for (const { bytes } of visit.gate.posts) assert.ok(bytes < 65_536, `${bytes} bytes`);
  assert.deepEqual(new Set(sendings(visit).values()), new Set([1]));
});

browserTest("navigation away: the page's last events reach another origin", async (visit) => {
  visit.publish({
    head: visit.module({ flushIntervalMs: 60_000, endpoint: visit.world.collectorUrl }),
  });
  visit.publish({ path: "/next" });
  const page = await visit.open();
  await page.evaluate(() => footfall.track("last words"));
  await page.goto(`${visit.world.siteUrl}/next`);
  await visit.arrived("last words");
  assert.deepEqual(visit.gate.preflights, []);
});

browserTest("navigation away: the next page sends what the last one could not", async (visit) => {
  visit.gate.fault = refusal(503);
  const page = await visit.client({ flushIntervalMs: 60_000 });
  await page.evaluate(() => footfall.track("one"));
  visit.publish({ path: "/next", head: visit.module() });
  await page.goto(`${visit.world.siteUrl}/next`);
  // On a busy machine what the first page sends as it goes arrives after the next one is there.
  await visit.until(() => visit.gate.posts.length > 0, "the first page's last words are refused");
  visit.gate.fault = () => null;
  await visit.arrived("one");
  assert.equal((await visit.stored())[0].path, "/");
});

browserTest(
  "reload: a waiting queue survives, and nothing of it is lost or doubled",
  async (visit) => {
    visit.gate.fault = refusal(503);
    const page = await visit.client();
    await page.evaluate(() => {
      for (let i = 0; i < 30; i++) footfall.track("kept", { i });
    });
    await visit.until(() => visit.gate.posts.length > 0, "a first try");
    await visit.open("/", page);
    visit.gate.fault = () => null;
    await visit.until(async () => (await visit.stored()).length >= 30, "all are stored");
    assert.equal((await visit.stored()).length, 30);
  },
);

browserTest(
  "two tabs: no event is sent twice, and a closed tab's queue is taken over",
  async (visit) => {
    const first = await visit.client({ flushIntervalMs: 60_000, flushAt: 1_000 });
    const work = (page: Page) =>
      page.evaluate(() => {
        for (let i = 0; i < 40; i++) footfall.track("work");
      });
    await work(first);
    const second = await visit.open();
    await work(second);
    // By now the second tab has looked twice for queues whose page is gone.
    await pause(2_000);
    await Promise.all([first, second].map((page) => page.evaluate(() => footfall.flush())));
    await visit.arrived(...Array<string>(80).fill("work"));
    assert.deepEqual(new Set(sendings(visit).values()), new Set([1]));

    visit.gate.fault = refusal(503);
    await second.evaluate(() => {
      footfall.track("left behind");
      return footfall.flush();
    });
    await second.close();
    visit.gate.fault = () => null;
    const third = await visit.open();
    await visit.until(async () => {
      await Promise.all([first, third].map((page) => page.evaluate(() => footfall.flush())));
      return visit.gate.events(200).some(({ name }) => name === "left behind");
    }, "another tab sends it");
  },
);

browserTest(
  "a crashed page: the next one sends its queue, though its lock lingers",
  async (visit) => {
    const page = await visit.client({ flushIntervalMs: 60_000 });
    visit.publish({ path: "/plain" });
    const other = await visit.newPage();
    await other.goto(`${visit.world.siteUrl}/plain`);
    await page.evaluate(() => footfall.track("before the crash"));
    // Chromium tells other processes a little later: what they have not seen is lost with this one.
    await other.waitForFunction(() =>
      Object.values(localStorage).some((text) => String(text).includes("before the crash"))
    );
    const crashed = new Promise((resolve) => page.once("error", resolve));
    (await page.createCDPSession()).send("Page.crash").catch(() => {});
    await crashed;
    visit.publish({ head: visit.module() });
    await visit.open("/", await visit.newPage());
    await visit.arrived("before the crash");
  },
);

browserTest(
  "no Web Locks (plain HTTP): leases keep tabs apart, and a reload keeps its queue",
  async (visit) => {
    const origin = `http://shop.test:${visit.world.sitePort}`;
    visit.publish({ head: visit.module() });
    const page = await visit.open("/", undefined, origin);
    assert.equal(await page.evaluate(() => navigator.locks === undefined), true);
    const other = await visit.open("/", undefined, origin);
    visit.gate.fault = refusal(503);
    await page.evaluate(() => footfall.track("kept"));
    await other.evaluate(() => footfall.track("other"));
    await visit.until(() => visit.gate.posts.length >= 2, "both tried");
    await visit.open("/", page, origin);
    visit.gate.fault = () => null;
    // What the page sends as it goes may arrive beside what its next one sends: stored once.
    await visit.until(async () => (await visit.stored()).length >= 2, "both are stored");
    const names = (await visit.stored()).map(({ name }) => name);
    assert.deepEqual(names.toSorted(), ["kept", "other"]);
  },
);

browserTest("localStorage refused: it works from memory", async (visit) => {
  const { collectorUrl } = visit.world;
  const inner = `<script type="module">import { createAnalytics } from "${collectorUrl}/sdk.mjs";
    const a = createAnalytics({ apiKey: "${visit.project.publicKey}", endpoint: "${collectorUrl}" });
    a.identify("someone"); a.track("from memory"); a.track("twice"); a.flush();</script>`;
  visit.publish({ path: "/inner", body: inner });
  // A frame without an origin of its own has no storage.
  visit.publish({ body: `<iframe sandbox="allow-scripts" src="/inner"></iframe>` });
  const page = await visit.newPage();
  await page.goto(`${visit.world.siteUrl}/`);
  const [one, two] = await visit.arrived("from memory", "twice");
  assert.equal(one.userId, "someone");
  assert.match(one.anonymousId, /^[0-9a-f-]{36}$/);
  assert.equal(one.anonymousId, two.anonymousId);
  assert.deepEqual(visit.messages, []);
});

browserTest(
  "identity: identify sends nothing, later events carry it, reset ends it",
  async (visit) => {
    const page = await visit.client({ flushIntervalMs: 60_000 });
    await page.evaluate(async () => {
      footfall.track("before");
      footfall.identify("user-7");
      footfall.identify({ id: "user-8" } as never);
      await footfall.flush();
      footfall.track("after");
      await footfall.flush();
    });
    await visit.open("/", page);
    await page.evaluate(async () => {
      footfall.track("reloaded");
      footfall.reset();
      footfall.track("reset");
      await footfall.flush();
    });
    const [before, after, reloaded, reset] = await visit.arrived(
      "before",
      "after",
      "reloaded",
      "reset",
    );
    assert.deepEqual(
      [before, after, reloaded, reset].map(({ userId }) => userId),
      [null, "user-7", "user-7", null],
    );
    assert.equal(before.anonymousId, after.anonymousId);
    assert.equal(before.anonymousId, reloaded.anonymousId);
    assert.notEqual(before.anonymousId, reset.anonymousId);
    assert.equal(await page.evaluate(() => document.cookie), "");
  },
);

browserTest("privacy: GPC records nothing and keeps nothing", async (visit) => {
  visit.publish({ head: visit.tag() });
  const page = await visit.newPage();
  await page.evaluateOnNewDocument(() => {
    Object.defineProperty(navigator, "globalPrivacyControl", { value: true });
  });
  await visit.open("/", page);
  const left = await page.evaluate(async () => {
    footfall.track("one");
    footfall.identify("someone");
    await footfall.flush();
    return Object.keys(localStorage);
  });
  await page.goto("about:blank");
  assert.deepEqual(left, []);
  assert.equal(visit.gate.posts.length, 0);
});

browserTest(
  "privacy: optOut deletes queue and identity for good, optIn begins anew",
  async (visit) => {
    const page = await visit.client({ flushIntervalMs: 60_000 });
    const left = await page.evaluate(async () => {
      footfall.track("one");
      footfall.identify("someone");
      footfall.optOut();
      footfall.track("two");
      await footfall.flush();
      return Object.keys(localStorage);
    });
    assert.deepEqual(left.toSorted(), ["footfall|era", "footfall|optOut"]);
    await visit.open("/", page);
    await page.evaluate(async () => {
      footfall.track("three");
      await footfall.flush();
      footfall.optIn();
      footfall.track("four");
      await footfall.flush();
    });
    const [event] = await visit.arrived("four");
    assert.equal(event.userId, null);
  },
);

browserTest("cross-origin: a real preflight, then the key in its header", async (visit) => {
  visit.publish({ head: visit.tag("", `${visit.world.collectorUrl}/sdk.js`) });
  const page = await visit.open();
  await page.evaluate(() => footfall.flush());
  await visit.arrived("page_view");
  assert.deepEqual(visit.gate.preflights, ["/v1/events"]);
  assert.equal(visit.gate.posts[0]!.contentType, "application/json");
  assert.deepEqual(visit.messages, []);
});

browserTest("same origin, through a proxy path: no preflight", async (visit) => {
  visit.publish({ head: visit.tag() });
  const page = await visit.open();
  await page.evaluate(() => footfall.flush());
  await visit.arrived("page_view");
  assert.deepEqual(visit.gate.preflights, []);
});

browserTest(
  "a strict Content-Security-Policy needs no more than the SDK's own origin",
  async (visit) => {
    const { collectorUrl } = visit.world;
    visit.publish({
      head: visit.tag("", `${collectorUrl}/sdk.js`),
      headers: {
        "Content-Security-Policy":
          `default-src 'none'; script-src ${collectorUrl}; connect-src ${collectorUrl}; img-src data:`,
        "Cross-Origin-Embedder-Policy": "require-corp",
      },
    });
    const page = await visit.open();
    await page.evaluate(() => footfall.flush());
    await visit.arrived("page_view");
    assert.deepEqual(visit.messages, []);
  },
);

browserTest(
  "a page that throws, and calls with nonsense: neither harms the other",
  async (visit) => {
    visit.publish({ head: `<script>throw new Error("of the page")</script>${visit.tag()}` });
    const page = await visit.open();
    const result = await page.evaluate(async () => {
      const circle: Record<string, unknown> = {};
      circle.self = circle;
      // deno-lint-ignore no-explicit-any -- as a page without types would call it
      const client = footfall as any;
      client.track("circle", circle);
      client.track("big", { n: 1n });
      client.track(Symbol("name"));
      client.identify(Object.create(null));
      client.identify();
      client.track("good", { getter: 1 });
      localStorage.clear();
      await client.flush();
      return "went on";
    });
    assert.equal(result, "went on");
    await visit.arrived("page_view", "good");
    assert.deepEqual(visit.messages.filter((text) => !text.includes("of the page")), []);
  },
);

browserTest("loaded twice, as script and module: one visit is one page view", async (visit) => {
  const { siteUrl } = visit.world;
  visit.publish({
    head: visit.tag() + visit.tag() + `<script type="module">
      import { createAnalytics } from "/analytics/sdk.mjs";
      window.same = ["/", ""].every((end) => window.footfall === createAnalytics({
        apiKey: "${visit.project.publicKey}", endpoint: "${siteUrl}/analytics" + end,
        autocapture: true }));</script>`,
  });
  const page = await visit.open();
  await page.evaluate(() => footfall.flush());
  await visit.arrived("page_view");
  assert.equal(await page.evaluate(() => (globalThis as { same?: boolean }).same), true);
});

browserTest("the console stays silent, unless debug is on", async (visit) => {
  const page = await visit.client();
  const use = () =>
    page.evaluate(async () => {
      footfall.identify("someone");
      footfall.track("one");
      await footfall.flush();
    });
  await use();
  assert.equal(visit.messages.join("\n"), "");
  visit.publish({ head: visit.module({ debug: true }) });
  await visit.open("/", page);
  await use();
  await visit.until(() => visit.messages.length > 0, "something is said");
  assert.ok(visit.messages.every((text) => text.startsWith("[footfall]")), visit.messages.join());
  assert.ok(visit.messages.some((text) => text.includes("identify someone")));
});

browserTest("1,000 events of 4 tabs under random faults are stored exactly once", async (visit) => {
  let seed = 7;
  const random = () => (seed = seed * 16_807 % 2_147_483_647) / 2_147_483_647;
  const faults = [
    refusal(503),
    refusal(429, { "Retry-After": "0" }),
    refusal(500),
    () => new Response("<h1>Sign in</h1>", { headers: { "Content-Type": "text/html" } }),
  ];
  visit.gate.fault = async (post) => {
    const dice = random();
    if (dice > 0.4) return null;
    if (dice > 0.3) {
      // Stored, and yet the answer is lost.
      await visit.world.server.postRaw(visit.project, JSON.stringify({ events: post.events }));
      return refusal(502)();
    }
    return faults[Math.floor(random() * faults.length)]!();
  };
  const page = await visit.client({ flushIntervalMs: 100, timeoutMs: 5_000 });
  const tabs = [page, await visit.open(), await visit.open(), await visit.open()];
  await Promise.all(tabs.map(async (tab, t) => {
    for (let round = 0; round < 2; round++) {
      await tab.evaluate(async (from: number) => {
        for (let i = 0; i < 125; i++) {
          footfall.track("counted", { number: from + i });
          if (i % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 4));
        }
      }, t * 250 + round * 125);
      if (round === 0) await visit.open("/", tab);
    }
  }));
  // Of four queues one may fail seven times running (0.4^7 each), and then rests a minute or two.
  const all = async () => (await visit.stored()).length >= 1_000;
  await visit.until(all, "all are stored", 180_000).catch(async (error) => {
    throw new Error(`${error.message}: ${(await visit.stored()).length}`);
  });
  const numbers = (await visit.stored()).map(({ properties }) => properties.number);
  assert.equal(numbers.length, 1_000);
  assert.equal(new Set(numbers).size, 1_000);
});
