import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { csvLines } from "../../src/event_file/event_columns.ts";
import type { ExportedEvent } from "../../src/event_file/exported_event.ts";
import { flattened, readableJson, timeLabel } from "../../src/dashboard/views/events_record.ts";
import { type Json, newEvent, type TestProject } from "../support/app.ts";
import { dashboardWorld, EMPTY, type Visit } from "./page.ts";

const test = dashboardWorld();
const ROW = ".events-row";

let projects = 0;

/** A project with a few events of its own, so that no test disturbs another. */
async function projectWith(visit: Visit, events: Json[]): Promise<TestProject> {
  projects++;
  const project = await visit.server.project({ id: `prj_tail${projects}`, name: "Tail" });
  if (events.length > 0) await send(visit, project, events);
  return project;
}

async function send(visit: Visit, project: TestProject, events: Json[]): Promise<void> {
  const { status } = await visit.server.post(project, events.map(newEvent));
  assert.equal(status, 200);
}

async function opened(visit: Visit, query = "", project?: string): Promise<Page> {
  const page = await visit.open(`view=events${query}`, project === undefined ? {} : { project });
  await page.waitForSelector(ROW);
  return page;
}

/** The names of the events, newest first. */
async function names(page: Page): Promise<string[]> {
  return await page.$$eval(`${ROW} .events-name`, (all) => all.map((name) => name.textContent!));
}

async function press(page: Page, label: string): Promise<void> {
  await page.evaluate(`[...document.querySelectorAll("button, input")].find((each) =>
    (each.labels?.[0] ?? each).textContent.trim() === ${JSON.stringify(label)}).click()`);
}

/** Keeps what the page would download, as text. */
async function catchDownload(page: Page): Promise<void> {
  await page.evaluate(`URL.createObjectURL = (blob) => {
    globalThis.saved = blob.text();
    return "#saved";
  };
  HTMLAnchorElement.prototype.click = function () { globalThis.savedName = this.download; }`);
}

const EVENT: ExportedEvent = {
  eventId: "01a1ff0c-e740-7995-94c8-0d06982a1515",
  name: "=cmd()",
  timestamp: "2026-11-21T16:59:58.144Z",
  sentTimestamp: null,
  clock: "client",
  anonymousId: null,
  userId: "ada",
  sessionId: null,
  url: null,
  path: "/a,b",
  referrer: null,
  title: null,
  properties: {
    plan: { name: "pro", seats: [1, 2] },
    "server": {
      ip: null,
      hash: "h",
      geo: null,
      ingestedAt: "2026-11-21T17:00:00.000Z",
    },
  },
  context: { viewport: { width: 10, height: 20 }, screen: null, locale: null, timezone: null },
  campaign: {
    source: "x",
    medium: null,
    campaign: null,
    term: null,
    content: null,
    clickId: null,
  },
  browser: null,
  os: null,
  device: null,
  bot: null,
  inSession: true,
  extra: null,
  server: {
    ip: null,
    hash: "h",
    geo: null,
    browser: null,
    os: null,
    device: null,
    bot: null,
    ingestedAt: "2026-11-21T17:00:00.000Z",
  },
};

Deno.test("An event as a line of CSV: formulas are defused, properties are JSON", () => {
  const line = csvLines([EVENT]);
  assert.ok(line.startsWith('2026-11-21T16:59:58.144Z,\'=cmd(),"/a,b",'), line);
  assert.ok(line.includes('"{""plan"":{""name"":""pro"",""seats"":[1,2]}}"'), line);
  assert.ok(line.endsWith(`,true,${EVENT.eventId}\r\n`), line);
  assert.equal(csvLines([EVENT, EVENT]), line + line);
});

Deno.test("JSON is indented, unless it nests so deep that its indentation would be most of it", () => {
  const nested = (levels: number): unknown => levels === 0 ? 1 : [nested(levels - 1)];
  assert.equal(readableJson({ a: [1] }), JSON.stringify({ a: [1] }, null, 2));
  assert.equal(readableJson(nested(40)), JSON.stringify(nested(40), null, 2));
  assert.equal(readableJson(nested(41)), JSON.stringify(nested(41)));
});

