import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { destinationOf, readAddress } from "../../src/dashboard/views/insights_destination.ts";
import { assertAccessible } from "./axe.ts";
import { dashboardWorld, DEMO, EMPTY, type Visit } from "./page.ts";

const test = dashboardWorld();

async function opened(visit: Visit, query: string): Promise<Page> {
  const page = await visit.open(`view=insights${query}`);
  await page.waitForSelector(".insights-finding");
  await visit.settled(page);
  return page;
}

/** What the server would say of a week in which two things changed. */
function reply(findings: readonly unknown[] = FINDINGS, rest: Record<string, unknown> = {}) {
  const previous = { from: "2026-11-08T00:00:00.000Z", to: "2026-11-15T00:00:00.000Z" };
  return {
    query: {},
    asOf: "2026-11-21T12:00:00.000Z",
    findings,
    changes: 5,
    tested: 334,
    weeks: 4,
    previous,
    ...rest,
  };
}

const drilldown = (filters: readonly unknown[]) =>
  `/v1/kpis?${new URLSearchParams({
    project: DEMO,
    from: "2026-11-15",
    to: "2026-11-21",
    timezone: "Europe/Berlin",
    compare: "previous",
    bots: "exclude",
    filters: JSON.stringify(filters),
  })}`;
const EMAIL = { field: "channel", op: "is", values: ["Email"] };
const NEWS = { field: "campaign", op: "is", values: ["<b>news</b>"] };
/** What else moved for the first one's cause. */
const EVIDENCE = [
  {
    kind: "new_value",
    metric: "visitors",
    dimension: "campaign",
    value: "<b>news</b>",
    current: 40,
    previous: 0,
    change: null,
    weekdays: { current: 40, expected: 0, change: null },
    contribution: 0.8,
    pValue: 0.001,
    adjustedPValue: 0.002,
    score: 0.9,
    text: "Visitors by the campaign “<b>news</b>” are new: 40.",
    drilldown: drilldown([NEWS]),
  },
  {
    kind: "total_change",
    metric: "pageviews",
    current: 600,
    previous: 500,
    change: 0.2,
    weekdays: { current: 600, expected: 500, change: 0.2 },
    contribution: 1,
    pValue: 0.01,
    adjustedPValue: 0.02,
    score: 0.2,
    text: "Page views rose 20% to 600 (from 500).",
    drilldown: drilldown([]),
  },
];
const FINDINGS = [
  {
    kind: "value_change",
    metric: "sessions",
    dimension: "channel",
    value: "Email",
    current: 150,
    previous: 100,
    change: 0.5,
    weekdays: { current: 150, expected: 96.5, change: 0.554 },
    contribution: 0.89,
    pValue: 0.00123,
    adjustedPValue: 0.0041,
    score: 1.2,
    text: "Email visits rose 50% to 150 (from 100).",
    drilldown: drilldown([EMAIL]),
    evidence: EVIDENCE,
    notes: [{ at: "2026-11-15", text: "Sale" }, {
      at: "2026-11-13T23:30:00.000Z",
      text: "<i>New</i>",
    }],
  },
  {
    kind: "total_change",
    metric: "bounceRate",
    current: 0.42,
    previous: 0.3,
    change: 0.4,
    weekdays: { current: 0.42, expected: 0.31, change: 0.35 },
    contribution: 1,
    pValue: 0.00000002,
    adjustedPValue: 0.00000004,
    score: 0.4,
    text: "The bounce rate rose 12.0 points, from 30.0% to 42.0%.",
    drilldown: drilldown([]),
    evidence: [],
    notes: [],
  },
];

const answering = (visit: Visit, body: unknown, status = 200) => {
  visit.intercept = (request) =>
    request.url().includes("/v1/insights") ? { status, body: JSON.stringify(body) } : undefined;
};

test("What the server found over the demo shop is told as it found it", async (visit) => {
  const { findings, tested } = await visit.read("insights", await week(visit));
  const page = await visit.open("view=insights&range=7d");
  await visit.settled(page);
  const texts = await page.$$eval(
    ".insights-text",
    (all) => all.map(({ textContent }) => textContent),
  );
  const wanted = findings.map(({ text }: { text: string }) => text);
  assert.deepEqual(texts, wanted.slice(0, 10));
  await visit.sees(
    page,
    wanted.length > 0 ? `${tested} comparisons` : "Nothing changed beyond chance",
  );
});

