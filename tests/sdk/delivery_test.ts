/// <reference lib="dom" />
import assert from "node:assert/strict";
import { pause } from "../support/server_process.ts";
import { Door, hang, refusal } from "./gate.ts";
import { sharedWorld } from "./world.ts";

const browserTest = sharedWorld();
const ids = (events: readonly { eventId: string }[]) => events.map(({ eventId }) => eventId);

browserTest("batching: a flush 5 s after the first queued event takes them all", async (visit) => {
  const page = await visit.client({ flushIntervalMs: undefined });
  const startMs = await page.evaluate(() => {
    footfall.track("one");
    // By the page's own timer, which comes before that of the flush however busy the machine is.
    setTimeout(() => footfall.track("two"), 2_000);
    return Date.now();
  });
  await visit.arrived("one", "two");
  assert.equal(visit.gate.posts.length, 1);
  const afterMs = visit.gate.posts[0]!.atMs - startMs;
  assert.ok(afterMs >= 4_900, `${afterMs} ms`);
});

browserTest("batching: the tenth event is sent with the nine before it, at once", async (visit) => {
  const page = await visit.client({ flushIntervalMs: 60_000 });
  await page.evaluate(() => {
    for (let i = 0; i < 9; i++) footfall.track(`e${i}`);
  });
  await pause(300);
  assert.equal(visit.gate.posts.length, 0, "nine wait");
  await page.evaluate(() => footfall.track("e9"));
  const events = await visit.arrived(...Array.from({ length: 10 }, (_, i) => `e${i}`));
  assert.equal(visit.gate.posts.length, 1);
  assert.deepEqual(ids(events), ids(events).toSorted(), "ids sort by time");
  for (const id of ids(events)) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});

browserTest("flush: resolves once the server has answered", async (visit) => {
  const page = await visit.client({ flushIntervalMs: 60_000 });
  await page.evaluate(async () => {
    footfall.track("one", { price: 19.5 });
    await footfall.flush();
  });
  assert.equal(visit.gate.posts[0]?.status, 200);
  const [stored] = await visit.stored();
  assert.equal(stored.properties.price, 19.5);
  assert.equal(stored.clock, "client");
});

browserTest("no key or no endpoint: a silent no-op of the same shape", async (visit) => {
  for (const missing of [{ apiKey: "" }, { apiKey: null }, { endpoint: "" }, { endpoint: null }]) {
    const page = await visit.client({ ...missing, autocapture: true, flushIntervalMs: 1 });
    const left = await page.evaluate(async () => {
      const { footfall } = window;
      footfall.track("one");
      footfall.page();
      footfall.identify("someone");
      footfall.reset();
      footfall.optOut();
      footfall.optIn();
      await footfall.flush();
      return Object.keys(localStorage);
    });
    assert.deepEqual(left, []);
  }
  assert.equal(visit.gate.posts.length, 0);
  assert.deepEqual(visit.messages, []);
});

browserTest("401: stops for good, keeps its queue, and another key sends it", async (visit) => {
  const good = visit.project.publicKey;
  visit.publish({ head: visit.module({}, "pk_that_never_existed_0001") });
  const page = await visit.open();
  await page.evaluate(() => footfall.track("one"));
  await visit.until(() => visit.gate.posts[0]?.status === 401, "the key is refused");
  await page.evaluate(() => {
    footfall.track("two");
    return footfall.flush();
  });
  await visit.open("/", page);
  await page.evaluate(() => footfall.flush());
  await pause(500);
  assert.equal(visit.gate.posts.length, 1, "a reload with the same key stays silent");

  visit.publish({ head: visit.module({}, good) });
  await visit.open("/", page);
  await visit.arrived("one", "two");
  assert.equal((await visit.stored()).length, 2);
});

browserTest("403: a revoked key stops its client", async (visit) => {
  const { id, publicKey } = visit.project;
  const page = await visit.client();
  const keys = await visit.world.server.admin("GET", `/v1/projects/${id}/keys`);
  const path = keys.body.keys.find(({ kind }: { kind: string }) => kind === "public").id;
  await visit.world.server.admin("DELETE", `/v1/projects/${id}/keys/${path}`);
  await visit.until(async () => {
    await page.evaluate(() => footfall.track("one"));
    await pause(200);
    return visit.gate.posts.some(({ status }) => status === 403);
  }, `${publicKey} is refused`);
  const before = visit.gate.posts.length;
  await page.evaluate(async () => {
    for (let i = 0; i < 20; i++) footfall.track("later");
    await footfall.flush();
  });
  await pause(300);
  assert.equal(visit.gate.posts.length, before);
});

