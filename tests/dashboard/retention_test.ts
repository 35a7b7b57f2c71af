import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { dashboardWorld, EMPTY, type Visit } from "./page.ts";

const test = dashboardWorld();
const PERCENT = new Intl.NumberFormat("en-US", {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** The triangle as a person sees it: a text for each cell, the average first. */
async function triangle(page: Page): Promise<{ name: string; size: string; cells: string[] }[]> {
  return await page.evaluate(`[...document.querySelectorAll(".retention-table tbody tr")].map(
    (row) => ({
      name: row.querySelector(".retention-name").textContent,
      size: row.querySelector(".retention-size").textContent,
      cells: [...row.querySelectorAll(".retention-cell")].map(
        (cell) => cell.querySelector("a.behind")?.textContent ??
          (cell.firstChild.nodeType === 3 ? cell.firstChild.textContent : "")),
    }))`) as { name: string; size: string; cells: string[] }[];
}

async function kinds(page: Page, row: number): Promise<string[]> {
  return await page.$$eval(
    `.retention-table tbody tr:nth-child(${row + 1}) .retention-cell`,
    (cells) =>
      cells.map(({ className }) => /retention-(complete|running|open|nobody)/.exec(className)![1]!),
  );
}

async function opened(visit: Visit, query: string): Promise<Page> {
  const page = await visit.open(`view=retention${query}`);
  await page.waitForSelector(".retention-table");
  await visit.settled(page);
  return page;
}

interface CellReply {
  readonly actors: number | null;
  readonly complete: boolean;
  readonly rate: { readonly value: number | null };
}

test("The triangle shows every rate of the API, and no number where none has begun", async (visit) => {
  const page = await opened(visit, "&periods=5");
  const { cohorts, average } = await visit.read("retention", { interval: "week", periods: "5" });
  const shown = await triangle(page);
  const texts = (cells: readonly CellReply[]) =>
    cells.map(({ actors, rate }) =>
      actors === null ? "" : rate.value === null ? "–" : PERCENT.format(rate.value)
    );
  assert.deepEqual(
    shown.slice(1).map(({ size, cells }) => ({ size, cells })),
    cohorts.map((cohort: { size: number; cells: CellReply[] }) => ({
      size: cohort.size.toLocaleString("en-US"),
      cells: texts(cohort.cells),
    })),
  );
  assert.deepEqual(
    shown[0]!.cells,
    average.map(({ rate }: CellReply) => rate.value === null ? "" : PERCENT.format(rate.value)),
  );
  assert(shown.length >= 5 && shown.slice(1).some(({ cells }) => cells.includes("")));
});

test("Cells that have not begun, that run and that are zero look different", async (visit) => {
  const page = await opened(visit, "&every=day&range=7d&start=purchase&return=purchase&periods=7");
  const { cohorts } = await visit.read("retention", {
    ...await days(visit, 7),
    interval: "day",
    start: "purchase",
    return: "purchase",
  });
  const last = cohorts.length;
  const expected = cohorts[0].cells.map(({ actors, complete, rate }: CellReply) =>
    actors === null ? "open" : rate.value === null ? "nobody" : complete ? "complete" : "running"
  );
  assert.deepEqual(await kinds(page, 1), expected);
  assert.deepEqual((await kinds(page, last)).slice(0, 2), ["running", "open"]);
  const looks = await page.evaluate(
    `[".retention-complete", ".retention-zero:not(.retention-running)",
    "td.retention-running", "td.retention-open"].map((selector) => {
      const { backgroundColor, backgroundImage } = getComputedStyle(
        document.querySelector("td" + selector.replace(/^td/, "")));
      return backgroundColor + backgroundImage;
    })`,
  ) as string[];
  assert.equal(new Set(looks).size, 4, JSON.stringify(looks));
  await visit.sees(page, "so far", ".retention-table");
});

/** The last days, today included, as the page asks for them. */
async function days(visit: Visit, count: number): Promise<{ from: string; to: string }> {
  const { query } = await visit.read("kpis");
  const date = (ms: number) =>
    new Date(ms).toLocaleDateString("en-CA", { timeZone: query.timezone });
  const last = Date.parse(query.to) - 1;
  return { from: date(last - (count - 1) * 86_400_000), to: date(last) };
}

test("A cell tells its people on focus; arrow keys move, Escape closes", async (visit) => {
  const page = await opened(visit, "&periods=5");
  const { cohorts } = await visit.read("retention", { interval: "week", periods: "5" });
  await page.focus('.retention-cell[tabindex="0"]');
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  const { numerator, denominator } = cohorts[0].cells[1].rate;
  await visit.sees(page, `${numerator} of ${denominator} people came back`, ".retention-tip");
  assert.equal(await page.$$eval('.retention-cell[tabindex="0"]', (cells) => cells.length), 1);
  await page.keyboard.press("Escape");
  await visit.until(page, `document.querySelector(".retention-tip") === null`);
  // Right after the turn of the week only the last cohort is sure to have such a week before it.
  for (const _ of cohorts) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  await visit.sees(page, "This week has not begun yet", ".retention-tip");
  await page.hover('[data-row="1"][data-column="0"]');
  await visit.sees(page, `${cohorts[0].size} of ${cohorts[0].size} people`, ".retention-tip");
});

test("The question is asked with the keyboard alone, and all of it is in the address", async (visit) => {
  const page = await opened(visit, "");
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.focus(".match-editor input");
  await page.keyboard.type("purchase");
  await page.keyboard.press("Enter");
  await visit.until(page, `location.search.includes("start=purchase")`);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("page_view");
  await page.keyboard.press("Tab");
  await visit.until(page, `location.search.includes("return=page_view")`);
  for (const label of ["Every time", "Then or later", "Month"]) {
    await page.evaluate(`[...document.querySelectorAll(".segment")]
      .find((each) => each.textContent === ${JSON.stringify(label)}).focus()`);
    await page.keyboard.press("Space");
  }
  await page.focus(".retention-periods input");
  await page.keyboard.press("ArrowUp");
  await visit.settled(page);
  const parameters = Object.fromEntries(new URL(page.url()).searchParams);
  const { project: _, view: __, ...own } = parameters;
  assert.deepEqual(own, {
    start: "purchase",
    return: "page_view",
    cohort: "recurring",
    criterion: "on_or_after",
    every: "month",
    periods: "6",
  });
  const reads = asked.filter((url) => url.includes("/v1/retention"));
  const last = new URL(reads.at(-1)!).searchParams;
  assert.equal(last.get("interval"), "month");
  assert.equal(last.get("criterion"), "on_or_after");
  assert.equal(
    reads.some((url) => url.includes("start=purcha&")),
    false,
    "not asked at every letter",
  );
});

test("An address brings the same question back, and the back button the one before", async (visit) => {
  const match = {
    name: "page_view",
    filters: [{ field: "path", op: "starts_with", values: ["/products"] }],
  };
  const start = encodeURIComponent(JSON.stringify(match));
  const page = await opened(
    visit,
    `&start=${start}&return=purchase&every=week&periods=4&cohort=recurring`,
  );
  const { cohorts } = await visit.read("retention", {
    start: match,
    return: "purchase",
    interval: "week",
    periods: "4",
    cohort: "recurring",
  });
  const shown = await triangle(page);
  assert.deepEqual(
    shown.slice(1).map(({ size }) => size),
    cohorts.map(({ size }: { size: number }) => size.toLocaleString("en-US")),
  );
  assert.equal(shown[0]!.cells.length, 4);
  assert.equal(
    await page.$eval(
      ".match-editor input",
      (input) => (input as unknown as { value: string }).value,
    ),
    "page_view",
  );
  await page.evaluate(`[...document.querySelectorAll(".segment")]
    .find(({ textContent }) => textContent === "Day").click()`);
  await visit.sees(page, "Day 1", ".retention-table");
  await page.goBack();
  await visit.sees(page, "Week 1", ".retention-table");
});

test("While another question is read, the answer before stays and says that it waits", async (visit) => {
  const page = await opened(visit, "&every=week&periods=5");
  await page.evaluate(`{
    const real = globalThis.fetch;
    globalThis.fetch = (...call) =>
      new Promise((resolve) => globalThis.release = resolve).then(() => real(...call));
    [...document.querySelectorAll(".segment")].find(({ textContent }) => textContent === "Day").click();
  }`);
  await page.waitForSelector('.retention-panel[aria-busy="true"]');
  await visit.sees(page, "Week 1", ".retention-table");
  await page.evaluate("globalThis.release()");
  await visit.sees(page, "Day 1", ".retention-table");
  await page.waitForSelector('.retention-panel[aria-busy="false"]');
});

test("Cohorts in which nobody began show no rate, and a single average no curve", async (visit) => {
  const page = await opened(visit, "&every=month&range=90d&periods=3");
  const shown = await triangle(page);
  assert.equal(shown[1]!.size, "0");
  assert.deepEqual(shown[1]!.cells, ["–", "–", "–"]);
  assert.deepEqual(await kinds(page, 1), ["nobody", "nobody", "nobody"]);
  const { average } = await visit.read("retention", {
    ...await days(visit, 90),
    interval: "month",
    periods: "3",
  });
  const known = average.filter(({ rate }: CellReply) => rate.value !== null).length;
  assert.equal((await page.$$(".chart")).length, known > 1 ? 1 : 0);
  if (known < 2) await visit.sees(page, "No cohort has finished its next month yet");
});

test("A project without events, and a read that fails, say so", async (visit) => {
  const empty = await visit.open("view=retention", { project: EMPTY });
  await visit.sees(empty, "Nobody began in this range");
  await empty.close();
  visit.expectedFaults.push("503");
  let isDown = true;
  visit.intercept = (request) =>
    isDown && request.url().includes("/v1/retention")
      ? {
        status: 503,
        body: JSON.stringify({ code: "read_timeout", detail: "The read took too long." }),
      }
      : undefined;
  const page = await visit.open("view=retention");
  await visit.sees(page, "The read took too long.");
  assert.equal(await page.$$eval(".note-error", (notes) => notes.length), 1);
  isDown = false;
  await page.click(".note-error button");
  await page.waitForSelector(".retention-table");
});

test("retention: what is still being counted is said, until it is counted", async (visit) => {
  const reply = await visit.read("retention", { interval: "week" });
  let isFirst = true;
  visit.intercept = (request) => {
    if (!request.url().includes("/v1/retention") || !isFirst) return undefined;
    isFirst = false;
    return { status: 200, body: JSON.stringify({ ...reply, pending: 1234 }) };
  };
  const page = await visit.open("view=retention");
  await visit.sees(page, "1,234 events still being counted");
  await visit.until(
    page,
    "!document.body.innerText.includes('still being counted')",
    "it is read again, and all is counted",
  );
});
