import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { dashboardWorld, DEMO, EMPTY, type Visit } from "./page.ts";

const test = dashboardWorld();
const integer = (value: number) => new Intl.NumberFormat("en-US").format(value);

/** The number that a tile shows. */
function tile(page: Page, label: string): Promise<string> {
  return page.evaluate((wanted: string) => {
    // deno-lint-ignore no-explicit-any
    const tiles = [...(globalThis as any).document.querySelectorAll(".tile")];
    const found = tiles.find((each) => each.querySelector(".tile-label").textContent === wanted);
    return found?.querySelector(".tile-value").textContent ?? "";
  }, label);
}

/** Rows of the panel with this title, cells as a person reads them. */
function rows(page: Page, panel: string): Promise<string[][]> {
  return page.evaluate((wanted: string) => {
    // deno-lint-ignore no-explicit-any
    const panels = [...(globalThis as any).document.querySelectorAll(".panel")];
    const found = panels.find((each) => each.querySelector("h2, h3")?.textContent === wanted);
    const trs = [...(found?.querySelectorAll("tbody tr") ?? [])];
    return trs.map((tr) => [...tr.children].map((cell) => cell.innerText.trim()));
  }, panel);
}

async function clickRow(page: Page, panel: string, value: string): Promise<void> {
  const handle = await page.evaluateHandle(
    (title: string, wanted: string) => {
      // deno-lint-ignore no-explicit-any
      const panels = [...(globalThis as any).document.querySelectorAll(".panel")];
      const found = panels.find((each) => each.querySelector("h2, h3")?.textContent === title);
      return [...(found?.querySelectorAll("tbody button") ?? [])]
        .find((button) => button.innerText.trim().startsWith(wanted));
    },
    panel,
    value,
  );
  const element = handle.asElement();
  assert.ok(element, `a row ${value} in ${panel}`);
  await (element as unknown as { click(): Promise<void> }).click();
}

const parameters = (page: Page) => new URL(page.url()).searchParams;

async function open(visit: Visit, query = ""): Promise<Page> {
  const page = await visit.open(query);
  await visit.sees(page, "Overview", "h1");
  await visit.settled(page);
  return page;
}

test("overview: every tile says what the API says", async (visit) => {
  const page = await open(visit);
  const { totals } = await visit.read("kpis");
  assert.ok(totals.visitors > 50);
  const shown = {
    "Visitors": integer(totals.visitors),
    "Visits": integer(totals.sessions),
    "Page views": integer(totals.pageviews),
    "New visitors": integer(totals.newVisitors),
    "Events": integer(totals.events),
    "Views / visit": String(Number(totals.pageviewsPerSession.toFixed(2))),
    "Bounce rate": `${(totals.bounceRate.value * 100).toFixed(1)}%`,
  };
  for (const [label, value] of Object.entries(shown)) {
    assert.equal(await tile(page, label), value, label);
  }
});

test("overview: rates change in points, counts in percent", async (visit) => {
  const page = await open(visit, "compare=previous");
  const changes = await page.$$eval(".tile", (tiles) =>
    Object.fromEntries(tiles.map((tile) => [
      tile.querySelector(".tile-label")!.textContent,
      tile.querySelector(".tile-change")!.textContent,
    ])));
  const { totals, previous } = await visit.read("kpis", { compare: "previous" });
  const points = 100 * (totals.bounceRate.value - previous.totals.bounceRate.value);
  assert.match(changes["Bounce rate"]!, /^[+-]?\d+\.\d pts/);
  assert.ok(Math.abs(parseFloat(changes["Bounce rate"]!) - points) < 0.06, changes["Bounce rate"]);
  assert.match(changes["Visitors"]!, /^[+-]?[\d,.]+%/);
});