/** The range of the last 7 days, as the page asks for it. */
async function week(visit: Visit): Promise<{ from: string; to: string }> {
  const { query } = await visit.read("kpis");
  const date = (ms: number) =>
    new Date(ms).toLocaleDateString("en-CA", { timeZone: query.timezone });
  const last = Date.parse(query.to) - 1;
  return { from: date(last - 6 * 86_400_000), to: date(last) };
}

test("A finding tells its direction, its share, and how sure it is", async (visit) => {
  answering(visit, reply());
  const page = await opened(visit, "");
  const [first, second] = await page.$$eval(
    ".insights-finding",
    (all) =>
      all.map((each) => (each as unknown as { innerText: string }).innerText.replace(/\s+/g, " ")),
  );
  for (
    const part of [
      "+50%",
      "100 → 150",
      "89% of the change",
      "Very unlikely to be chance",
      "+55% on the same weekdays",
      // By the shop's clock: in UTC it was the day before.
      "Noted as well, 2026-11-14: <i>New</i>",
    ]
  ) {
    assert(first!.includes(part), `${part}: ${first}`);
  }
  for (const part of ["+12.0 pts", "30.0% → 42.0%", "Almost certainly not chance"]) {
    assert(second!.includes(part), `${part}: ${second}`);
  }
  assert(!second!.includes("of the change"), "a total is not a part of itself");
  const tones = await page.$$eval(
    ".insights-change .change",
    (all) => all.map(({ className }) => className),
  );
  assert.deepEqual(tones, ["change change-good", "change change-bad"], "more bounces are bad news");
  await page.focus('[aria-label="What is the chance?"]');
  await visit.sees(page, "p-value 0.0012", ".definition-text");
  await visit.sees(page, "it counts as 0.0041", ".definition-text");
});

test("What else moved hangs below its finding, folded, and opens by keyboard", async (visit) => {
  answering(visit, reply());
  const page = await opened(visit, "");
  await visit.sees(page, "334 comparisons, 5 changes, 2 findings");
  assert.equal((await page.$$(".insights-evidence")).length, 1, "a finding alone has none");
  assert.equal((await page.$$(".insights-evidence li")).length, 0);
  await page.focus(".insights-evidence summary");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".insights-evidence li");
  const told = await page.$$eval(
    ".insights-evidence li",
    (all) => all.map((each) => (each as unknown as { innerText: string }).innerText),
  );
  assert.equal(told.length, 2);
  assert.match(told[0]!, /New[^]*“<b>news<\/b>” are new/);
  assert.match(told[1]!, /\+20%[^]*Page views rose/);
  await page.focus(".insights-evidence li a");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".overview-tiles");
  const { searchParams } = new URL(page.url());
  assert.deepEqual(JSON.parse(searchParams.get("filters")!), [NEWS]);
});

for (const scheme of ["light", "dark"] as const) {
  test(`The evidence in a picture, ${scheme}, wide and narrow, for everyone to read`, async (visit) => {
    for (const widthPx of [1440, 390]) {
      answering(visit, reply());
      const page = await visit.open("view=insights", { scheme, widthPx });
      await page.waitForSelector(".insights-evidence summary");
      await page.focus(".insights-evidence summary");
      await page.keyboard.press("Enter");
      await page.waitForSelector(".insights-evidence li");
      await visit.settled(page);
      await assertAccessible(page, `insights, ${scheme}, ${widthPx} px`);
      await visit.picture(page, `insights-${scheme}-${widthPx}`);
    }
  });
}

test("Show in Overview opens the overview that shows it; back leads back", async (visit) => {
  answering(visit, reply());
  const page = await opened(visit, "&filters=%5B%5D");
  await page.focus(".insights-actions a");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".overview-tiles");
  const { searchParams } = new URL(page.url());
  assert.deepEqual(JSON.parse(searchParams.get("filters")!), [EMAIL]);
  assert.equal(searchParams.get("metric"), "sessions");
  assert.equal(searchParams.get("from"), "2026-11-15");
  assert.equal(searchParams.get("to"), "2026-11-21");
  await visit.sees(page, "Channel is Email");
  await page.goBack();
  await page.waitForSelector(".insights-finding");
});