Deno.test("Nested members by their path, and times with their date", () => {
  const value = { a: 1, b: { c: null, d: { e: "x" } }, f: [1], g: {} };
  assert.deepEqual(flattened(value), [
    ["a", 1],
    ["b.c", null],
    ["b.d.e", "x"],
    ["f", "[1]"],
    ["g", "{}"],
  ]);
  const nowMs = Date.parse("2026-11-21T23:30:00Z");
  assert.match(timeLabel("2026-11-21T16:59:58Z", "UTC", nowMs), /^(?!.*2026).*21.*59:58/);
  assert.match(timeLabel("2025-11-21T16:59:58Z", "UTC", nowMs), /21.*2025.*59:58/);
  assert.match(timeLabel("2026-11-21T16:59:58Z", "Europe/Berlin", nowMs), /21.*59:58/);
});

test("The list is the API's, and goes on to older events", async (visit) => {
  const page = await opened(visit);
  const { events } = await visit.read("events", { limit: "100" });
  const own = events.map(({ name }: Json) => name);
  assert.deepEqual(await names(page), own.slice(0, 50));
  await press(page, "Show older events");
  await visit.sees(page, "100 events shown");
  assert.deepEqual(await names(page), own);
});

test("New events come in on top; they wait while the list is paused", async (visit) => {
  const project = await projectWith(visit, [{ name: "old" }]);
  const page = await opened(visit, "", project.id);
  await visit.sees(page, "Live", ".events-live");
  await send(visit, project, [{ name: "fresh" }]);
  await visit.until(page, `document.querySelectorAll("${ROW}").length === 2`);
  assert.deepEqual(await names(page), ["fresh", "old"]);
  await press(page, "Pause");
  await visit.sees(page, "Paused", ".events-live");
  await send(visit, project, [{ name: "later" }, { name: "latest" }]);
  await visit.sees(page, "2 new", ".events-new");
  assert.deepEqual(await names(page), ["fresh", "old"]);
  await page.focus(".events-new button");
  await page.keyboard.press("Enter");
  await visit.until(page, `document.querySelectorAll("${ROW}").length === 4`);
  await send(visit, project, [{ name: "last" }]);
  await visit.sees(page, "1 new", ".events-new");
  await press(page, "Resume");
  await visit.until(page, `document.querySelectorAll("${ROW}").length === 5`);
  assert.equal((await names(page))[0], "last");
  assert.equal(await visit.text(page, ".events-new"), "");
});

test("New events wait while one has scrolled away, and the button leads to them", async (visit) => {
  const many = Array.from({ length: 60 }, (_, i) => ({ name: `e${i}` }));
  const project = await projectWith(visit, many);
  const page = await opened(visit, "", project.id);
  await page.evaluate("scrollTo(0, 900)");
  await send(visit, project, [{ name: "fresh" }]);
  await visit.sees(page, "1 new", ".events-new");
  assert.ok(!(await names(page)).includes("fresh"));
  await page.click(".events-new button");
  await visit.until(page, `document.querySelector("${ROW} .events-name").textContent === "fresh"`);
  await visit.until(page, "scrollY < 200");
});

test("A list whose range is over waits for nothing", async (visit) => {
  const daysAgo = (days: number) =>
    new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const [from, to] = [daysAgo(8), daysAgo(5)];
  const page = await opened(visit, `&from=${from}&to=${to}`);
  await visit.sees(page, "The range is over", ".events-live");
  assert.ok(!(await visit.text(page, ".panel-actions")).includes("Pause"));
});