test("overview: rows of each panel are the API's", async (visit) => {
  const page = await open(visit);
  const names = new Intl.DisplayNames("en-US", { type: "region" });
  const cases = [
    ["Sources", "channel", (value: string) => value],
    ["Places", "country", (value: string) => names.of(value)],
    ["Devices", "device", (value: string) => value[0]!.toUpperCase() + value.slice(1)],
  ] as const;
  for (const [panel, by, nameOf] of cases) {
    const expected = (await visit.read("acquisition", { by, limit: "8" })).rows;
    const found = await rows(page, panel);
    assert.ok(found.length > 1, panel);
    assert.deepEqual(
      found.map(([name, visitors]) => [name, visitors]),
      // deno-lint-ignore no-explicit-any
      expected.map(({ value, visitors }: any) => [nameOf(value), integer(visitors)]),
    );
  }
  const pages = (await visit.read("pages", { limit: "8" })).rows;
  assert.deepEqual(
    (await rows(page, "Pages")).map(([path, visitors, views]) => [path, visitors, views]),
    // deno-lint-ignore no-explicit-any
    pages.map((row: any) => [row.path, integer(row.visitors), integer(row.pageviews)]),
  );
});

test("overview: a row filters, the address holds it, and the back button takes it away", async (visit) => {
  const page = await open(visit);
  const all = await tile(page, "Visitors");
  await clickRow(page, "Sources", "Organic Search");
  await visit.until(page, `location.search.includes("Organic")`);
  await visit.settled(page);
  const filters = [{ field: "channel", op: "is", values: ["Organic Search"] }];
  assert.deepEqual(JSON.parse(parameters(page).get("filters")!), filters);
  const { totals } = await visit.read("kpis", { filters });
  assert.equal(await tile(page, "Visitors"), integer(totals.visitors));
  await visit.sees(page, "Organic Search", ".chips");

  // Whoever gets the address sees the same.
  const shared = await open(visit, new URL(page.url()).search.slice(1));
  assert.equal(await tile(shared, "Visitors"), integer(totals.visitors));
  await shared.close();

  await page.goBack();
  await visit.settled(page);
  assert.equal(await tile(page, "Visitors"), all);
  assert.equal(await page.$(".chips"), null);
  await page.goForward();
  await visit.settled(page);
  await page.locator(".chip-close").click();
  await visit.until(page, `!location.search.includes("filters")`);
  await visit.settled(page);
  assert.equal(await tile(page, "Visitors"), all);
});

test("overview: range, comparison, interval and zone of the address are those of the figures", async (visit) => {
  const asked = {
    range: "7d",
    compare: "previous",
    timezone: "America/New_York",
    interval: "day",
  };
  const dayNow = () => Temporal.Now.plainDateISO(asked.timezone);
  // The day of the page, and no other by the time of the read.
  let today = dayNow();
  let page = await open(visit, new URLSearchParams(asked).toString());
  if (!today.equals(dayNow())) {
    today = dayNow();
    page = await open(visit, new URLSearchParams(asked).toString());
  }
  const { totals, change } = await visit.read("kpis", {
    from: today.subtract({ days: 6 }).toString(),
    to: today.toString(),
    timezone: asked.timezone,
    compare: asked.compare,
  });
  assert.equal(await tile(page, "Visitors"), integer(totals.visitors));
  // Large changes are told in whole percents.
  const maximumFractionDigits = Math.abs(change.visitors) >= 0.1 ? 0 : 1;
  const percent = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits })
    .format(Math.abs(change.visitors));
  await visit.sees(page, percent, ".tile-selected .tile-change");
});

test("overview: a panel that fails says so by itself, and tries again", async (visit) => {
  visit.expectedFaults.push("503");
  let isDown = true;
  visit.intercept = (request) =>
    !isDown || !/\/v1\/pages\?/.test(request.url()) ? undefined : {
      status: 503,
      contentType: "application/problem+json",
      body: JSON.stringify({
        status: 503,
        code: "read_timeout",
        title: "The read took too long",
        detail: "Ask for a shorter range.",
      }),
    };
  const page = await open(visit);
  await visit.sees(page, "Ask for a shorter range.");
  assert.ok((await rows(page, "Sources")).length > 1);
  isDown = false;
  await page.locator("::-p-text(Try again)").click();
  await visit.settled(page);
  assert.ok((await rows(page, "Pages")).length > 1);
});

