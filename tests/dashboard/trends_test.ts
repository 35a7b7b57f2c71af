import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { newEvent } from "../support/app.ts";
import { NOON_ZONE } from "../notifications/noon_zone.ts";
import { dashboardWorld, EMPTY, type Visit } from "./page.ts";

const test = dashboardWorld();
const COUNT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const DECIMAL = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

interface Point {
  readonly label: string;
  readonly complete: boolean;
  readonly value: number | null;
}

interface Line {
  readonly value: string | null;
  readonly points: readonly Point[];
}

async function opened(visit: Visit, query: string): Promise<Page> {
  const page = await visit.open(`view=trends${query}`);
  await page.waitForSelector(".trends-line");
  await visit.settled(page);
  return page;
}

/** The rows of the table of lines, or of the table in the chart's place. */
async function rowsOf(page: Page, table = ".chart-block > .table-block"): Promise<string[][]> {
  return await page.$$eval(
    `${table} tbody tr`,
    (rows) =>
      rows.map((row) =>
        [...row.querySelectorAll("th, td")].map((cell) =>
          (cell as unknown as { innerText: string }).innerText.trim()
        )
      ),
  );
}

async function press(page: Page, text: string): Promise<void> {
  await page.evaluate(`[...document.querySelectorAll("#main button")]
    .find((each) => each.textContent.trim() === ${JSON.stringify(text)}).click()`);
}

const sum = (points: readonly Point[]) => points.reduce((total, { value }) => total + value!, 0);
const whole = (points: readonly Point[]) => points.filter(({ complete }) => complete);

test("One event: the numbers of every day, and what they come to, are the API's", async (visit) => {
  const page = await opened(visit, "&event=page_view");
  const { series } = await visit.read("trends", { event: "page_view", interval: "day" });
  const [row] = await rowsOf(page);
  assert.equal(row![0], "page_view");
  assert.equal(row![1], COUNT.format(sum(series)));
  const values = whole(series).map(({ value }) => value!);
  const mean = sum(whole(series)) / values.length;
  assert(Math.abs(Number(row![2]!.replaceAll(",", "")) - mean) <= (mean < 100 ? 0.05 : 0.5));
  assert.equal(row![3]!.split(/\s/)[0], COUNT.format(Math.min(...values)));
  assert.equal(row![4]!.split(/\s/)[0], COUNT.format(Math.max(...values)));
  await press(page, "Table");
  const shown = await rowsOf(page, ".chart-table");
  assert.deepEqual(
    shown.map((cells) => cells[1]),
    series.map(({ value }: Point) => COUNT.format(value!)),
  );
});

test("Hours that have not begun are no zeros", async (visit) => {
  const day = `&range=today&timezone=${encodeURIComponent(NOON_ZONE)}`;
  for (const by of ["", "&by=device"]) {
    const page = await opened(visit, `&event=page_view${day}${by}`);
    await press(page, "Table");
    const hours = await rowsOf(page, ".chart-table");
    assert.equal(hours.length, 24);
    assert.notEqual(hours[10]![1], "–");
    assert.deepEqual(hours.slice(14).map((cells) => cells[1]), Array(10).fill("–"));
    await page.close();
  }
});

test("Of people that a share tells not the number of, there is no average either", async (visit) => {
  visit.intercept = (request) =>
    request.url().includes("/v1/kpis?")
      ? { status: 200, body: JSON.stringify({ totals: { visitors: null, events: 3 } }) }
      : undefined;
  const page = await opened(visit, "&event=purchase&measure=perVisitor");
  assert.doesNotMatch(await visit.text(page, ".chart-block"), /NaN|∞/);
});

test("Each table has one CSV button, which says whose it is", async (visit) => {
  const page = await visit.open("view=trends");
  await visit.settled(page);
  const named = await page.$$eval(
    "button",
    (all) =>
      all.map((each) => each.getAttribute("aria-label") ?? "").filter((name) => /CSV/.test(name)),
  );
  assert.deepEqual(named, ["CSV: Event count over time", "CSV: Totals of the lines"]);
});

test("A sum of a property, and visitors of the whole range", async (visit) => {
  const page = await opened(visit, "&event=purchase&measure=sum%3Aproperties.value");
  const { series } = await visit.read("trends", {
    event: "purchase",
    measure: "sum:properties.value",
    interval: "day",
  });
  assert.equal((await rowsOf(page))[0]![1], DECIMAL.format(sum(series)));
  await page.close();
  const visitors = await opened(visit, "&event=purchase&measure=visitors");
  const { totals } = await visit.read("kpis", {
    filters: [{ field: "name", op: "is", values: ["purchase"] }],
  });
  await visit.sees(visitors, COUNT.format(totals.visitors), ".chart-block > .table-block td");
});

