import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { duration, setLocale } from "../../src/dashboard/number_format.ts";
import {
  definitionParams,
  type FunnelDefinition,
  isRunnable,
  NEW_EXCLUSION,
  plain,
  readDefinition,
  windowFault,
  windowText,
} from "../../src/dashboard/views/funnels_definition.ts";
import type { Json } from "../support/app.ts";
import { fill, funnelRan, pressByKey } from "./acts.ts";
import { dashboardWorld, DEMO, EMPTY, FUNNEL } from "./page.ts";

const test = dashboardWorld();
setLocale("en-US");

const STEPS = [
  { name: "page_view", filters: [{ field: "device", op: "is", values: ["desktop", "mobile"] }] },
  { name: "view_product", label: "Looked closer" },
  "add_to_cart",
];
const ODD: FunnelDefinition = {
  steps: [
    { name: null, filters: [{ field: "path", op: "starts_with", values: ["/"] }] },
    { name: "a b&c=d", filters: [], label: "“First”, \\ then" },
  ],
  window: "90m",
  order: "strict",
  entry: "first",
  exclude: [{ name: "search", filters: [] }],
  by: "properties.a b",
};

const integer = (value: number) => value.toLocaleString("en-US");
const percent = (value: number) =>
  value.toLocaleString("en-US", {
    style: "percent",
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });

/** What the tables' cells say, row by row. */
async function cells(page: Page, selector: string): Promise<string[][]> {
  return await page.$$eval(
    `${selector} tbody tr`,
    (rows) =>
      rows.map((row) =>
        [...row.querySelectorAll("th, td")].map((cell) => cell.textContent!.trim())
      ),
  );
}

async function tiles(page: Page): Promise<Record<string, string>> {
  return Object.fromEntries(
    await page.$$eval(
      ".funnels-tiles .tile",
      (all) =>
        all.map((tile) => [
          tile.querySelector(".tile-label")!.textContent!,
          tile.querySelector(".tile-value")!.textContent!,
        ]),
    ),
  );
}

Deno.test("funnel definition: what the address says is what was put there", () => {
  const params = definitionParams(ODD) as Record<string, string | null>;
  assert.deepEqual(readDefinition((name) => params[name] ?? null), ODD);
});

Deno.test("funnel definition: defaults and unfinished parts stay out of the address", () => {
  const unfinished = { field: "path", op: "is", values: [] };
  const definition: FunnelDefinition = {
    ...ODD,
    steps: [{ name: "purchase", filters: [unfinished], label: "" }],
    window: "7d",
    order: "ordered",
    entry: "any",
    exclude: [NEW_EXCLUSION],
    by: null,
  };
  assert.deepEqual(definitionParams(definition), {
    steps: '["purchase"]',
    window: null,
    order: null,
    entry: null,
    exclude: null,
    by: null,
  });
  assert.deepEqual(plain(definition).exclude, []);
});

Deno.test("funnel definition: what is no funnel is not run", () => {
  const read = (params: Record<string, string>) => readDefinition((name) => params[name] ?? null);
  for (const steps of ["", "[]", "{", '"purchase"', "[1]", '[{"name":1}]', '[{"filters":[1]}]']) {
    assert.equal(read({ steps }), null, steps);
  }
  assert.equal(read({ steps: '["a"]', window: "0d", order: "?", entry: "?" })?.window, "7d");
  assert.equal(windowFault("366d"), null);
  assert.notEqual(windowFault("367d"), null);
  assert.notEqual(windowFault("1.5h"), null);
  assert.equal(isRunnable({ ...ODD, by: "properties." }), false);
  assert.equal(windowText("1h"), "1 hour");
});

