/** What stays as it was: what is shown and typed while requests fail or run, and where one was. */
import assert from "node:assert/strict";
import { press } from "./acts.ts";
import { dashboardWorld } from "./page.ts";

const test = dashboardWorld();

test("A view that cannot be loaded says so, and is there when it is tried again", async (visit) => {
  visit.expectedFaults.push("Failed to load resource");
  let isAway = true;
  visit.intercept = (request) =>
    isAway && request.url().includes("/assets/settings-") ? { status: 503 } : undefined;
  const page = await visit.open("view=settings");
  await visit.sees(page, "This part of the page could not be loaded.");
  isAway = false;
  await press(page, "Try again");
  await page.waitForSelector(".settings-install");
  await visit.settled(page);
});

test("Visits: who goes back from one is where the list was left", async (visit) => {
  const page = await visit.open("view=visits");
  await visit.settled(page);
  await page.evaluate("scrollTo(0, 600)");
  const open = `document.querySelector(".visits-table .row-button").click()`;
  await page.evaluate(open);
  await page.waitForSelector(".story");
  await visit.until(page, "scrollY === 0");
  await visit.settled(page);
  await page.goBack();
  await visit.until(page, `document.querySelector(".story") === null`);
  await visit.settled(page);
  assert.equal(await page.evaluate("scrollY"), 600);
});
