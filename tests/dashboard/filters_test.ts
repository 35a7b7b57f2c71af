import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { numberText } from "../../src/dashboard/behind_words.ts";
import { setLocale } from "../../src/dashboard/number_format.ts";
import { meantPath, readablePath, sentPath } from "../../src/readable_path.ts";
import { meantValue } from "../../src/dashboard/value_names.ts";
import { newEvent } from "../support/app.ts";
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

Deno.test("a path is read with letters, and what is typed means the path that browsers send", () => {
  const read: [string, string][] = [
    ["/caf%C3%A9", "/café"],
    ["/%d7%a2/%D7%91", "/ע/ב"],
    ["/a%2Fb%20c%25", "/a%2Fb%20c%25"],
    ["/cut%C3", "/cut%C3"],
    // Not UTF-8: of another encoding's bytes, some would be letters that nobody wrote.
    ["/%D6%D0%B9%FA/%D6%D0%B9", "/%D6%D0%B9%FA/%D6%D0%B9"],
    // No-break space, and the mark that turns the text after it.
    ["/a%C2%A0b%E2%80%AEc", "/a%C2%A0b%E2%80%AEc"],
    ["/a\u202eevil/gpj.exe", "/a%E2%80%AEevil/gpj.exe"],
  ];
  for (const [sent, shown] of read) assert.equal(readablePath(sent), shown, sent);
  assert.equal(sentPath("/café/\ud800"), "/caf%C3%A9/\ud800");
  const known = ["/%d7%a2", "/ב", "/%D7%91"];
  const cases: [string, string][] = [
    [" /ע ", "/%d7%a2"],
    ["/ב", "/ב"],
    ["/%D7%91", "/%D7%91"],
    ["/é", "/%C3%A9"],
    ["/a", "/a"],
  ];
  for (const [text, value] of cases) {
    assert.equal(meantValue("entryPath", text, known), value, text);
  }
  // Parts, as they are written in the known paths.
  const sites = ["/%d7%a2%d7%91/x", "/café/menu", "/caf%C3%A9s"];
  assert.equal(meantPath("עב", sites), "%d7%a2%d7%91");
  assert.equal(meantPath("café/", sites), "café/");
  assert.equal(meantPath("fés", sites), "f%C3%A9s");
  assert.equal(meantPath("ö", sites), "%C3%B6");
});

Deno.test("whom a number counts is told with the letters of its page", () => {
  const told = (number: unknown) => numberText(JSON.stringify(number), null);
  const path = "/%C3%A4";
  assert.equal(
    told({ read: "live", place: { minutes: 5, path } }),
    "There in the last 5 minutes, on /ä",
  );
  const map = { read: "heatmaps", device: "mobile", kind: "click" };
  assert.equal(told({ ...map, path, place: { depthPx: 9 } }), "Saw 9 px down of /ä, mobile");
  assert.equal(
    told({ ...map, pattern: `${path}/*`, place: { sample: true } }),
    "Clicked on /ä/*, mobile",
  );
  const way = [
    { step: 1, kind: "path", value: path },
    { step: 2, kind: "name", value: path },
    { step: 3, kind: "path", value: null },
  ];
  assert.equal(
    told({ read: "journeys", place: { way } }),
    "On the way 1. /ä → 2. /%C3%A4 → 3. a page without a path",
  );
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

test("pages whose addresses are not ASCII are read, typed and found by their letters", async (visit) => {
  const project = await visit.server.project();
  const paths = ["/%D9%85%D8%AA%D8%AC%D8%B1", "/caf%C3%A9", "/"];
  await visit.server.post(
    project,
    paths.map((path) => newEvent({ name: "page_view", url: `https://shop.example${path}` })),
  );
  const page = await visit.open("", { project: project.id });
  await visit.sees(page, "/متجر");
  await visit.sees(page, "/café");
  for (
    const [op, text, value] of [["is", "/café", "/caf%C3%A9"], [
      "contains",
      "تجر",
      "%D8%AA%D8%AC%D8%B1",
    ]]
  ) {
    await page.click(".bar-filter");
    await page.waitForSelector(".dialog select");
    await page.select(".dialog select", "path");
    await (await page.$$(".dialog select"))[1]!.select(op!);
    await page.type(".dialog .filter-values input", text!);
    await page.click(".dialog .button-primary");
    await visit.sees(page, text!, ".chip-text");
    assert.deepEqual(filtersOf(page).at(-1), { field: "path", op, values: [value] });
    await page.click(".chip-close");
    await visit.settled(page);
  }
  await visit.open("view=journeys", { project: project.id }).then((ways) =>
    visit.sees(ways, "/متجر")
  );
});
