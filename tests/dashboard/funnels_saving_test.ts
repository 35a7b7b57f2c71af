import assert from "node:assert/strict";
import type { Json } from "../support/app.ts";
import { until } from "../support/server_process.ts";
import { fill, funnelRan, pressByKey } from "./acts.ts";
import { dashboardWorld } from "./page.ts";

const test = dashboardWorld();

test("funnels: one that is saved before a pause of typing has run it stays saved", async (visit) => {
  const page = await visit.open("?view=funnels");
  await funnelRan(visit, page);
  await pressByKey(page, "New funnel");
  await visit.sees(page, "Save funnel");
  // Pauses of typing end when the test says so.
  await page.evaluate(() => {
    const { setTimeout, clearTimeout } = globalThis;
    const held = new Map<number, () => void>();
    let last = 1e9;
    Object.assign(globalThis, {
      setTimeout: (work: () => void, ms: number) =>
        ms === 500 ? (held.set(++last, work), last) : setTimeout(work, ms),
      clearTimeout: (id: number) => held.delete(id) || clearTimeout(id),
      endPauses: () => [...held.values()].map((work) => work()).length,
    });
  });
  await fill(page, "Step 1", "view_product");
  await pressByKey(page, "Save funnel");
  await page.waitForSelector("dialog[open]");
  await fill(page, "Name", "Looked at");
  await page.keyboard.press("Enter");
  await visit.sees(page, "Rename");
  const isShort = `!location.search.includes("steps=")`;
  await visit.until(page, isShort, "the name alone is in the address");
  await page.evaluate("endPauses()");
  await visit.sees(page, "Rename");
  assert.ok(await page.evaluate(isShort));
  await pressByKey(page, "Delete");
  await page.waitForSelector("dialog[open]");
  await (await page.$("dialog .button-danger"))!.focus();
  await page.keyboard.press("Enter");
  await visit.until(page, `!document.body.innerText.includes("Looked at")`);
});

test("funnels: one is made, changed, renamed and deleted with the keyboard alone", async (visit) => {
  const page = await visit.open("?view=funnels");
  await funnelRan(visit, page);
  await pressByKey(page, "New funnel");
  await visit.sees(page, "Save funnel");
  await fill(page, "Step 1", "view_product");
  for (const last of [3, 2]) {
    await pressByKey(page, "Remove step 2");
    await visit.until(page, `document.querySelector('[data-step="${last}"]') === null`);
  }
  await fill(page, "Step 2", "purchase");
  await pressByKey(page, "Add a step");
  await visit.until(page, `document.activeElement.closest('[data-step="2"] .field') !== null`);
  await page.keyboard.type("add_to_cart");
  await pressByKey(page, "Move step 3 up");
  await visit.until(page, `document.activeElement.getAttribute("aria-label") === "Move step 2 up"`);
  await pressByKey(page, "Save funnel");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.press("Enter");
  await visit.sees(page, "Give the funnel a name.", "dialog");
  await fill(page, "Name", "Checkout");
  await page.keyboard.press("Enter");
  await visit.sees(page, "Rename");
  const list = async () => (await visit.read("funnels")).funnels as Json[];
  const names = ["view_product", "add_to_cart", "purchase"];
  const made = (await list()).find(({ slug }) => slug === "checkout-2")!;
  assert.deepEqual((made.steps as Json[]).map(({ name }) => name), names);
  await visit.until(
    page,
    `!location.search.includes("steps=")`,
    "the name alone is in the address",
  );
  // The form is filled anew with what was saved, once that is read: what was typed before is gone.
  let shown = "";
  await until(30_000, async () => {
    await fill(page, "Time to finish", "3");
    shown = await visit.text(page, "main");
    return shown.includes("Save changes");
  }, "the change can be saved").catch((error) => {
    throw new Error(`${error.message}; at ${page.url()} there is: ${shown.slice(0, 2_000)}`);
  });
  await pressByKey(page, "Save changes");
  await visit.until(page, `!document.body.innerText.includes("Save changes")`);
  await pressByKey(page, "Rename");
  await page.waitForSelector("dialog[open]");
  await fill(page, "Name", "Way to the till");
  await page.keyboard.press("Enter");
  await visit.sees(page, "Way to the till", ".funnels-saved");
  const changed = (await list()).find(({ slug }) => slug === "checkout-2")!;
  assert.deepEqual([changed.title, changed.window], ["Way to the till", "3d"]);

  await pressByKey(page, "Delete");
  await page.waitForSelector("dialog[open]");
  await (await page.$("dialog .button-danger"))!.focus();
  await page.keyboard.press("Enter");
  await visit.until(page, `!document.body.innerText.includes("Way to the till")`);
  assert.deepEqual((await list()).map(({ slug }) => slug), ["checkout"]);
});
