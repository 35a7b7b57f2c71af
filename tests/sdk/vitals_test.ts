/// <reference lib="dom" />
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import type { Event } from "./gate.ts";
import { sharedWorld, type Visit } from "./world.ts";

const browserTest = sharedWorld();

const BODY = `<h1>The largest text of this page</h1><button id="slow" type="button">Answer</button>
  <script>
    document.querySelector("#slow").addEventListener("click", () => {
      const until = performance.now() + 60;
      while (performance.now() < until);
      document.body.append("Answered");
    });
    for (const type of ["largest-contentful-paint", "first-input"]) {
      new PerformanceObserver(() => document.documentElement.dataset[type.replace(/-./g, (s) => s[1].toUpperCase())] = "seen")
        .observe({ type, buffered: true });
    }
    new PerformanceObserver((list) => {
      if (list.getEntries().some(({ name }) => name === "click")) document.documentElement.dataset.click = "seen";
    }).observe({ type: "event", durationThreshold: 40, buffered: true });
  </script>`;
const NAMES = ["lcp", "inp", "cls", "fcp", "ttfb"];

const vitalsOf = (visit: Visit): Event[] =>
  visit.gate.events(200).filter(({ name }) => name === "$web_vitals");

/** Waits until the browser has told what there is to measure, an interaction included. */
async function interact(page: Page): Promise<void> {
  await page.waitForFunction(() => document.readyState === "complete");
  await page.waitForFunction(() => "largestContentfulPaint" in document.documentElement.dataset);
  await page.click("#slow");
  await page.waitForFunction(() =>
    ["firstInput", "click"].every((name) => name in document.documentElement.dataset)
  );
}

/** The file is loaded beside the page: until then nothing is measured. */
async function measuring(page: Page): Promise<void> {
  await page.waitForFunction(() => (globalThis as { _footfallVitals?: boolean })._footfallVitals);
}

function assertMeasured({ properties, url }: Event, path: string): void {
  for (const name of NAMES) {
    assert.equal(typeof properties[name], "number", `${name}: ${JSON.stringify(properties)}`);
    assert.ok(properties[name] >= 0 && properties[name] < 120_000, name);
  }
  assert.ok(properties.lcp > 0 && properties.fcp > 0 && properties.inp >= 40);
  assert.equal(new URL(url).pathname, path);
}

browserTest("vitals: the five of a page arrive once, as it is left", async (visit) => {
  visit.publish({ body: BODY, head: visit.tag("data-vitals") });
  visit.publish({ path: "/next" });
  const page = await visit.open();
  await measuring(page);
  await interact(page);
  // Within the page: what was slow is the page that was loaded.
  await page.evaluate(() => history.pushState(null, "", "/within"));
  assert.deepEqual(vitalsOf(visit), []);
  await page.goto(`${visit.world.siteUrl}/next`);
  await visit.until(() => vitalsOf(visit).length > 0, "the vitals arrive");
  assert.equal(vitalsOf(visit).length, 1);
  assertMeasured(vitalsOf(visit)[0], "/");
  assert.equal(vitalsOf(visit)[0].properties.navigation, "navigate");
  assert.deepEqual(visit.gate.preflights, []);

  const stored = (await visit.stored()).filter(({ name }) => name === "$web_vitals");
  assert.equal(stored.length, 1);
  const read = async (path: string) =>
    (await visit.world.server.admin(
      "GET",
      // The browser of tests says that it is headless.
      `/analytics/v1/${path}?bots=include&project=${visit.project.id}`,
    )).body;
  const { totals } = await read("vitals");
  assert.equal(totals.pageViews, 1);
  assert.equal(totals.lcp.p75, stored[0].properties.lcp);
  const kpis = await read("kpis");
  assert.deepEqual([kpis.totals.visitors, kpis.totals.sessions], [1, 1]);
});

browserTest(
  "vitals: an interaction counts if the page is not idle before it is left",
  async (visit) => {
    const busy = "<script>requestIdleCallback = () => 0;</script>";
    visit.publish({ body: BODY, head: busy + visit.tag("data-vitals") });
    visit.publish({ path: "/next" });
    const page = await visit.open();
    await measuring(page);
    await interact(page);
    await page.goto(`${visit.world.siteUrl}/next`);
    await visit.until(() => vitalsOf(visit).length > 0, "the vitals arrive");
    assertMeasured(vitalsOf(visit)[0], "/");
  },
);

browserTest("vitals: by an import, once however often the tab is hidden", async (visit) => {
  const vitals = `<script type="module" src="/analytics/sdk-vitals.js"></script>`;
  // Twice on a page, it measures once.
  visit.publish({ body: BODY, head: visit.module() + vitals + vitals.replace(".js", ".js?again") });
  const page = await visit.open();
  await measuring(page);
  await interact(page);
  const show = (hidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "hidden", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  for (const hidden of [true, false, true]) await show(hidden);
  await visit.until(() => vitalsOf(visit).length > 0, "the vitals arrive");
  await page.evaluate(() => footfall.flush());
  assert.equal(vitalsOf(visit).length, 1);
});

browserTest(
  "vitals: nothing without the attribute, without a client, or after opting out",
  async (visit) => {
    visit.publish({ body: BODY, head: visit.tag() });
    visit.publish({
      path: "/alone",
      body: BODY,
      head: `<script defer src="/analytics/sdk-vitals.js"></script>`,
    });
    visit.publish({ path: "/out", body: BODY, head: visit.tag("data-vitals") });
    visit.publish({ path: "/next" });
    const leave = (page: Page) => page.goto(`${visit.world.siteUrl}/next`);
    const page = await visit.open();
    await interact(page);
    await leave(page);
    await page.goto(`${visit.world.siteUrl}/alone`);
    await measuring(page);
    await interact(page);
    await leave(page);
    await visit.open("/out", page);
    await measuring(page);
    await page.evaluate(() => footfall.optOut());
    await interact(page);
    await leave(page);
    await visit.until(() => visit.gate.events(200).length > 0, "the first page's events arrive");
    assert.deepEqual(vitalsOf(visit), []);
    assert.deepEqual(visit.messages, []);
  },
);
