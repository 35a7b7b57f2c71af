/// <reference lib="dom" />
import assert from "node:assert/strict";
import { refusal } from "./gate.ts";
import { sharedWorld } from "./world.ts";

const browserTest = sharedWorld();
const DAY_MS = 86_400_000;

/** Sets the page's clock, once it is called. */
const set = (offsetMs: number) => {
  const now = Date.now;
  Date.now = () => now() + offsetMs;
};

browserTest("a clock that is set back does not keep a failed event waiting", async (visit) => {
  const page = await visit.client();
  visit.gate.fault = refusal(503);
  await page.evaluate(async () => {
    footfall.track("one");
    await footfall.flush();
  });
  await page.evaluate(set, -DAY_MS);
  visit.gate.fault = () => null;
  await visit.arrived("one");
});

browserTest("plain HTTP: a lease of before the clock was set back has ended", async (visit) => {
  const left = {
    [`footfall|event|${visit.project.publicKey}|of a page that is gone|1`]: JSON.stringify({
      eventId: crypto.randomUUID(),
      name: "kept",
    }),
    "footfall|lease|of a page that is gone": `${Date.now() + DAY_MS}`,
  };
  const head = `<script>Object.assign(localStorage, ${JSON.stringify(left)})</script>`;
  visit.publish({ head: head + visit.module() });
  await visit.open("/", undefined, `http://shop.test:${visit.world.sitePort}`);
  await visit.arrived("kept");
});

browserTest("a Retry-After that a clock far ahead has stored holds for no page", async (visit) => {
  const page = await visit.client();
  await page.evaluate(set, 300 * DAY_MS);
  visit.gate.fault = refusal(429, { "Retry-After": "60" });
  await page.evaluate(async () => {
    footfall.track("one");
    await footfall.flush();
    await footfall.flush();
  });
  assert.equal(visit.gate.posts.length, 1, "that clock honours it");
  visit.gate.fault = () => null;
  await visit.open("/", page);
  await visit.arrived("one");
});
