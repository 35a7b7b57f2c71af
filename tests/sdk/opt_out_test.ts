/// <reference lib="dom" />
import assert from "node:assert/strict";
import { pause } from "../support/server_process.ts";
import { refusal } from "./gate.ts";
import { sharedWorld } from "./world.ts";

const browserTest = sharedWorld();

browserTest("optOut deletes what other tabs hold, too: optIn sends none of it", async (visit) => {
  const one = await visit.client({ flushIntervalMs: 60_000 });
  const other = await visit.open();
  visit.gate.fault = refusal(503);
  await other.evaluate(async () => {
    footfall.track("before");
    await footfall.flush();
  });
  await one.evaluate(() => footfall.optOut());
  // The other tab looks every 2 s.
  await pause(3_000);
  visit.gate.fault = () => null;
  await one.evaluate(() => footfall.optIn());
  await other.evaluate(async () => {
    footfall.track("after");
    await footfall.flush();
  });
  await visit.arrived("after");
});

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
