/// <reference lib="dom" />
import assert from "node:assert/strict";
import { openIdentity } from "../../src/sdk/identity.ts";
import { openStore } from "../../src/sdk/store.ts";
import { refusal } from "./gate.ts";
import { sharedWorld } from "./world.ts";

const browserTest = sharedWorld();
const TABS = 3;

browserTest("tabs that a first visit opens at once are of one visitor", async (visit) => {
  visit.publish({ head: visit.tag() });
  const tabs = await Promise.all(Array.from({ length: TABS }, () => visit.newPage()));
  await Promise.all(tabs.map((tab) => tab.goto(visit.world.siteUrl)));
  await visit.until(async () => {
    const standing = await Promise.all(
      tabs.map((tab) => tab.evaluate(() => localStorage.getItem("footfall|anonymousId"))),
    );
    return new Set(standing).size === 1;
  }, "each tab sees what the others wrote");
  await Promise.all(tabs.map((tab) => tab.evaluate(() => footfall.flush())));
  const views = await visit.arrived(...tabs.map(() => "page_view"));
  assert.equal(new Set(views.map(({ anonymousId }) => anonymousId)).size, 1);
});

browserTest("who was there before reset() is not who comes after, sent or not", async (visit) => {
  const page = await visit.client({ flushIntervalMs: 60_000 });
  await page.evaluate(async () => {
    footfall.track("before");
    footfall.reset();
    footfall.track("after");
    await footfall.flush();
  });
  const [before, after] = await visit.arrived("before", "after");
  assert.notEqual(before.anonymousId, after.anonymousId);
});

browserTest(
  "what waits in a tab is not of who comes after reset() in another one",
  async (visit) => {
    const page = await visit.client({ flushIntervalMs: 60_000 });
    const other = await visit.open();
    visit.gate.fault = refusal(503);
    const id = await page.evaluate(async () => {
      footfall.track("before");
      await footfall.flush();
      return localStorage.getItem("footfall|anonymousId");
    });
    visit.gate.fault = () => null;
    await other.evaluate(async () => {
      footfall.reset();
      footfall.track("after");
      await footfall.flush();
    });
    await visit.until(
      () => page.evaluate((id) => localStorage.getItem("footfall|anonymousId") !== id, id),
      "the tab sees who comes after",
    );
    await page.evaluate(() => footfall.flush());
    const events = await visit.arrived("before", "after");
    assert.equal(events.find(({ name }) => name === "before").anonymousId, id);
    assert.notEqual(events.find(({ name }) => name === "after").anonymousId, id);
  },
);

browserTest(
  "who was a user is not given the id of who comes after, whoever forgets him",
  async (visit) => {
    const page = await visit.client({ flushIntervalMs: 60_000 });
    await page.evaluate(async () => {
      footfall.track("nobody");
      footfall.identify("user-7");
      footfall.track("user");
      // As another tab does, or another copy of the SDK on the page.
      localStorage.removeItem("footfall|userId");
      localStorage.removeItem("footfall|anonymousId");
      footfall.track("after");
      await footfall.flush();
    });
    const [, user, after] = await visit.arrived("nobody", "user", "after");
    assert.equal(user.userId, "user-7");
    assert.equal(after.userId, null);
    assert.notEqual(user.anonymousId, after.anonymousId);
  },
);

browserTest("an id is written as JSON has it, and found in no other place", async (visit) => {
  visit.publish({
    head: `<script>localStorage["footfall|anonymousId"] = "7"</script>` + visit.module(),
  });
  const page = await visit.open();
  await page.evaluate(async () => {
    footfall.track("one", { id: "7" });
    localStorage["footfall|anonymousId"] = 'a"b\\c';
    await footfall.flush();
  });
  const [one] = await visit.arrived("one");
  assert.deepEqual([one.anonymousId, one.properties.id], ['a"b\\c', "7"]);
});

browserTest("an id of another product is sent as it stands", async (visit) => {
  const id = "a$$b$&c";
  visit.publish({
    head: `<script>localStorage["footfall|anonymousId"] = "${id}"</script>` + visit.module(),
  });
  const page = await visit.open();
  await page.evaluate(() => footfall.track("one"));
  assert.equal((await visit.arrived("one"))[0].anonymousId, id);
});

browserTest("identify() passes over what the server refuses as an id", async (visit) => {
  const page = await visit.client({ flushIntervalMs: 60_000 });
  await page.evaluate(async () => {
    footfall.identify("user-7");
    for (const id of ["", ".", "..", "x".repeat(201)]) footfall.identify(id);
    footfall.track("seven");
    footfall.identify("...");
    footfall.track("dots");
    await footfall.flush();
  });
  const events = await visit.arrived("seven", "dots");
  assert.deepEqual(events.map(({ userId }) => userId), ["user-7", "..."]);
  assert.equal((await visit.stored()).length, 2);
});

Deno.test("identity: a page that first sends what others left behind takes no part in who that was", () => {
  const store = openStore(false);
  const identity = openIdentity(store);
  store.set("anonymousId", "earlier");
  const leftBehind = '{"anonymousId":"earlier","userId":null}';
  assert.equal(identity.settled(leftBehind), leftBehind);
  // As reset() in another tab does.
  store.set("anonymousId", "later");
  const own = JSON.stringify(identity.get());
  assert.equal(identity.settled(own), own);
  identity.reset();
});
