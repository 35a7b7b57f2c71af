import assert from "node:assert/strict";
import { dashboardWorld } from "./page.ts";

const test = dashboardWorld({ isFilled: false });

/** Run inside the page: whether an element is seen. */
const isSeen = (selector: string) =>
  `getComputedStyle(document.querySelector("${selector}")).visibility === "visible"`;

test("opening: a page whose program does not arrive says so, and after a while what to do", async (visit) => {
  visit.expectedFaults.push("503");
  visit.intercept = (request) =>
    new URL(request.url()).pathname === "/assets/app.js" ? { status: 503 } : undefined;
  const page = await visit.open("", { token: null });
  await visit.until(page, isSeen(".opening"));
  assert.equal(await page.evaluate(isSeen(".opening-late")), false);
  // A moment later, without the wait for it.
  await page.evaluate("document.getAnimations().forEach((animation) => animation.finish())");
  await visit.until(page, isSeen(".opening-late"));
  const text = await visit.text(page);
  assert.match(text, /^Opening the dashboard This takes long\. .*reload the page\.$/);
});

test("opening: the page says so until it is known who is signed in", async (visit) => {
  // Nobody is.
  visit.expectedFaults.push("401");
  const page = await visit.open("", { token: null });
  await visit.settled(page);
  await page.evaluateOnNewDocument(`{
    const now = fetch;
    globalThis.fetch = (...all) => new Promise((go) => globalThis.goOn = go).then(() => now(...all));
  }`);
  await page.reload();
  await visit.until(page, "globalThis.goOn !== undefined");
  await visit.until(page, isSeen(".opening"));
  assert.equal(await page.$(".sign-in"), null);
  await page.evaluate("goOn()");
  await page.waitForSelector(".sign-in");
  assert.equal(await page.$(".opening"), null);
});

test("opening: the page of a link begins with that page alone", async (visit) => {
  visit.expectedFaults.push("401", "403");
  const page = await visit.open("", { fragment: "invitation=abc" });
  await page.waitForSelector(".sign-in h1");
  assert.equal(await page.$(".opening"), null);
});
