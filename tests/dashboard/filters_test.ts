import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { setLocale } from "../../src/dashboard/number_format.ts";
import { meantValue } from "../../src/dashboard/value_names.ts";
import { dashboardWorld, type Visit } from "./page.ts";

const test = dashboardWorld();

Deno.test("a typed name means a country's code, whole or in part, and other text itself", () => {
  setLocale("en-US");
  const known = ["DE", "US", "NL"];
  const cases: [string, string][] = [
    ["Germany", "DE"],
    [" germany ", "DE"],
    ["germ", "DE"],
    ["de", "DE"],
    ["DE", "DE"],
    ["nether", "NL"],
    ["states", "US"],
    ["France", "FR"],
    ["Österreich", "Österreich"],
    ["Austr", "Austr"],
    ["Germny", "Germny"],
  ];
  for (const [text, value] of cases) assert.equal(meantValue("country", text, known), value, text);
  assert.equal(meantValue("device", "Mobile", []), "mobile");
  assert.equal(meantValue("browser", "chrome", ["Chrome"]), "chrome");
  setLocale("de-DE");
  assert.equal(meantValue("country", "Österreich", known), "AT");
  assert.equal(meantValue("country", "Germany", known), "DE");
  setLocale("en-US");
});

/** Types into the dialog, and presses Apply without leaving the field. */
async function addCountry(visit: Visit, page: Page, text: string): Promise<void> {
  await page.click(".bar-filter");
  await page.waitForSelector(".dialog select");
  await page.select(".dialog select", "country");
  await visit.settled(page);
  await page.type(".dialog .filter-values input", text);
  await page.click(".dialog .button-primary");
  await page.waitForSelector(".chip-text");
  await visit.settled(page);
}

const filtersOf = (page: Page) => JSON.parse(new URL(page.url()).searchParams.get("filters")!);
const is = (value: string) => [{ field: "country", op: "is", values: [value] }];

test("a country's name in part is found while it is typed, and shown as a name", async (visit) => {
  const page = await visit.open();
  await visit.settled(page);
  await addCountry(visit, page, "germ");
  assert.deepEqual(filtersOf(page), is("DE"));
  assert.equal(await visit.text(page, ".chip-text"), "Country is Germany");
  assert.equal(await page.$(".never-seen"), null);
  const names = await page.$$eval("option", (all) => all.map(({ value }) => value));
  assert.ok(!names.includes("DE"), "what is suggested is names");
});

test("a value that never was is told, and mended with one click", async (visit) => {
  const page = await visit.open();
  await visit.settled(page);
  await addCountry(visit, page, "Germny");
  assert.deepEqual(filtersOf(page), is("Germny"));
  await visit.sees(page, "Nothing has the country Germny. Did you mean Germany?", ".never-seen");
  await page.click(".never-seen .link-button");
  await visit.settled(page);
  assert.deepEqual(filtersOf(page), is("DE"));
  await visit.until(page, `document.querySelector(".never-seen") === null`);
});

test("the editor itself tells of a value that never was", async (visit) => {
  const page = await visit.open();
  await visit.settled(page);
  await page.click(".bar-filter");
  await page.waitForSelector(".dialog select");
  await page.select(".dialog select", "channel");
  await page.type(".dialog .filter-values input", "email");
  await page.keyboard.press("Enter");
  await visit.sees(page, "Nothing has the channel email. Did you mean Email?", ".dialog");
  await page.click(".dialog .link-button");
  await visit.until(page, `document.querySelector(".dialog .chip")?.innerText.trim() === "Email"`);
  await page.click(".dialog .button-primary");
  await visit.sees(page, "Channel is Email", ".chips");
});
