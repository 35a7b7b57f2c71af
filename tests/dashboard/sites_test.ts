import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { newEvent } from "../support/app.ts";
import { assertFits } from "./axe.ts";
import { ALL_SCOPES, dashboardWorld, DEMO, EMPTY, type Visit } from "./page.ts";

const test = dashboardWorld();

const integer = (value: number) => value.toLocaleString("en-US");

/** Opens the dashboard as somebody who has typed its address alone. */
async function opened(visit: Visit, query = "", options = {}): Promise<Page> {
  const token = await visit.token(ALL_SCOPES);
  const page = await visit.openAt(`${visit.world.url}/${query}#token=${token}`, options);
  await visit.sees(page, "Sites", "h1");
  await page.waitForSelector(".sites-name");
  await visit.settled(page);
  return page;
}

/** Site, now and visitors of each row. */
async function rows(page: Page): Promise<string[][]> {
  return await page.$$eval(
    "main tbody tr",
    (all) =>
      all.map((row) =>
        [...row.querySelectorAll("th, td")].slice(0, 3).map((cell) => cell.textContent!.trim())
      ),
  );
}

test("sites: who sees several projects sees all of them first, with the numbers of each", async (visit) => {
  const page = await opened(visit);
  // The days of the viewer's calendar: a project in another zone may have begun the next one.
  const { from, to } = await page.evaluate(
    `(() => {
      const asked = performance.getEntriesByType("resource").map(({ name }) => name);
      return Object.fromEntries(new URL(asked.find((one) => one.includes("/v1/overview"))).searchParams);
    })()`,
  ) as Record<string, string>;
  const { totals } = await visit.read("kpis", { from: from!, to: to! });
  const shown = await rows(page);
  const demo = shown.find(([name]) => name!.startsWith("Demo shop"))!;
  assert.equal(demo[2], integer(totals.visitors));
  assert.ok(shown.some(([name, , visitors]) => name === "Nothing yet" && visitors === "0"));
  assert.equal(
    shown[0],
    shown.find(([name]) => name!.startsWith("Demo shop")),
    "the largest first",
  );
  assert.equal(await page.title(), "Sites · Footfall");

  // A click opens the project, and the back button comes back.
  await page.locator("main ::-p-text(Demo shop)").click();
  await visit.sees(page, "Overview", "h1");
  assert.equal(new URL(page.url()).searchParams.get("project"), DEMO);
  await page.goBack();
  await visit.sees(page, "Sites", "h1");
  await visit.settled(page);

  // The menu leads from all of them to one, and back.
  await page.select(".project-switch select", EMPTY);
  await visit.sees(page, "Overview", "h1");
  await page.locator(".nav ::-p-text(Trends)").click();
  await visit.sees(page, "Trends", "h1");
  assert.equal(new URL(page.url()).searchParams.get("project"), EMPTY);
  await page.select(".project-switch select", "");
  await visit.sees(page, "Sites", "h1");
});

test("sites: another project has none of what was chosen in the one before", async (visit) => {
  const filters = [{ field: "path", op: "is", values: ["/"] }];
  for (const project of [DEMO, EMPTY]) {
    const path = `/v1/segments/buyers?project=${project}`;
    await visit.server.admin("PUT", path, { title: "Buyers", filters });
  }
  const chosen = new URLSearchParams({
    segment: "buyers",
    compare: "segment:buyers",
    filters: JSON.stringify(filters),
    range: "7d",
  });
  const left = (page: Page) => {
    const { view: _, range: __, ...others } = Object.fromEntries(new URL(page.url()).searchParams);
    return others;
  };
  const page = await opened(visit, `?view=sites&${chosen}`);
  const [people] = await page.$$eval(
    "a.behind",
    (all) => all.map((link) => link.getAttribute("href")!),
  );
  const led = new URL(people!, visit.world.url).searchParams;
  assert.deepEqual([led.get("segment"), led.get("filters"), led.get("compare")], [
    null,
    null,
    null,
  ]);
  await page.locator("main ::-p-text(Demo shop)").click();
  await visit.sees(page, "Overview", "h1");
  assert.deepEqual(left(page), { compare: "none", project: DEMO });
  await page.close();

  const goal = await visit.open(`view=goals&goal=purchase&figure=totalConversions&${chosen}`);
  await visit.sees(goal, "Purchase", "main");
  await goal.select(".project-switch select", EMPTY);
  await visit.sees(goal, "No goals yet", "main");
  assert.deepEqual(left(goal), { project: EMPTY, figure: "totalConversions" });
  await goal.close();

  const start = await visit.open("compare=segment%3Abuyers", { project: EMPTY });
  await start.locator(".overview-others ::-p-text(Demo shop)").click();
  await visit.until(start, `location.search.includes("${DEMO}")`);
  assert.deepEqual(left(start), { project: DEMO, compare: "none" });
});

test("sites: searched and ordered, by keyboard, and the address says how", async (visit) => {
  const blog = await visit.server.project({ name: "A blog", siteUrl: "https://blog.example" });
  await visit.server.post(blog, [newEvent({ name: "page_view", anonymousId: "ann" })]);
  await visit.server.admin("GET", `/v1/kpis?project=${blog.id}`);
  const page = await opened(visit, "?view=sites");
  await page.select(".sites-actions select", "name");
  await visit.until(page, `document.querySelector(".sites-name").textContent.startsWith("A blog")`);
  await page.focus("main input[placeholder=Search]");
  await page.keyboard.type("BLOG.ex");
  await visit.until(page, `document.querySelectorAll("main tbody tr").length === 1`);
  const address = new URL(page.url()).searchParams;
  assert.deepEqual([address.get("sort"), address.get("q")], ["name", "BLOG.ex"]);
  assert.deepEqual(await rows(page), [["A blogblog.example", "1", "1"]]);
  await page.focus("main input[placeholder=Search]");
  await page.keyboard.type("nowhere");
  await visit.sees(page, "No site is called that", "main");
});

test("sites: a name that is too long ends with dots, and not beside its cell", async (visit) => {
  const name = "A site with a name ".repeat(5).trim();
  await visit.server.project({ id: "prj_longname", name });
  const page = await opened(visit, "?view=sites&q=with+a+name", { widthPx: 390 });
  const [shown] = await page.$$eval(".sites-name > :first-child", (all) =>
    all.map((each) => ({
      text: each.textContent,
      isCut: each.scrollWidth > each.clientWidth,
      past: each.getBoundingClientRect().right - each.closest("th")!.getBoundingClientRect().right,
    })));
  assert.deepEqual([shown!.text, shown!.isCut, shown!.past <= 0], [name, true, true]);
});

test("sites: who sees one project alone never meets them", async (visit) => {
  const token = await visit.token(ALL_SCOPES, [DEMO]);
  const page = await visit.openAt(`${visit.world.url}/#token=${token}`);
  await visit.sees(page, "Overview", "h1");
  assert.equal(await page.$(".project-switch"), null);
  assert.ok(!(await visit.text(page, ".nav")).includes("Sites"));
});

for (const scheme of ["light", "dark"] as const) {
  test(`sites: accessible, ${scheme}, wide and on a phone`, async (visit) => {
    const page = await opened(visit, "?view=sites", { scheme });
    await assertFits(visit, page, `sites-${scheme}`);
  });
}