browserTest("429: what Retry-After says is waited for once", async (visit) => {
  const page = await visit.newPage();
  await page.evaluateOnNewDocument(() => {
    const set = setTimeout;
    const waits: number[] = [];
    // Each timer comes early, as browsers have it by part of a millisecond.
    const early = (work: () => void, ms: number) => (waits.push(ms), set(work, ms - 20));
    Object.assign(globalThis, { waits, setTimeout: early });
  });
  visit.gate.fault = () =>
    visit.gate.posts.length > 1 ? null : refusal(429, { "Retry-After": "1" })();
  await visit.client({}, page);
  await page.evaluate(() => footfall.track("one"));
  await visit.until(() => visit.gate.posts.length === 2, "it is sent again");
  const waits = await page.evaluate(() => (globalThis as unknown as { waits: number[] }).waits);
  assert.equal(waits.filter((ms) => ms > 100).length, 1, waits.join());
});

browserTest("429: waits as long as Retry-After says, flush() and other tabs too", async (visit) => {
  const page = await visit.client();
  visit.gate.fault = refusal(429, { "Retry-After": "2" });
  await page.evaluate(() => footfall.track("one"));
  await visit.until(() => visit.gate.posts.length === 1, "the first try");
  const refusedMs = visit.gate.posts[0]!.atMs;
  visit.gate.fault = () => null;
  await page.evaluate(() => footfall.flush());
  const other = await visit.open();
  await other.evaluate(() => {
    footfall.track("two");
    return footfall.flush();
  });
  await visit.arrived("one", "two");
  for (const post of visit.gate.posts.slice(1)) {
    assert.ok(post.atMs - refusedMs >= 1_950, `${post.atMs - refusedMs} ms`);
  }
});

browserTest("503: tries again by itself, with the same event id", async (visit) => {
  const page = await visit.client();
  visit.gate.fault = refusal(503);
  await page.evaluate(() => footfall.track("one"));
  await visit.until(() => visit.gate.posts.length === 2, "a second try");
  const [first, second] = visit.gate.posts.map(({ atMs }) => atMs);
  assert.ok(second! - first! >= 450, `${second! - first!} ms`);
  visit.gate.fault = () => null;
  await visit.arrived("one");
  assert.equal(new Set(ids(visit.gate.events())).size, 1);
});

browserTest(
  "503 until the page is hidden: the next event waits no longer than any",
  async (visit) => {
    const page = await visit.client();
    visit.gate.fault = refusal(503);
    await page.evaluate(async () => {
      footfall.track("one");
      // By then it would wait for more than half a minute.
      for (let i = 0; i < 7; i++) await footfall.flush();
    });
    visit.gate.fault = () => null;
    await page.evaluate(() => {
      Object.defineProperty(document, "hidden", { value: true });
      document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
    });
    await visit.arrived("one");
    await page.evaluate(() => footfall.track("two"));
    await visit.arrived("one", "two");
  },
);

browserTest("poison: rejected events are dropped, alone or among others", async (visit) => {
  const page = await visit.client();
  await page.evaluate(async () => {
    footfall.track("too large", { text: "x".repeat(40_000) });
    await footfall.flush();
    footfall.track("too large", { text: "x".repeat(40_000) });
    footfall.track("good");
    await footfall.flush();
    await footfall.flush();
  });
  assert.deepEqual(visit.gate.posts.map(({ status }) => status), [400, 200]);
  assert.deepEqual((await visit.stored()).map(({ name }) => name), ["good"]);
  await visit.open("/", page);
  await page.evaluate(() => footfall.flush());
  assert.equal(visit.gate.posts.length, 2, "nothing of it comes back");
});

browserTest(
  "text that no database holds loses its bad characters, not its event",
  async (visit) => {
    const page = await visit.client();
    await page.evaluate(async () => {
      footfall.track("odd", { half: "\ud83d!", nul: "a\0b", path: "c:\\u0000", ok: "😀" });
      await footfall.flush();
    });
    const [{ properties: { server: _, ...own } }] = await visit.stored();
    assert.deepEqual(own, { half: "!", nul: "ab", path: "c:\\u0000", ok: "😀" });
  },
);

browserTest("storage that is refused while a page is open: no call throws", async (visit) => {
  const page = await visit.client({ flushIntervalMs: 60_000 });
  const thrown = await page.evaluate(async () => {
    const { footfall } = window;
    footfall.track("one");
    Object.defineProperty(window, "localStorage", {
      get() {
        throw new DOMException("Access is denied for this document.", "SecurityError");
      },
    });
    const messages: string[] = [];
    const calls = [
      () => footfall.identify("someone"),
      () => footfall.track("two"),
      () => footfall.flush(),
      () => footfall.reset(),
      () => footfall.optOut(),
      () => footfall.track("three"),
      () => footfall.optIn(),
      () => footfall.track("four"),
      () => footfall.flush(),
    ];
    for (const call of calls) {
      try {
        await call();
      } catch (error) {
        messages.push(`${call}: ${error}`);
      }
    }
    return messages;
  });
  assert.deepEqual(thrown, []);
  await visit.arrived("one", "two", "four");
  assert.deepEqual(visit.messages, []);
});

