/** On paper: nothing cut off, nothing laid over something else, nothing blank. */
import assert from "node:assert/strict";
import { dashboardWorld } from "./page.ts";

const test = dashboardWorld();

/** As if it had been drawn for a wide window: nothing is drawn anew as the page is laid out for paper. */
const WIDE_CHART = `(() => {
  const frame = document.querySelector(".chart-frame");
  frame.querySelector(".u-wrap").style.width = "2000px";
  const { width } = frame.querySelector("canvas").getBoundingClientRect();
  return width - frame.clientWidth;
})()`;

const STYLES = `(selector, property) =>
  [...new Set([...document.querySelectorAll(selector)].map((each) => getComputedStyle(each)[property]))]`;

test("print: charts are as wide as the paper, panels go over its pages, colours are there", async (visit) => {
  const page = await visit.open("view=overview");
  await visit.settled(page);
  const styles = (selector: string, property: string) =>
    page.evaluate(`(${STYLES})(${JSON.stringify(selector)}, ${JSON.stringify(property)})`);
  await page.emulateMediaType("print");
  assert.equal(await page.evaluate(WIDE_CHART), 0);
  // The parts of a grid or a column that is cut are not moved down, and lie over each other.
  assert.deepEqual(await styles(".view-grid, .panel, .panel-body", "display"), ["block"]);
  // Else they are missing where the head of a table stands again on the next page.
  assert.deepEqual(await styles("th .definition-word", "display"), ["contents"]);
  assert.deepEqual(await styles(".swatch, .share, .live-bar", "printColorAdjust"), ["exact"]);
  await page.goto(`${visit.world.url}/?project=prj_demo&view=journeys`);
  await visit.settled(page);
  assert.deepEqual(await styles(".sankey", "overflowX"), ["visible"]);
});

test("print: paper is light, also where the page is dark", async (visit) => {
  const page = await visit.open("view=overview", { scheme: "dark" });
  await visit.settled(page);
  await page.evaluate(`addEventListener("beforeprint", () =>
    globalThis.printed = document.documentElement.dataset.theme)`);
  await page.pdf();
  assert.equal(await page.evaluate("globalThis.printed"), "light");
  assert.equal(await page.evaluate("document.documentElement.dataset.theme"), "dark");
  // Charts were drawn in the colours of the dark page.
  await page.emulateMediaType("print");
  const filter = 'getComputedStyle(document.querySelector(".uplot canvas")).filter';
  assert.equal(await page.evaluate(filter), "invert(1) hue-rotate(180deg)");
});