test("Visitors of the whole range are read anew with the chart, and once each time", async (visit) => {
  let asked = 0;
  let isLater = false;
  visit.intercept = (request) => {
    if (!isLater || !request.url().includes("/v1/kpis?")) return undefined;
    asked++;
    return { status: 200, body: JSON.stringify({ totals: { visitors: 4_321, events: 5_000 } }) };
  };
  const page = await opened(visit, "&event=purchase&measure=visitors");
  isLater = true;
  // Somebody comes back to the page after six minutes.
  await page.evaluate(`{
    const show = (value) => {
      Object.defineProperty(document, "visibilityState", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    };
    const now = Date.now;
    show("hidden");
    Date.now = () => now() + 360_000;
    show("visible");
    Date.now = now;
  }`);
  await visit.sees(page, "4,321", ".chart-block > .table-block td");
  await visit.settled(page);
  assert.equal(asked, 1);
});

test("The point that is chosen in the chart stays when the total of the range arrives", async (visit) => {
  const page = await opened(visit, "&event=purchase");
  await page.evaluate(`{
    const read = fetch;
    const released = new Promise((resolve) => globalThis.release = resolve);
    globalThis.fetch = async (url, options) => {
      if (String(url).includes("/v1/kpis?")) await released;
      return await read(url, options);
    };
  }`);
  await page.select(".trends-choices select", "visitors");
  await visit.settled(page);
  await page.focus(".trends-panel .chart");
  await page.keyboard.press("Home");
  const chosen = () => page.$eval(".trends-panel .chart", (chart) => chart.ariaValueNow);
  assert.equal(await chosen(), "0");
  await page.evaluate("release()");
  await visit.sees(page, "Whole range", ".chart-block > .table-block thead");
  await visit.settled(page);
  assert.equal(await chosen(), "0");
});

test("Split: a line for each value, which its name draws and takes away", async (visit) => {
  const page = await opened(visit, "&by=device");
  const { series } = await visit.read("trends", { by: "device", interval: "day" });
  const rows = await rowsOf(page);
  const names: Record<string, string> = { desktop: "Desktop", mobile: "Mobile", tablet: "Tablet" };
  assert.deepEqual(
    rows.map(([name, total]) => [name, total]),
    series.map((
      { value, points }: Line,
    ) => [names[value ?? ""] ?? "Unknown", COUNT.format(sum(points))]),
  );
  const drawn = () =>
    page.$$eval(
      ".trends-toggle",
      (toggles) => toggles.map((each) => each.getAttribute("aria-pressed")),
    );
  assert.deepEqual(new Set(await drawn()), new Set(["true"]));
  await page.focus(".trends-toggle");
  await page.keyboard.press("Enter");
  await visit.until(page, `location.search.includes("lines=")`);
  assert.equal((await drawn())[0], "false");
  await page.reload();
  await page.waitForSelector(".trends-toggle");
  assert.equal((await drawn())[0], "false", "the address keeps it");
  await page.click(".trends-toggle");
  await visit.until(page, `!location.search.includes("lines=")`);
  await page.close();
  const gone = encodeURIComponent(JSON.stringify(['[0,"watch"]']));
  const elsewhere = await opened(visit, `&by=device&lines=${gone}`);
  assert(await elsewhere.$('.trends-toggle[aria-pressed="true"]') !== null, "never none");
});

test("Of many values the first are drawn, and eight at most", async (visit) => {
  const page = await opened(visit, "&by=path&interval=week");
  const count = (pressed: boolean) =>
    page.$$eval(`.trends-toggle[aria-pressed="${pressed}"]`, (toggles) => toggles.length);
  assert.equal(await count(true), 5);
  for (const drawn of [6, 7, 8]) {
    await page.click('.trends-toggle[aria-pressed="false"]');
    await visit.until(
      page,
      `document.querySelectorAll('.trends-toggle[aria-pressed="true"]').length === ${drawn}`,
    );
  }
  const colours = await page.$$eval(
    '.trends-toggle[aria-pressed="true"] .swatch',
    (swatches) => swatches.map(({ className }) => className),
  );
  assert.equal(new Set(colours).size, 8, "each line has a colour of its own");
  assert.equal(
    await page.$$eval(".trends-toggle:disabled", (toggles) => toggles.length),
    await count(false),
  );
});