test("An event opens by keyboard to all that is stored of it; values filter", async (visit) => {
  const project = await projectWith(visit, [
    { name: "other", path: "/other" },
    {
      name: "signed_up",
      path: "/join",
      userId: "ada",
      properties: { plan: "pro", seats: 3, nested: { deep: "yes" } },
      context: { viewport: { width: 800, height: 600 } },
      surplus: "kept",
    },
  ]);
  const page = await opened(visit, "", project.id);
  const place = (await names(page)).indexOf("signed_up");
  const toggles = await page.$$(".events-toggle");
  await toggles[place]!.focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector(".events-detail");
  const seen = await visit.text(page, ".events-detail");
  for (const text of ["plan pro", "nested.deep yes", "ada", "800 × 600", "surplus kept"]) {
    assert.ok(seen.includes(text), `${text} in ${seen}`);
  }
  await page.click(".events-raw summary");
  const raw = JSON.parse(await page.$eval(".events-raw pre", (pre) => pre.textContent!));
  const { events } = await visit.read("events", { project: project.id });
  assert.deepEqual(raw, events.find(({ name }: Json) => name === "signed_up"));
  await page.evaluate(`[...document.querySelectorAll(".events-value")]
    .find((value) => value.textContent === "pro").click()`);
  await visit.until(page, `document.querySelectorAll("${ROW}").length === 1`);
  const filters = JSON.parse(
    new URLSearchParams(await page.evaluate("location.search") as string).get("filters")!,
  );
  assert.deepEqual(filters, [{ field: "properties.plan", op: "is", values: ["pro"] }]);
  await page.evaluate("history.back()");
  await visit.until(page, `document.querySelectorAll("${ROW}").length === 2`);
});

test("New events come in again once what was open has left the list", async (visit) => {
  const project = await projectWith(visit, [{ name: "seen" }, { name: "kept" }]);
  const page = await opened(visit, "", project.id);
  const place = (await names(page)).indexOf("seen");
  await (await page.$$(".events-toggle"))[place]!.click();
  await page.waitForSelector(".events-detail");
  // As by the back button.
  const show = (filters: Json[]) =>
    page.evaluate((text: string) => {
      // deno-lint-ignore no-explicit-any
      const { location, history, dispatchEvent, PopStateEvent } = globalThis as any;
      const query = new URLSearchParams(location.search);
      query.set("filters", text);
      history.pushState(null, "", `?${query}`);
      dispatchEvent(new PopStateEvent("popstate"));
    }, JSON.stringify(filters));
  await show([{ field: "name", op: "is", values: ["kept"] }]);
  await visit.until(page, `document.querySelectorAll("${ROW}").length === 1`);
  await visit.settled(page);
  await send(visit, project, [{ name: "kept" }]);
  await visit.until(page, `document.querySelectorAll("${ROW}").length === 2`);
  assert.equal(await visit.text(page, ".events-new"), "");
  // A list without any event has no table that could tell that nothing is open.
  await (await page.$(".events-toggle"))!.click();
  await page.waitForSelector(".events-detail");
  await show([{ field: "name", op: "is", values: ["later"] }]);
  await visit.sees(page, "No event fits these filters");
  await send(visit, project, [{ name: "later" }]);
  await visit.until(page, `document.querySelectorAll("${ROW}").length === 1`);
});

test("Text of events is shown as text", async (visit) => {
  const evil = `<img src=x onerror="document.title='owned'">`;
  const project = await projectWith(visit, [{ name: evil, path: "/x", properties: { evil } }]);
  const page = await opened(visit, "", project.id);
  await page.click(".events-toggle");
  await page.waitForSelector(".events-detail");
  assert.deepEqual(await names(page), [evil]);
  assert.equal(await page.$(".panel img"), null);
  assert.notEqual(await page.title(), "owned");
});

test("On a phone the time of an event is whole", async (visit) => {
  const project = await projectWith(visit, [{ name: "seen" }]);
  const page = await visit.open("view=events", { project: project.id, widthPx: 390 });
  await page.waitForSelector(ROW);
  const past = await page.evaluate(`(() => {
    const time = document.querySelector(".events-time time").getBoundingClientRect();
    return time.right - document.querySelector(".events-time").getBoundingClientRect().right;
  })()`);
  assert.ok(Number(past) <= 0, `${past} px are cut`);
});

