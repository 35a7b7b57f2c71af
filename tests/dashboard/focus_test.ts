/** By keyboard alone: what a button leads to has the focus, and the page's beginning never. */
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { fill, focused, pressByKey, tabTo } from "./acts.ts";
import { dashboardWorld, FUNNEL, type Visit } from "./page.ts";

const test = dashboardWorld();

async function opened(visit: Visit, query: string): Promise<Page> {
  const page = await visit.open(query);
  await visit.settled(page);
  return page;
}

for (const view of ["overview", "trends", "retention", "vitals"]) {
  test(`focus: what changes a chart into its table and back keeps it, ${view}`, async (visit) => {
    const page = await opened(visit, `view=${view}`);
    await pressByKey(page, "Table", ".chart-foot");
    await page.waitForSelector(".chart-table");
    assert.equal(await focused(page), "Chart");
    await page.keyboard.press("Enter");
    await visit.until(page, `document.querySelector(".chart-table") === null`);
    assert.equal(await focused(page), "Table");
  });
}

test("focus: the name of a funnel's step is typed at once", async (visit) => {
  const page = await opened(visit, `view=funnels&funnel=${FUNNEL.slug}`);
  await pressByKey(page, "Give step 1 a name");
  await visit.until(page, `document.querySelector(".funnels-step").innerText.includes("Name of")`);
  assert.equal(await focused(page), "Name of step 1");
});

test("focus: a new funnel begins at the list of funnels", async (visit) => {
  const page = await opened(visit, `view=funnels&funnel=${FUNNEL.slug}`);
  await pressByKey(page, "New funnel");
  await page.waitForSelector("span.funnels-pill[aria-current]");
  assert.equal(await focused(page), "Saved funnels");
});

test("focus: the last rows of a table that holds them leave it at the table's foot", async (visit) => {
  const page = await opened(visit, "view=journeys");
  await pressByKey(page, "Show more");
  await visit.until(page, `!document.querySelector(".table-foot").innerText.includes("Show more")`);
  assert.equal(
    await page.evaluate(`document.activeElement === document.querySelector(".table-foot")`),
    true,
  );
});

test("focus: settings that are saved say so where it is", async (visit) => {
  const page = await opened(visit, "view=settings");
  await fill(page, "Name", "The shop");
  await pressByKey(page, "Save changes");
  await visit.sees(page, "Saved", "[role=status]");
  await visit.settled(page);
  assert.equal(await focused(page), "Saved");
});

test("focus: Enter in a date of the range applies it", async (visit) => {
  const page = await opened(visit, "view=overview");
  await page.focus(".bar .select");
  await page.select(".bar .select", "custom");
  await page.waitForSelector(".dialog[open] [type=date]");
  await page.keyboard.press("Enter");
  await visit.until(page, `document.querySelector(".dialog") === null`);
  assert.match(page.url(), /[?&]from=/);
  assert.equal(await focused(page), "Range");
});

test("focus: Enter in the time zone applies it", async (visit) => {
  const page = await opened(visit, "view=overview");
  await pressByKey(page, "Europe/Berlin");
  await fill(page, "Time zone", "Asia/Tokyo");
  await page.keyboard.press("Enter");
  await visit.until(page, `document.querySelector(".dialog") === null`);
  assert.match(page.url(), /[?&]timezone=Asia/);
});

const PHONE = { widthPx: 400, heightPx: 800 };
const MENU = `document.querySelector(".side-toggle").getAttribute("aria-expanded")`;

test("focus: Escape closes a phone's menu, and so does going on into the page", async (visit) => {
  const page = await visit.open("view=settings", PHONE);
  await visit.settled(page);
  await pressByKey(page, "Menu");
  await tabTo(page, "Overview");
  await page.keyboard.press("Escape");
  await visit.until(page, `${MENU} === "false"`);
  assert.equal(await focused(page), "Menu");
  await page.keyboard.press("Enter");
  await tabTo(page, "Sign out");
  assert.equal(await page.evaluate(MENU), "true");
  await page.keyboard.press("Tab");
  await visit.until(page, `${MENU} === "false"`);
  assert.equal(await page.evaluate(`document.activeElement.closest("main") !== null`), true);
});

test("focus: on a phone what has it is not under the head", async (visit) => {
  const page = await visit.open("", PHONE);
  await visit.settled(page);
  const top = await page.evaluate(`(() => {
    const tab = document.querySelector(".tab");
    scrollBy(0, tab.getBoundingClientRect().top - 40);
    tab.focus();
    return tab.getBoundingClientRect().top;
  })()`) as number;
  const end = await page.$eval(".side", (side) => side.getBoundingClientRect().bottom);
  assert.ok(top >= end, `${top} px is above ${end} px`);
});