test("The metric is drawn over both periods once it comes into sight", async (visit) => {
  const many = Array.from(
    { length: 12 },
    (_, i) => ({
      ...FINDINGS[0]!,
      drilldown: drilldown([{ ...EMAIL, values: [`${i}`] }]),
      evidence: [],
      notes: [],
    }),
  );
  answering(visit, reply(many));
  const read: string[] = [];
  const page = await visit.open("view=insights");
  page.on("request", (request) => request.url().includes("/v1/kpis") && read.push(request.url()));
  await page.waitForSelector(".insights-finding");
  await visit.until(
    page,
    `document.querySelector(".insights-spark-now")?.points.numberOfItems > 5`,
  );
  await visit.settled(page);
  assert(read.length >= 1 && read.length < 12, `${read.length} reads`);
  assert.equal(new URL(read[0]!).searchParams.getAll("project").length, 1);
  await page.evaluate(`document.querySelector(".insights-finding:last-child").scrollIntoView()`);
  await visit.until(page, `document.querySelectorAll(".insights-spark-now").length >= 9`);
});

test("The read behind a finding can be copied, without the token", async (visit) => {
  answering(visit, reply());
  const page = await opened(visit, "");
  await page.evaluate(
    `navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }`,
  );
  await page.click(".insights-actions button");
  await visit.sees(page, "Copied", ".insights-actions");
  const copied = await page.evaluate("globalThis.copied") as string;
  assert.equal(new URL(copied).pathname, "/v1/kpis");
  assert.deepEqual(JSON.parse(new URL(copied).searchParams.get("filters")!), [EMAIL]);
  assert(!copied.includes("token"));
  await page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error("no"))`);
  await page.click(".insights-finding:last-child .insights-actions button");
  await page.waitForSelector(".insights-read");
  assert.equal(
    await page.evaluate("getSelection().toString()"),
    await page.$eval(".insights-read", (field) => (field as unknown as { value: string }).value),
  );
});

test("No finding, too little history, an empty project and a failed read each say what they are", async (visit) => {
  answering(visit, reply([]));
  const none = await visit.open("view=insights");
  await visit.sees(none, "Nothing changed beyond chance");
  await visit.sees(none, "334 comparisons: nothing");
  visit.intercept = () => undefined;
  const short = await visit.open("view=insights", { project: EMPTY });
  await visit.sees(short, "There is not enough history to compare with");
  await short.focus(".note button");
  await short.keyboard.press("Enter");
  await visit.until(short, `location.search.includes("range=7d")`);
  visit.expectedFaults.push("503");
  answering(visit, { code: "read_timeout", detail: "The read took too long." }, 503);
  const failed = await visit.open("view=insights&range=30d");
  await visit.sees(failed, "The read took too long.");
  visit.intercept = () => undefined;
  await failed.click(".note-error button");
  await visit.until(failed, `document.querySelector(".note-error") === null`);
});

Deno.test("A read is translated to the view that shows it", () => {
  const by = (field: string) =>
    destinationOf(`/v1/acquisition?from=2026-01-01&to=2026-01-31&by=${field}`, "visitors");
  assert.deepEqual(by("campaign"), {
    view: "overview",
    range: { from: "2026-01-01", to: "2026-01-31" },
    compare: "none",
    interval: null,
    filters: [],
    bots: "exclude",
    segment: null,
    params: { metric: null, sources: "campaign" },
  });
  assert.deepEqual(by("channel")!.params, { metric: null });
  assert.deepEqual(by("browser")!.params, { metric: null, devices: "browser" });
  assert.deepEqual(by("entryPath")!.params, { metric: null, pages: "entry" });
  assert.equal(destinationOf("/v1/goals?bots=only&interval=week", "conversions")!.view, "goals");
  assert.equal(destinationOf("/v1/goals?bots=only&interval=week", "conversions")!.bots, "only");
  assert.deepEqual(destinationOf("/v1/trends?event=a&by=path", "events")!.params, {
    event: "a",
    measure: null,
    by: "path",
  });
  assert.equal(
    destinationOf("/v1/kpis?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z", "x")!.range,
    undefined,
  );
  assert.equal(destinationOf("/v1/kpis?segment=buyers", "visitors")!.segment, "buyers");
  assert.equal(destinationOf("/v1/unheard-of", "visitors"), null);
});

Deno.test("The address of a read is taken apart below the path where the server lives", () => {
  for (const [basePath, address] of [["", ""], ["/stats", "/stats"], ["/stats", ""]] as const) {
    const read = readAddress(`${address}/v1/kpis?from=2026-01-01&bots=only`, basePath);
    assert.deepEqual(read, { path: "/v1/kpis", params: { from: "2026-01-01", bots: "only" } });
  }
});
