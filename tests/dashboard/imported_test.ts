import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import type { Json } from "../support/app.ts";
import { assertAccessible } from "./axe.ts";
import { dashboardWorld, type Visit } from "./page.ts";

const test = dashboardWorld({ isFilled: false });

const PROJECT = "prj_moved";
const RANGE = "from=2024-03-01&to=2024-03-31";
/** The first own day is the 20th: 19 days before it are imported. */
const OWN_FROM = 20;
const DAYS = 31;

const date = (day: number) => `2024-03-${String(day).padStart(2, "0")}`;

function importedDays(): Json[] {
  return Array.from({ length: OWN_FROM - 1 }, (_, i) => i + 1).flatMap((day) => {
    const visitors = 40 + day % 7 * 5;
    const visits = visitors + 6;
    const share = (of: number) => ({
      visitors: Math.round(visitors * of),
      visits: Math.round(visits * of),
      pageviews: Math.round(visits * of * 3),
      bounces: Math.round(visits * of * 0.4),
      seconds: Math.round(visits * of * 90),
    });
    const split = (dimension: string, values: readonly [string | null, number][]) => ({
      ...{ day: date(day), dimension },
      rows: values.map(([value, of]) => ({ value, ...share(of) })),
    });
    return [
      split("all", [[null, 1]]),
      split("channel", [["Direct", 0.5], ["Organic Search", 0.3], ["Email", 0.2]]),
      split("country", [["DE", 0.7], ["FR", 0.3]]),
      split("path", [["/", 0.6], ["/old-page", 0.4]]),
    ];
  });
}

function ownEvents(): Json[] {
  return Array.from({ length: DAYS - OWN_FROM + 1 }, (_, i) => OWN_FROM + i).flatMap((day) =>
    Array.from({ length: 25 + day % 5 * 4 }, (_, who) => ({
      eventId: crypto.randomUUID(),
      name: "page_view",
      anonymousId: `a${who + day % 3}`,
      url: `https://shop.example${who % 3 === 0 ? "/" : "/new-page"}`,
      timestamp: `${date(day)}T${String(8 + who % 12).padStart(2, "0")}:00:00Z`,
    }))
  );
}

let isFilled = false;

async function fill({ server }: Visit): Promise<void> {
  if (isFilled) return;
  isFilled = true;
  const project = await server.project({ id: PROJECT, name: "Moved here", timezone: "UTC" });
  const events = ownEvents();
  for (let i = 0; i < events.length; i += 400) {
    assert.equal((await server.post(project, events.slice(i, i + 400))).status, 200);
  }
  const path = `/v1/projects/${PROJECT}/imported-history/plausible`;
  const { status, body } = await server.admin("POST", path, { days: importedDays() });
  assert.equal(status, 200, JSON.stringify(body));
  // Sent until every event is counted.
  await server.admin("GET", `/v1/kpis?project=${PROJECT}`);
}

async function open(visit: Visit, query = RANGE, options = {}): Promise<Page> {
  await fill(visit);
  const page = await visit.open(query, { project: PROJECT, ...options });
  await visit.sees(page, "Overview", "h1");
  await visit.settled(page);
  return page;
}

test("imported days: told in the legend, under the chart, by the slider and in its table", async (visit) => {
  const page = await open(visit);
  await visit.sees(page, "Hatched: imported from another product", ".legend");
  await visit.sees(page, "19 days imported from Plausible", ".imported-note");
  await visit.sees(page, "the sum of each day’s visitors", ".imported-note");
  await page.focus(".chart[role=slider]");
  await page.keyboard.press("Home");
  const spoken = () => page.$eval(".chart[role=slider]", (el) => el.getAttribute("aria-valuetext"));
  assert.match(await spoken() ?? "", /\(imported\), Visitors 45,/);
  await page.keyboard.press("End");
  assert.doesNotMatch(await spoken() ?? "", /imported/);
  // What nothing tells has no value: it is no zero either.
  await page.goto(`${page.url().replace(/#.*/, "")}&metric=newVisitors`);
  await visit.settled(page);
  await page.focus(".chart[role=slider]");
  await page.keyboard.press("Home");
  assert.match(await spoken() ?? "", /New visitors –,/);
});

test("imported days: the chart is hatched where they are, and nowhere else", async (visit) => {
  const page = await open(visit);
  /** Pixels of the hatching's colour in each half of the plot. */
  const counted = await page.evaluate(`(() => {
    const canvas = document.querySelector(".chart canvas");
    const context = canvas.getContext("2d");
    const probe = document.createElement("span");
    probe.style.color = getComputedStyle(document.documentElement)
      .getPropertyValue("--chart-hatch");
    document.body.append(probe);
    const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
    probe.remove();
    const { width, height } = canvas;
    const { data } = context.getImageData(0, 0, width, height);
    const halves = [0, 0];
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] < 250) continue;
      const isNear = wanted.every((value, i) => Math.abs(data[at + i] - value) < 12);
      if (isNear) halves[(at / 4) % width < width / 2 ? 0 : 1]++;
    }
    return halves;
  })()`) as [number, number];
  const [left, right] = counted;
  assert.ok(left > 100, `hatched pixels at the left: ${left}`);
  const own = await open(visit, `from=${date(OWN_FROM)}&to=${date(DAYS)}`);
  await visit.sees(own, "Visitors over time".slice(0, 8), "body");
  assert.equal(await own.$(".swatch-imported"), null);
  assert.ok(right < left, `hatched pixels: ${left} at the left, ${right} at the right`);
});

test("imported days: rows that hold them are marked, and others are not", async (visit) => {
  const page = await open(visit);
  const marked = await page.$$eval(
    "tbody tr",
    (rows) =>
      rows.map((row) => [
        (row.querySelector("th, td") as unknown as { innerText: string }).innerText.split("\n")[0],
        row.querySelector(".imported-mark") !== null,
      ]),
  );
  const of = Object.fromEntries(
    marked.map(([name, is]) => [String(name).trim().replace(/imported$/, "").trim(), is]),
  );
  assert.deepEqual([of["/"], of["/old-page"], of["/new-page"]], [true, true, false]);
  assert.deepEqual([of["Organic Search"], of.Germany], [true, true]);
  await visit.sees(
    page,
    "19 imported days are left out: the export of Plausible does not tell it.",
  );
});

test("imported days: left out under a filter, which says why", async (visit) => {
  const filters = encodeURIComponent('[{"field":"path","op":"is","values":["/"]}]');
  const page = await open(visit, `${RANGE}&filters=${filters}`);
  await visit.sees(page, "19 imported days are left out: sums of days cannot be filtered.");
  assert.equal(await page.$(".swatch-imported"), null);
});

for (const scheme of ["light", "dark"] as const) {
  test(`imported days: in a picture, ${scheme}, wide and narrow`, async (visit) => {
    for (const widthPx of [1440, 390]) {
      const page = await open(visit, RANGE, { scheme, widthPx });
      await assertAccessible(page, `imported days, ${scheme}, ${widthPx} px`);
      await visit.picture(page, `imported-${scheme}-${widthPx}`);
    }
  });
}