test("funnels: the saved funnel shows the numbers of the API", async (visit) => {
  const page = await visit.open("?view=funnels");
  await funnelRan(visit, page);
  const { steps, window } = FUNNEL;
  const reply = await visit.read("funnels", { steps, window });
  assert.ok(reply.converted > 0, "the demo shop sells something");
  assert.deepEqual(await tiles(page), {
    Conversion: percent(reply.converted / reply.entered),
    Entered: integer(reply.entered),
    Converted: integer(reply.converted),
    "Still within the time limit": integer(reply.open),
    Excluded: integer(reply.excluded),
  });
  const bars = await visit.text(page, ".funnels-bars");
  for (const step of reply.steps) {
    assert.ok(bars.includes(`${step.label} ${integer(step.actors)}`), bars);
    assert.ok(bars.includes(percent(step.conversionFromStart.value)), bars);
  }
  for (const step of reply.steps.slice(1)) {
    assert.ok(bars.includes(`${percent(step.conversionFromPrevious.value)} went on`), bars);
    assert.ok(bars.includes(`${integer(step.dropoff)} lost`), bars);
  }
  await visit.sees(page, percent(reply.converted / reply.entered), ".funnels-pill[aria-current]");
  await pressByKey(page, "Table");
  const rows = await cells(page, ".funnels-result");
  assert.deepEqual(
    rows,
    // deno-lint-ignore no-explicit-any
    reply.steps.map((step: any, i: number) => [
      `${i + 1}. ${step.label}`,
      integer(step.actors),
      percent(step.conversionFromStart.value),
      percent(step.conversionFromPrevious.value),
      integer(step.dropoff),
      duration(step.secondsFromPrevious.median),
      duration(step.secondsFromPrevious.p90),
    ]),
  );
  await visit.picture(page, "funnels-table");
});

test("funnels: a definition in the address fills the form and splits the result", async (visit) => {
  const query = new URLSearchParams({
    view: "funnels",
    steps: JSON.stringify(STEPS),
    window: "12h",
    order: "strict",
    entry: "first",
    exclude: '["search"]',
    by: "country",
  });
  const page = await visit.open(`?${query}`);
  await funnelRan(visit, page);
  const values = await page.$$eval(
    ".funnels-builder .input",
    (inputs) => inputs.map((input) => (input as HTMLInputElement).value),
  );
  for (const value of ["page_view", "Looked closer", "search", "12", "h", "strict", "first"]) {
    assert.ok(values.includes(value), `${value} in ${values}`);
  }
  const { groups, excluded } = await visit.read("funnels", {
    steps: STEPS,
    window: "12h",
    order: "strict",
    entry: "first",
    exclude: ["search"],
    by: "country",
  });
  assert.equal((await tiles(page))["Excluded"], integer(excluded));
  const rows = await cells(page, ".funnels-results .panel:last-child");
  assert.equal(rows.length, groups.length);
  assert.deepEqual(
    rows.map((row) => row[1]),
    groups.map((g: Json) => integer(g.entered as number)),
  );
  await visit.picture(page, "funnels-groups");
});

test("funnels: each pause of typing is one step back, and survives a reload", async (visit) => {
  const page = await visit.open(`?view=funnels&steps=["page_view","purchase"]`);
  await funnelRan(visit, page);
  await fill(page, "Time to finish", "2");
  await visit.until(page, `document.querySelector('[data-run="waiting"]') !== null`);
  await visit.until(page, `location.search.includes("window=2d")`);
  await funnelRan(visit, page);
  const { converted } = await visit.read("funnels", {
    steps: ["page_view", "purchase"],
    window: "2d",
  });
  assert.equal((await tiles(page))["Converted"], integer(converted));
  await page.reload();
  await funnelRan(visit, page);
  const windowOf = () =>
    page.$eval(".funnels-window input", (input) => (input as HTMLInputElement).value);
  assert.equal(await windowOf(), "2");
  await page.goBack();
  await visit.until(page, `document.querySelector(".funnels-window input").value === "7"`);
  await fill(page, "Time to finish", "0");
  await visit.sees(page, "Use a whole number from 1.");
  await visit.until(page, `document.querySelector('[data-run="unfinished"]') !== null`);
  assert.ok(!page.url().includes("window=0"), "what cannot be run is not shared");
});