test("A letter that is typed as soon as its field is there stays", async (visit) => {
  const page = await opened(visit, "");
  const typed = await page.evaluate(async () => {
    const fieldOf = (label: string) =>
      document.getElementById(
        [...document.querySelectorAll("label")].find(({ textContent }) => textContent === label)
          ?.htmlFor ?? "",
      ) as HTMLInputElement | null;
    const measure = fieldOf("Measure")!;
    measure.value = "avg";
    measure.dispatchEvent(new Event("change", { bubbles: true }));
    for (let i = 0; i < 1_000 && fieldOf("Property to compute") === null; i++) {
      await Promise.resolve();
    }
    const property = fieldOf("Property to compute")!;
    property.value = "v";
    property.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve, 300));
    return property.value;
  });
  assert.equal(typed, "v");
});

test("The question is asked with the keyboard alone, and all of it is in the address", async (visit) => {
  const page = await opened(visit, "");
  await page.focus(".match-editor input");
  await page.keyboard.type("purchase");
  await page.keyboard.press("Enter");
  await visit.until(page, `location.search.includes("event=purchase")`);
  const choose = async (label: string, text: string) => {
    const id = await page.evaluate(`[...document.querySelectorAll("label")]
      .find((each) => each.textContent === ${JSON.stringify(label)}).htmlFor`);
    await page.focus(`[id="${id}"]`);
    await page.keyboard.type(text);
    return id as string;
  };
  await choose("Measure", "Average of");
  await visit.sees(page, "Choose the property to compute.");
  await choose("Property to compute", "value");
  await page.keyboard.press("Enter");
  await choose("Break down by", "Channel");
  await visit.until(page, `location.search.includes("by=channel")`);
  await visit.settled(page);
  const { project: _, view: __, ...own } = Object.fromEntries(new URL(page.url()).searchParams);
  assert.deepEqual(own, { event: "purchase", measure: "avg:properties.value", by: "channel" });
  const { series } = await visit.read("trends", { ...own, interval: "day" });
  assert.deepEqual(
    (await rowsOf(page)).map(([name]) => name),
    series.map(({ value }: Line) => value),
  );
});

test("Several events are lines side by side; the same name with other conditions too", async (visit) => {
  const mobile = { field: "device", op: "is", values: ["mobile"] };
  const events = [{ name: "purchase", filters: [] }, { name: "purchase", filters: [mobile] }];
  const page = await opened(visit, `&event=${encodeURIComponent(JSON.stringify(events))}`);
  const { series } = await visit.read("trends", { event: events, interval: "day" });
  assert.deepEqual(
    (await rowsOf(page)).map(([name, total]) => [name, total]),
    [
      ["purchase", COUNT.format(sum(series[0].points))],
      ["purchase where Device is Mobile", COUNT.format(sum(series[1].points))],
    ],
  );
  await page.click('[aria-label="Remove event 1"]');
  await visit.until(page, `document.querySelectorAll(".trends-event").length === 1`);
  await page.goBack();
  await visit.until(page, `document.querySelectorAll(".trends-event").length === 2`);
});

test("A project without events, and a read that fails, say so", async (visit) => {
  const empty = await visit.open("view=trends", { project: EMPTY });
  await visit.sees(empty, "Nothing to count in this range");
  await empty.close();
  visit.expectedFaults.push("503");
  let isDown = true;
  visit.intercept = (request) =>
    isDown && request.url().includes("/v1/trends?") && !request.url().includes("interval=month")
      ? {
        status: 503,
        body: JSON.stringify({ code: "read_timeout", detail: "The read took too long." }),
      }
      : undefined;
  const page = await visit.open("view=trends");
  await visit.sees(page, "The read took too long.");
  await page.waitForSelector(".match-editor");
  isDown = false;
  await page.click(".note-error button");
  await page.waitForSelector(".trends-line");
});

test("The axis of small numbers tells each of its lines", async (visit) => {
  const project = await visit.server.project({ name: "Small" });
  const sent = [0.004, 0.018].map((ratio) => newEvent({ name: "ran", properties: { ratio } }));
  await visit.server.post(project, sent);
  const search = new URLSearchParams({ event: "ran", measure: "max:properties.ratio" });
  const page = await visit.open(`view=trends&${search}`, { project: project.id });
  await page.waitForSelector(".trends-line");
  await press(page, "Table");
  await page.evaluate(`{
    globalThis.drawn = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
      drawn.push(text);
      fillText.call(this, text, ...place);
    };
  }`);
  await press(page, "Chart");
  await visit.until(page, "drawn.includes('0.015')", "there is a line at 0.015");
  const numbers = (await page.evaluate("drawn") as string[]).filter((text) =>
    /^[\d.]+$/.test(text)
  );
  assert.deepEqual([...new Set(numbers)].sort(), ["0", "0.005", "0.01", "0.015"]);
});
