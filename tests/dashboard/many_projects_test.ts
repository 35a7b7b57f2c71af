import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { fill, into, press } from "./acts.ts";
import { assertFits } from "./axe.ts";
import { dashboardWorld, type Visit } from "./page.ts";

const PROJECTS = 130;
const test = dashboardWorld({ isFilled: false });

/** Makes many projects, once, and opens a view of the first. */
async function opened(visit: Visit, query: string): Promise<Page> {
  const { server } = visit;
  const { body } = await server.admin("GET", "/v1/projects");
  for (let i = body.projects.length; i < PROJECTS; i++) {
    const project = { id: `prj_${i}`, name: `Shop ${i}`, siteUrl: `https://s${i}.example.com` };
    assert.equal((await server.admin("POST", "/v1/projects", project)).status, 201);
  }
  const page = await visit.open(query, { project: "prj_1" });
  await page.waitForSelector(".project-switch input");
  await visit.settled(page);
  return page;
}

const suggested = (page: Page) =>
  page.$$eval(".project-switch option", (all) => all.map(({ value }) => value));
const shownProject = (page: Page) => new URL(page.url()).searchParams.get("project");

test("many projects: the switcher finds one by name, id or site, and shows the first alone", async (visit) => {
  const page = await opened(visit, "view=trends");
  const field = ".project-switch input";
  const value = () => page.$eval(field, (input) => (input as unknown as { value: string }).value);
  assert.equal(await value(), "Shop 1");
  assert.deepEqual(await suggested(page), ["All sites"]);
  await page.focus(field);
  await visit.until(page, "document.querySelectorAll('.project-switch option').length === 51");
  assert.equal(await value(), "", "the whole name need not be removed first");
  await page.keyboard.type("S77.EXAMPLE");
  await visit.until(page, "document.querySelectorAll('.project-switch option').length === 2");
  const [, found] = await suggested(page);
  assert.equal(found, "Shop 77 · s77.example.com");
  // As a browser enters the suggestion that is chosen.
  await page.$eval(field, (input, text) => {
    Object.assign(input, { value: text });
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, found);
  await visit.until(page, "new URL(location.href).searchParams.get('project') === 'prj_77'");
  assert.equal(new URL(page.url()).searchParams.get("view"), "trends", "the view stays");
  // Enter takes the first, which is the one that has the whole text; browsers show what contains it.
  await page.keyboard.type("prj_12");
  await visit.until(page, "document.querySelectorAll('.project-switch option').length === 12");
  const [, twelfth, next] = await suggested(page);
  assert.deepEqual([twelfth, next], [
    "Shop 12 · s12.example.com · prj_12",
    "Shop 120 · s120.example.com · prj_120",
  ]);
  await page.keyboard.press("Enter");
  await visit.until(page, "new URL(location.href).searchParams.get('project') === 'prj_12'");
  await page.keyboard.type("nothing like it");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.equal(await value(), "Shop 12", "what is not found changes nothing");
  assert.equal(shownProject(page), "prj_12");
  await page.focus(field);
  await page.keyboard.type("All sites");
  await visit.sees(page, "Sites", "h1");
});

test("many projects: those of a token are searched, and stay ticked", async (visit) => {
  const page = await opened(visit, "view=settings&section=tokens");
  await press(page, "Create a token");
  await press(page, "Some", "dialog");
  const boxes = () =>
    page.$$eval("dialog div + .choice-boxes label", (all) => all.map((each) => each.textContent!));
  await page.waitForSelector("dialog div + .choice-boxes");
  assert.equal((await boxes()).length, 50);
  await fill(page, "Search projects", "shop 12");
  await visit.until(
    page,
    "document.querySelectorAll('dialog div + .choice-boxes label').length === 12",
  );
  assert.deepEqual((await boxes()).slice(-2), ["Shop 129", "Shop 1"], "the present one was ticked");
  await page.locator("dialog label ::-p-text(Shop 129)").click();
  await into(page, "Search projects");
  await page.keyboard.press("Enter");
  await fill(page, "Search projects", "shop 55");
  await visit.until(
    page,
    "document.querySelectorAll('dialog div + .choice-boxes label').length === 3",
  );
  assert.deepEqual(await boxes(), ["Shop 55", "Shop 1", "Shop 129"]);
  const ticked = await page.$$eval(
    "dialog div + .choice-boxes input",
    (all) => all.map((each) => (each as unknown as { checked: boolean }).checked),
  );
  assert.deepEqual(ticked, [false, true, true]);
});

test("many projects: the switcher is accessible in each size", async (visit) => {
  const page = await opened(visit, "view=trends");
  await assertFits(visit, page, "many projects");
});