test("Bots are shown on request", async (visit) => {
  const project = await projectWith(visit, [{ name: "human" }]);
  const bot = { headers: { "User-Agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" } };
  assert.equal((await visit.server.post(project, [newEvent({ name: "crawl" })], bot)).status, 200);
  const page = await opened(visit, "", project.id);
  assert.deepEqual(await names(page), ["human"]);
  await press(page, "Show bots");
  await visit.until(page, `document.querySelectorAll("${ROW}").length === 2`);
  assert.equal(
    new URLSearchParams(await page.evaluate("location.search") as string).get("bots"),
    "include",
  );
  assert.equal(await visit.text(page, ".events-bot"), "Bot");
});

test("An export holds every event of the choice, as NDJSON and as CSV", async (visit) => {
  const page = await opened(
    visit,
    `&filters=${
      encodeURIComponent(JSON.stringify([{ field: "name", op: "is", values: ["purchase"] }]))
    }`,
  );
  await catchDownload(page);
  await page.click(".panel-actions .button:last-child");
  const filters = [{ field: "name", op: "is", values: ["purchase"] }];
  const { events } = await visit.read("events", { filters, limit: "1000" });
  await visit.sees(page, `About ${events.length.toLocaleString("en-US")} events`, ".dialog");
  await page.click(".dialog .button-primary");
  await visit.sees(page, `${events.length} events saved in the file`, ".dialog");
  const lines = (await page.evaluate("saved") as string).trimEnd().split("\n");
  assert.deepEqual(lines.map((line) => JSON.parse(line)), events);
  await press(page, "CSV");
  await page.click(".dialog .button-primary");
  await visit.until(page, `savedName.endsWith(".csv")`);
  const csv = await page.evaluate("saved") as string;
  assert.equal(csv.trimEnd().split("\r\n").length, events.length + 1);
  assert.ok(csv.includes(events[0].eventId) && csv.includes(events.at(-1).eventId));
});

test("A long export tells how far it is, and can be stopped", async (visit) => {
  const page = await opened(visit);
  await catchDownload(page);
  await page.evaluate(`const original = fetch; globalThis.fetch = (url, call) => {
    if (!call?.headers?.Accept?.includes("ndjson")) return original(url, call);
    return Promise.resolve(new Response(new ReadableStream({
      start(stream) {
        stream.enqueue(new TextEncoder().encode("{}\\n".repeat(1234)));
        call.signal.addEventListener("abort", () => {
          globalThis.isStopped = true;
          stream.error(call.signal.reason);
        });
      },
    })));
  }`);
  await page.click(".panel-actions .button:last-child");
  await page.click(".dialog .button-primary");
  await visit.sees(page, "1,234", ".dialog");
  await press(page, "Cancel the export");
  await visit.until(page, "globalThis.isStopped === true");
  await page.waitForSelector(".dialog .button-primary");
  assert.equal(await page.evaluate("globalThis.saved"), undefined);
});

test("An error is told in the panel and can be tried again; nothing there says what to do", async (visit) => {
  visit.expectedFaults.push("503");
  const problem = { status: 503, code: "read_timeout", detail: "The read took too long." };
  visit.intercept = (request) =>
    new URL(request.url()).pathname === "/v1/events"
      ? { status: 503, contentType: "application/problem+json", body: JSON.stringify(problem) }
      : undefined;
  const page = await visit.open("view=events");
  await visit.sees(page, "The read took too long.", ".note-error");
  visit.intercept = () => undefined;
  await page.click(".note-error button");
  await page.waitForSelector(ROW);
  const empty = await visit.open("view=events", { project: EMPTY });
  await visit.sees(empty, "No events in this range");
  await empty.close();
  const segment = `/v1/segments/nobody?project=prj_demo`;
  const filters = [{ field: "path", op: "is", values: ["/nowhere"] }];
  await visit.server.admin("PUT", segment, { title: "Nobody", filters });
  const nobody = await visit.open("view=events&segment=nobody");
  await visit.sees(nobody, "No event fits the segment and the filters");
  await press(nobody, "Take the segment and the filters away");
  await nobody.waitForSelector(ROW);
  await visit.server.admin("DELETE", segment);
});