test("funnels: a breakdown of many steps shows its conversion without scrolling", async (visit) => {
  const steps = ["page_view", "view_product", "add_to_cart", "purchase", "search", "click"]
    .map((name) => ({ name }));
  const query = new URLSearchParams({
    view: "funnels",
    steps: JSON.stringify(steps),
    by: "country",
  });
  for (const widthPx of [1440, 390]) {
    const page = await visit.open(`${query}`, { widthPx });
    await visit.settled(page);
    await visit.sees(page, "Conversion", ".table thead");
    const right = await page.$$eval(
      ".table th",
      (heads) => {
        const head = heads.find((each) => each.textContent!.startsWith("Conversion"))!;
        const scroll = head.closest(".table-scroll")!.getBoundingClientRect();
        return head.getBoundingClientRect().right - Math.min(scroll.right, innerWidth);
      },
    );
    assert.ok(right <= 0.5, `${right} px past the edge at ${widthPx}`);
    await page.close();
  }
});

test("funnels: who may only read is told why nothing can be saved", async (visit) => {
  const token = await visit.token("read", [DEMO]);
  const page = await visit.open("?view=funnels", { token });
  await funnelRan(visit, page);
  await visit.sees(page, "Your link may only read");
  const buttons = await visit.text(page, "button");
  for (const word of ["Save", "Rename", "Delete"]) assert.ok(!buttons.includes(word), buttons);
});

test("funnels: a project without events says so", async (visit) => {
  const page = await visit.open("?view=funnels", { project: EMPTY });
  await visit.sees(page, "No events in this range");
  await visit.picture(page, "funnels-empty");
});

test("funnels: an error stays in its panel until it is tried again", async (visit) => {
  visit.expectedFaults.push("503");
  let isBroken = true;
  visit.intercept = (request) => {
    const url = new URL(request.url());
    if (!isBroken || url.pathname !== "/v1/funnels" || !url.searchParams.has("steps")) return;
    const problem = { status: 503, code: "read_timeout", detail: "This took too long." };
    return { status: 503, body: JSON.stringify(problem) };
  };
  const page = await visit.open("?view=funnels");
  await visit.sees(page, "This took too long.", ".funnels-result");
  await visit.sees(page, FUNNEL.title, ".funnels-saved");
  await visit.sees(page, "Add a step", ".funnels-builder");
  isBroken = false;
  await pressByKey(page, "Try again");
  await funnelRan(visit, page);
});

test("funnels: a refused condition is told with its place", async (visit) => {
  visit.expectedFaults.push("400");
  const filters = [{ field: "path", op: "matches", values: ["("] }];
  const steps = JSON.stringify(["page_view", { name: "purchase", filters }]);
  const page = await visit.open(`?${new URLSearchParams({ view: "funnels", steps })}`);
  await visit.sees(page, "Step 2, condition 1: A group is not closed.", ".funnels-result");
});

test("funnels: the name of a funnel that is gone leads to a new one", async (visit) => {
  const page = await visit.open("?view=funnels&funnel=gone");
  await visit.sees(page, "does not exist any more");
  await funnelRan(visit, page);
});

for (const scheme of ["light", "dark"] as const) {
  test(`funnels: in a picture, ${scheme}, wide and narrow`, async (visit) => {
    for (const name of ["a", "b"]) {
      const title = `A funnel with quite a long title: ${name}`;
      await visit.server.admin("PUT", `/v1/funnels/${name}?project=${DEMO}`, {
        title,
        steps: ["page_view", { name: "purchase", label: title }, "w".repeat(120)],
      });
    }
    const wide = await visit.open("?view=funnels&funnel=b", { scheme });
    await funnelRan(visit, wide);
    await visit.picture(wide, `funnels-${scheme}-1440`);
    const narrow = await visit.open("?view=funnels&funnel=b", { scheme, widthPx: 390 });
    await funnelRan(visit, narrow);
    const overflow = await narrow.evaluate(`document.documentElement.scrollWidth - innerWidth`);
    assert.equal(overflow, 0);
    await visit.picture(narrow, `funnels-${scheme}-390`);
  });
}
