/// <reference lib="dom" />
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { refusal } from "./gate.ts";
import { sharedWorld } from "./world.ts";

const browserTest = sharedWorld();

/** Opts out and in again, and waits until another tab sees that: browsers tell other processes a little later. */
async function optOutAndIn(page: Page, other: Page) {
  const era = await page.evaluate(() => {
    // At once: no timer of the other tab runs in between, as where the browser slows down a hidden one.
    footfall.optOut();
    footfall.optIn();
    return localStorage["footfall|era"];
  });
  await other.waitForFunction(
    (era) => localStorage["footfall|era"] === era && !localStorage["footfall|optOut"],
    {},
    era,
  );
}

browserTest("what other tabs hold from before optOut is not sent after optIn", async (visit) => {
  const one = await visit.client({ flushIntervalMs: 60_000 });
  const other = await visit.open();
  visit.gate.fault = refusal(503);
  await other.evaluate(async () => {
    footfall.track("before");
    await footfall.flush();
  });
  visit.gate.fault = () => null;
  await optOutAndIn(one, other);
  await other.evaluate(async () => {
    footfall.track("after");
    await footfall.flush();
  });
  await visit.arrived("after");
});

browserTest(
  "an opt-out by a clock that was ahead hides no later one from other tabs",
  async (visit) => {
    const one = await visit.client({ flushIntervalMs: 60_000 });
    await one.evaluate(() => {
      const now = Date.now;
      Date.now = () => now() + 86_400_000;
      footfall.optOut();
      footfall.optIn();
      Date.now = now;
    });
    const other = await visit.open();
    await other.waitForFunction(() => localStorage["footfall|era"]);
    await other.evaluate(() => footfall.track("before"));
    await optOutAndIn(one, other);
    await other.evaluate(async () => {
      footfall.track("after");
      await footfall.flush();
    });
    await visit.arrived("after");
  },
);

browserTest(
  "a page that clears its storage after optIn loses none of its events",
  async (visit) => {
    const page = await visit.client({ flushIntervalMs: 60_000 });
    await page.evaluate(async () => {
      footfall.optOut();
      footfall.optIn();
      footfall.track("one");
      localStorage.clear();
      footfall.track("two");
      await footfall.flush();
    });
    await visit.arrived("one", "two");
  },
);

browserTest("Global Privacy Control holds for what was queued before it, too", async (visit) => {
  const page = await visit.client();
  visit.gate.fault = refusal(503);
  await page.evaluate(async () => {
    footfall.track("before");
    await footfall.flush();
  });
  await page.evaluateOnNewDocument(() =>
    Object.defineProperty(navigator, "globalPrivacyControl", { value: true })
  );
  await visit.open("/", page);
  visit.gate.reset();
  await visit.until(
    () => page.evaluate(() => !Object.keys(localStorage).some((name) => name.includes("event"))),
    "it is deleted",
  );
  await page.evaluate(() => footfall.flush());
  assert.deepEqual(visit.gate.events(), []);
});