/** Leaves no room in localStorage. */
function fillStorage() {
  for (let text = "x".repeat(2 ** 23), i = 0; text; i++) {
    try {
      localStorage.setItem(`${i}`, text);
    } catch {
      text = text.slice(0, text.length / 2);
    }
  }
}

browserTest(
  "storage that is full: who opted out stays so, and who came is known",
  async (visit) => {
    const page = await visit.client();
    const fillAndTrack = async () => {
      await page.evaluate(fillStorage);
      await visit.open("/", page);
      await page.evaluate(async () => {
        footfall.track("full");
        await footfall.flush();
      });
    };
    await page.evaluate(async () => {
      footfall.track("first");
      await footfall.flush();
    });
    await fillAndTrack();
    const [first, full] = await visit.arrived("first", "full");
    assert.equal(full.anonymousId, first.anonymousId);
    await page.evaluate(() => footfall.optOut());
    await fillAndTrack();
    await visit.arrived("first", "full");
  },
);

browserTest(
  "storage that is full: who was there before somebody else does not come back",
  async (visit) => {
    const page = await visit.client();
    await page.evaluate(() => footfall.identify("ann"));
    await page.evaluate(fillStorage);
    await page.evaluate(async () => {
      footfall.identify("bartholomew");
      footfall.track("same page");
      await footfall.flush();
    });
    await visit.open("/", page);
    await page.evaluate(async () => {
      footfall.track("next page");
      await footfall.flush();
    });
    const events = await visit.arrived("same page", "next page");
    assert.deepEqual(events.map(({ userId }) => userId), ["bartholomew", null]);
  },
);

browserTest("413: the batch is split, and an event too large alone is dropped", async (visit) => {
  const page = await visit.client({ flushIntervalMs: 60_000, flushAt: 100 });
  visit.gate.fault = ({ events }) =>
    events.length > 3 || events.some(({ name }) => name === "huge") ? refusal(413)() : null;
  await page.evaluate(async () => {
    for (let i = 0; i < 12; i++) footfall.track(i === 5 ? "huge" : "small");
    await footfall.flush();
    await footfall.flush();
  });
  await visit.until(() => visit.gate.events(200).length >= 11, "all others arrive");
  assert.equal((await visit.stored()).length, 11);
  const tries = visit.gate.posts.length;
  await page.evaluate(() => footfall.flush());
  assert.equal(visit.gate.posts.length, tries);
});

browserTest("a server that hangs is given up and tried again", async (visit) => {
  const page = await visit.client({ timeoutMs: 2_000 });
  visit.gate.fault = hang;
  await page.evaluate(() => footfall.track("one"));
  await visit.until(() => visit.gate.posts.length === 1, "the first try");
  visit.gate.fault = () => null;
  await visit.arrived("one");
  assert.equal((await visit.stored()).length, 1);
});

browserTest(
  "a server that commits but drops the connection: the retry does not double",
  async (visit) => {
    await using door = new Door(visit.world.sitePort);
    visit.publish({ head: visit.module({ timeoutMs: 2_000 }) });
    const page = await visit.open("/", undefined, `http://localhost:${door.port}`);
    door.dropsAnswers = true;
    await page.evaluate(() => footfall.track("one"));
    await visit.until(() => door.dropped > 0, "an answer is dropped");
    door.dropsAnswers = false;
    await visit.until(
      () => visit.gate.posts.some(({ reply }) => reply?.duplicates === 1),
      "the retry is told that it repeats",
    );
    assert.equal((await visit.stored()).length, 1);
  },
);

browserTest("offline, then online: sent as soon as the network is back", async (visit) => {
  const page = await visit.client();
  await page.setOfflineMode(true);
  await page.evaluate(async () => {
    footfall.track("one");
    await footfall.flush();
  });
  assert.equal(visit.gate.posts.length, 0);
  await page.setOfflineMode(false);
  await visit.arrived("one");
});

browserTest(
  "a page that is open for years: no timer is set for longer than there is",
  async (visit) => {
    // Each of them comes at once, as if its time had passed.
    const hurry = `<script>
    globalThis.asked = [];
    const original = setTimeout;
    setTimeout = (work, ms, ...given) => asked.push(ms) && original(work, 0, ...given);
  </script>`;
    visit.publish({ head: hurry + visit.module() });
    const page = await visit.open();
    await page.evaluate(() => footfall.track("one"));
    await visit.arrived("one");
    await pause(500);
    const asked = await page.evaluate(() => (globalThis as unknown as { asked: number[] }).asked);
    assert.deepEqual(asked.filter((ms) => ms > 2 ** 31 - 1), [], `${asked.length} timers`);
  },
);