test("overview: a project without data says what to do first", async (visit) => {
  const page = await visit.open("", { project: EMPTY });
  await visit.sees(page, "Waiting for the first event", "main");
  const text = await visit.text(page, "main");
  assert.doesNotMatch(text, /NaN|undefined|null|Infinity/);
  // It waits with the newcomer: the first event and a project made meanwhile show by themselves.
  const { id } =
    (await visit.server.admin("POST", "/v1/projects", { name: "Made meanwhile" })).body;
  const waiting = await visit.open("", { project: id });
  await visit.sees(waiting, "Waiting for the first event", "main");
  const key = (await visit.server.key(id, { kind: "public" })).key;
  const event = { eventId: crypto.randomUUID(), name: "page_view", url: "https://shop.example/" };
  const sent = await visit.server.post({ id, publicKey: key, secretKey: "" }, [event]);
  assert.equal(sent.status, 200);
  await visit.until(
    waiting,
    `[...document.querySelectorAll(".tile-face")].some((tile) => /Page views\\s*1\\b/.test(tile.innerText))`,
  );
  await page.bringToFront();
  await visit.sees(page, "Made meanwhile", ".overview-others");
  await page.locator(".overview-others ::-p-text(Made meanwhile)").click();
  await visit.until(page, `location.search.includes("${id}")`);
});

test("overview: a range of nothing but bots says so, and shows them", async (visit) => {
  const project = await visit.server.project({ name: "Bots alone" });
  const page = await visit.open("", { project: project.id });
  await visit.sees(page, "Waiting for the first event", "main");
  const event = { eventId: crypto.randomUUID(), name: "page_view", url: "https://shop.example/" };
  const sent = await visit.server.post(project, [event], { headers: { "User-Agent": "curl/8.0" } });
  assert.equal(sent.status, 200);
  await visit.sees(page, "1 event, from a bot.", "main");
  assert.doesNotMatch(await visit.text(page, "main"), /No events in this range/);
  await page.locator("main ::-p-text(Show bots)").click();
  await visit.until(
    page,
    `[...document.querySelectorAll(".tile-face")].some((tile) => /Page views\\s*1\\b/.test(tile.innerText))`,
  );
});

test("overview: nothing of a segment, or of bots, is not told as nothing in the range", async (visit) => {
  const filters = [{ field: "path", op: "is", values: ["/nowhere"] }];
  const segment = `/v1/segments/nobody?project=${DEMO}`;
  const saved = await visit.server.admin("PUT", segment, { title: "Nobody", filters });
  assert.equal(saved.status, 201);
  const project = await visit.server.project({ name: "People alone" });
  const event = { eventId: crypto.randomUUID(), name: "page_view", url: "https://shop.example/" };
  assert.equal((await visit.server.post(project, [event])).status, 200);
  const asked: string[] = [];
  const live = new Set<string>();
  visit.intercept = (request) => {
    const { pathname, searchParams } = new URL(request.url());
    asked.push(pathname);
    if (pathname === "/v1/live") live.add(searchParams.get("segment") ?? "everybody");
    return undefined;
  };
  for (const [query, of] of [["segment=nobody", DEMO], ["bots=only", project.id]]) {
    const page = await visit.open(query, { project: of! });
    await visit.settled(page);
    assert.equal(await tile(page, "Events"), "0", query);
    assert.doesNotMatch(await visit.text(page, "main"), /No events in this range|Waiting for/);
    await page.close();
  }
  assert.ok(!asked.includes("/v1/events"), "the latest event is not looked for");
  assert.deepEqual(
    [...live],
    ["nobody", "everybody"],
    "who is there now is asked of the segment, too",
  );
  await visit.server.admin("DELETE", segment);
});

/** Who is there now comes by a stream that says one word, and then only what the test lets it. */
const SILENT_STREAM = `{
  const { fetch, setTimeout, clearTimeout } = globalThis;
  globalThis.streams = [];
  globalThis.watched = new Map();
  globalThis.setTimeout = (act, ms, ...rest) => {
    const timer = setTimeout(act, ms, ...rest);
    if (ms === 35_000) watched.set(timer, act);
    return timer;
  };
  globalThis.clearTimeout = (timer) => {
    watched.delete(timer);
    clearTimeout(timer);
  };
  globalThis.fetch = (url, call) => {
    if (!call?.headers?.Accept?.includes("event-stream")) return fetch(url, call);
    const reply = { visitors: { last5Minutes: 7, last30Minutes: 9 }, pages: [], series: [] };
    return Promise.resolve(new Response(new ReadableStream({
      start(stream) {
        const say = (text) => stream.enqueue(new TextEncoder().encode(text));
        streams.push(say);
        say("event: live\\ndata: " + JSON.stringify(reply) + "\\n\\n");
        call.signal.addEventListener("abort", () => stream.error(call.signal.reason));
      },
    })));
  };
}`;

