import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { dashboardWorld, EMPTY, type Visit } from "./page.ts";

const test = dashboardWorld();

const TILES = ["lcp", "inp", "cls", "fcp", "ttfb"] as const;
const SECONDS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
const SCORE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });

/** A value as the page writes it. */
function shown(name: string, value: number): string {
  if (name === "cls") return SCORE.format(value);
  return value < 1_000 ? `${Math.round(value)} ms` : `${SECONDS.format(value / 1_000)} s`;
}

async function opened(visit: Visit, query = ""): Promise<Page> {
  const page = await visit.open(`view=vitals${query}`);
  await page.waitForSelector(".vitals-tiles");
  await visit.settled(page);
  return page;
}

const texts = (page: Page, selector: string) =>
  page.$$eval(selector, (all) => all.map(({ textContent }) => textContent.trim()));

test("vitals: percentiles, ratings and shares are those of the API", async (visit) => {
  const page = await opened(visit);
  const { totals, rows } = await visit.read("vitals");
  assert.ok(totals.pageViews > 100);
  assert.deepEqual(
    await texts(page, ".vitals-tiles .tile-value"),
    TILES.map((name) => shown(name, totals[name].p75)),
  );
  const words: Record<string, string> = {
    "good": "Good",
    "needs-improvement": "Needs improvement",
    "poor": "Poor",
  };
  assert.deepEqual(
    await texts(page, ".vitals-rating"),
    TILES.map((name) => words[totals[name].rating]),
  );
  assert.deepEqual(
    (await texts(page, "table th[scope=row]")).slice(0, rows.length),
    rows.map(({ value }: { value: string }) => value),
  );
});

test("vitals: another one is charted, another split is told, and a row filters", async (visit) => {
  const page = await opened(visit);
  await page.locator("::-p-text(Layout shift)").click();
  await visit.until(page, `location.search.includes("metric=cls")`);
  await visit.sees(page, "Poor beyond 0.25");
  await page.locator("button.tab ::-p-text(Device)").click();
  await visit.until(page, `location.search.includes("by=device")`);
  await visit.settled(page);
  const { rows } = await visit.read("vitals", { by: "device" });
  const names: Record<string, string> = {
    desktop: "Desktop",
    mobile: "Mobile",
    tablet: "Tablet",
  };
  assert.deepEqual(
    await texts(page, "table th[scope=row]"),
    rows.map(({ value }: { value: string }) => names[value]),
  );
  await page.locator("th[scope=row] button ::-p-text(Mobile)").click();
  await visit.until(page, `decodeURIComponent(location.search).includes('"field":"device"')`);
  await visit.settled(page);
  assert.deepEqual(await texts(page, "table th[scope=row]"), ["Mobile"]);
  for (let back = 0; back < 2; back++) await page.goBack();
  assert.match(page.url(), /metric=/);
  assert.doesNotMatch(page.url(), /by=device/);
  await page.goBack();
  assert.doesNotMatch(page.url(), /metric=/);
  await visit.sees(page, "Web vitals", "h1");
});

test("vitals: where nothing is measured, it says how to", async (visit) => {
  const page = await visit.open("view=vitals", { project: EMPTY });
  await visit.sees(page, "Nothing was measured in this range");
  await visit.sees(page, "data-vitals");
});
