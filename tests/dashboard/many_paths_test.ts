import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { newEvent } from "../support/app.ts";
import { press } from "./acts.ts";
import { dashboardWorld, type PageOptions, type Visit } from "./page.ts";

const PATHS = 130;
const PROJECT = "prj_paths";
const test = dashboardWorld({ isFilled: false });

/** Makes a project with many pages, once, and opens a view of it. */
async function opened(visit: Visit, query: string, size: PageOptions = {}): Promise<Page> {
  const { server } = visit;
  const { status } = await server.admin("GET", `/v1/projects/${PROJECT}`);
  if (status === 404) {
    const project = await server.project({ id: PROJECT, name: "Many pages" });
    const events = Array.from({ length: PATHS }, (_, i) => {
      const path = `/products/of-a-category-with-a-long-name/item-${i}`;
      return newEvent({ name: "page_view", path, anonymousId: `visitor-${i}` });
    });
    assert.equal((await server.post(project, events)).status, 200);
  }
  const page = await visit.open(query, { ...size, project: PROJECT });
  await visit.settled(page);
  return page;
}

test("many pages: a table that is sorted says that it has not all rows yet", async (visit) => {
  const page = await opened(visit, "");
  await press(page, "Details: Pages by visitors");
  const text = () => visit.text(page, "dialog .table-foot");
  assert.ok(!(await text()).includes("Sorted"));
  await press(page, "Views", "dialog");
  assert.match(await text(), /Sorted among the 100 rows loaded so far/);
  await press(page, "Show more", "dialog");
  await visit.until(page, `document.querySelectorAll("dialog tbody tr").length === ${PATHS}`);
  assert.ok(!(await text()).includes("Sorted"), "all are there");
});

/** The names in a block's table that are cut off. */
async function cutNames(page: Page, block: string): Promise<unknown[]> {
  const names = await page.$$(`${block} .cell-text`);
  assert.ok(names.length > 0, block);
  return await page.$$eval(
    `${block} .cell-text`,
    (cells) =>
      cells.filter(({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
        scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1
      ).map(({ textContent }) => textContent),
  );
}

test("many pages: paths are not cut before their end in narrow lists, and on phones", async (visit) => {
  const page = await opened(visit, "view=heatmaps");
  assert.deepEqual(await cutNames(page, ".heatmaps-paths"), []);
  const phone = await opened(visit, "", { widthPx: 390, heightPx: 844 });
  assert.deepEqual(await cutNames(phone, ".overview-split"), []);
  await press(phone, "Details: Pages by visitors");
  await phone.waitForSelector("dialog .cell-text");
  assert.deepEqual(await cutNames(phone, "dialog"), []);
});

test("many pages: figures of another range look so until those of this one are here", async (visit) => {
  const page = await opened(visit, "");
  const opacity = `getComputedStyle(document.querySelector(".tile-figure")).opacity`;
  assert.equal(await page.evaluate(opacity), "1");
  const shown = await visit.text(page, ".tile-figure:first-child");
  // From here on no reply comes.
  await page.evaluate("globalThis.fetch = () => new Promise(() => {})");
  await page.evaluate(`{
    history.pushState(null, "", "?project=${PROJECT}&range=7d");
    dispatchEvent(new PopStateEvent("popstate"));
  }`);
  await visit.until(page, `${opacity} === "0.55"`);
  assert.equal(await visit.text(page, ".tile-figure:first-child"), shown);
});

test("a long id of a person does not make the page of a visit wider than a phone", async (visit) => {
  const project = await visit.server.project({ id: "prj_long", name: "Long" });
  const userId = "long.name.".repeat(12);
  assert.equal((await visit.server.post(project, [newEvent({ userId, path: "/" })])).status, 200);
  const page = await visit.open("view=visits", { project: "prj_long", widthPx: 390 });
  await page.waitForSelector("tbody .row-button");
  await page.click("tbody .row-button");
  await visit.sees(page, "Other visits of this person");
  await page.waitForSelector(".visit-person");
  await visit.settled(page);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
});