test("overview: who is there now is asked anew where the stream has fallen silent", async (visit) => {
  const page = await visit.open("view=goals");
  await visit.settled(page);
  await page.evaluate(SILENT_STREAM);
  await page.locator(".nav ::-p-text(Overview)").click();
  await visit.until(page, "streams.length === 1 && watched.size === 1");
  await page.evaluate("globalThis.before = [...watched.keys()][0]; streams[0](':\\n\\n')");
  // What keeps the connection alive is no silence.
  await visit.until(page, "watched.size === 1 && !watched.has(before)");
  await page.evaluate("[...watched.values()][0]()");
  await visit.until(page, "streams.length === 2");
  await visit.sees(page, "7", ".live-line");
});

test("overview: another project is one choice away, and in the address", async (visit) => {
  const page = await open(visit);
  const select = await page.$(".project-switch select");
  assert.ok(select, "a select of projects");
  await select.select(EMPTY);
  await visit.until(page, `new URL(location.href).searchParams.get("project") === "${EMPTY}"`);
  await page.goBack();
  await visit.until(page, `new URL(location.href).searchParams.get("project") === "${DEMO}"`);
  await visit.settled(page);
  assert.notEqual(await tile(page, "Visitors"), "0");
});

test("tables and the diagram of ways do not scroll sideways where there is room for them", async (visit) => {
  for (const view of ["overview", "trends", "goals", "journeys", "people", "vitals"]) {
    const page = await visit.open(`view=${view}`);
    await page.waitForSelector(".table tbody tr");
    await visit.settled(page);
    const wide = await page.$$eval(
      ".table-scroll, .sankey",
      (all) =>
        all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ className, scrollWidth, clientWidth }) => [className, scrollWidth - clientWidth]),
    );
    assert.deepEqual(wide, [], view);
    await page.close();
  }
});

test("Overview: the CSV of the goals says in which currency they are", async (visit) => {
  const page = await visit.open("view=overview");
  await visit.settled(page);
  await page.evaluate(`URL.createObjectURL = (blob) => {
    globalThis.saved = blob.text();
    return "#saved";
  };
  HTMLAnchorElement.prototype.click = function () { globalThis.savedName = this.download; };
  [...document.querySelectorAll(".table-block")]
    .find(({ textContent }) => textContent.startsWith("Goals")).querySelector(".table-foot button").click()`);
  await visit.until(page, `"saved" in globalThis`);
  const [head, purchase] = String(await page.evaluate("saved")).split("\r\n");
  assert.match(await page.evaluate("savedName") as string, /^goals 2\S+ to 2\S+\.csv$/);
  assert.match(head!, /,Value,Currency$/);
  assert.match(purchase!, /^Purchase,.*,EUR$/);
  assert.ok(!(await visit.text(page, ".table-block")).includes("Currency"));
});

test("Overview: who is there now is told to be of before while nothing new comes", async (visit) => {
  visit.expectedFaults.push("502");
  const page = await visit.open("view=overview");
  await visit.sees(page, "in 30 minutes", ".live-line");
  const isLost = () =>
    visit.text(page, ".live-line").then((text) => text.includes("Reconnecting…"));
  assert.equal(await isLost(), false);
  visit.intercept = (request) => request.url().includes("/v1/live") ? { status: 502 } : undefined;
  // As a tab that comes back, it asks anew.
  await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
  await visit.sees(page, "in 30 minutes · Reconnecting…", ".live-line");
  visit.intercept = () => undefined;
  await visit.until(
    page,
    `!document.querySelector(".live-line").textContent.includes("Reconnecting")`,
  );
});
