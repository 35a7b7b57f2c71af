import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { personName } from "../../src/dashboard/person_link.tsx";
import { setLocale } from "../../src/dashboard/number_format.ts";
import { datesOfBucket } from "../../src/dashboard/views/trends_behind.tsx";
import { placeOnPicture } from "../../src/dashboard/views/visits_click_picture.tsx";
import { conversionText, placeText, worthText } from "../../src/dashboard/views/visits_replies.ts";
import type { Json } from "../support/app.ts";
import { press } from "./acts.ts";
import { assertFits } from "./axe.ts";
import { dashboardWorld, GOAL, type Visit } from "./page.ts";

const test = dashboardWorld();

const nameOf = ({ actor, userId }: Json) => personName(String(actor), userId as string | null);

/** What the rows of a table say in its first column. */
async function heads(page: Page, caption: string): Promise<string[]> {
  return await page.$$eval(
    "table",
    (tables, wanted) => {
      const table = tables.find((each) => each.querySelector("caption")?.textContent === wanted);
      return [...table?.querySelectorAll("tbody tr > th") ?? []]
        .map((cell) => cell.textContent!.trim());
    },
    caption,
  );
}

/** The start of each visit that is listed, as the API writes it. */
async function starts(page: Page): Promise<string[]> {
  return await page.$$eval(
    ".visits-table time",
    (all) => all.map((each) => each.getAttribute("datetime")!),
  );
}

async function click(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector);
  await page.$eval(selector, (element) => (element as unknown as { click(): void }).click());
}

async function title(visit: Visit, page: Page, wanted: string): Promise<void> {
  await visit.sees(page, wanted, "h1");
  await visit.settled(page);
}

test("Who is behind a number: from a tile to people, to one of them, to a visit as a story", async (visit) => {
  const page = await visit.open("view=overview");
  await visit.settled(page);
  await click(page, '[aria-label="Who are these? Visitors"]');
  await title(visit, page, "People");
  const { rows: people } = await visit.read("actors", { limit: "50" });
  const listed = await heads(page, "People, last seen first");
  assert.deepEqual(listed, people.map(nameOf));

  // Somebody with a sale: there is a goal to be seen.
  const { rows: bought } = await visit.read("visits", { goal: GOAL.slug, limit: "1" });
  const { actor, id } = bought[0];
  await page.goto(`${visit.world.url}/?project=prj_demo&view=people&person=${actor}`);
  await title(visit, page, "People");
  await visit.sees(page, "First seen ever");
  const { rows: own } = await visit.read("visits", { actor });
  assert.deepEqual(await starts(page), own.map(({ start }: Json) => start));
  const { person } = await visit.read(`actors/${encodeURIComponent(actor)}/timeline`);
  assert.equal((await heads(page, "Devices")).length, person.devices.length);
  assert.equal((await heads(page, "Places")).length, person.places.length);
  await visit.picture(page, "person");

  const place = own.findIndex((row: Json) => row.id === id);
  await page.$$eval(
    ".visits-table .row-button",
    (all, wanted) => (all[wanted] as unknown as { click(): void }).click(),
    place,
  );
  await title(visit, page, "Visits");
  const { events } = await visit.read(`visits/${id}`, { limit: "200" });
  const times = await page.$$eval(
    ".story-time",
    (all) => all.map((each) => each.getAttribute("datetime")),
  );
  assert.deepEqual(times, events.map(({ timestamp }: Json) => timestamp));
  await visit.sees(page, GOAL.title, ".story-goal");
  await visit.until(page, `document.activeElement?.matches("h1")`);
  await press(page, "Show all details of page_view");
  await page.waitForSelector(".story .events-detail");
  await visit.picture(page, "visit");

  // The menu leads from one of them to all.
  await page.locator(".nav ::-p-text(Visits)").click();
  await visit.sees(page, "Visits, newest first", "main");
  await page.goBack();
  await page.waitForSelector(".story");

  // A click leads to the heat map of its page.
  const clicked = events.find(({ name }: Json) => name === "click");
  if (clicked !== undefined) {
    await click(page, ".story-link");
    await title(visit, page, "Heatmaps");
    assert.equal(new URL(page.url()).searchParams.get("path"), clicked.path);
  }
});

test("Visits: those behind a channel's number, and one person's by the list of events", async (visit) => {
  const page = await visit.open("view=overview");
  await visit.settled(page);
  const { rows } = await visit.read("acquisition", {});
  const { value, visitors } = rows.find((row: Json) => row.value !== null);
  await page.waitForFunction(
    `[...document.querySelectorAll("a.behind")].some((each) =>
      each.title.includes(${JSON.stringify(`channel ${value}`)}) && (each.click(), true))`,
    { polling: 50 },
  );
  await title(visit, page, "People");
  const people = `${visitors} ${visitors === 1 ? "person" : "people"}`;
  await visit.sees(page, `${people}: Visitors with channel ${value}`, ".chips");
  const of = new URL(page.url()).searchParams.get("of")!;
  const { rows: listed } = await visit.read("actors", { of, limit: "50" });
  assert.deepEqual(
    await heads(page, "People, last seen first"),
    listed.map(nameOf),
  );
  await press(page, `Remove: ${people}: Visitors with channel`);
  await visit.until(page, `!location.search.includes("of=")`);
  await visit.settled(page);
  await page.goto(`${visit.world.url}/?project=prj_demo&view=visits&goal=${GOAL.slug}`);
  await visit.sees(page, `Reached the goal ${GOAL.title}`);
  await press(page, "Remove: Reached the goal");
  await visit.until(page, `!location.search.includes("goal=")`);

  await page.goto(`${visit.world.url}/?project=prj_demo&view=events`);
  await visit.settled(page);
  await click(page, ".events-table .person-link");
  await title(visit, page, "People");
  assert.match(new URL(page.url()).searchParams.get("person")!, /./);
});

/** One grey point: the page draws it as large as the capture is told to be. */
const POINT_PNG = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
);

test("A click stands on the picture of its page, and in words alone where there is none", async (visit) => {
  const filters = [{ field: "name", op: "is", values: ["click"] }];
  const { rows: [clicked] } = await visit.read("visits", { filters, limit: "1" });
  let captureId: string | null = "cap_0123456789abcdefghij";
  const asked: string[] = [];
  visit.intercept = (request) => {
    const { pathname } = new URL(request.url());
    if (pathname === "/v1/heatmaps") {
      const body = JSON.stringify({ capture: { captureId, width: 390, height: 20_000 } });
      return { status: 200, body };
    }
    if (!pathname.startsWith("/v1/heatmaps/captures/cap_")) return undefined;
    asked.push(request.headers().authorization ?? "");
    return { status: 200, contentType: "image/png", body: POINT_PNG };
  };
  const page = await visit.open(`view=visits&visit=${clicked.id}`);
  await visit.settled(page);
  await page.waitForSelector(".story-link");
  await page.evaluate(`document.querySelector(".story-link").scrollIntoView()`);
  await page.waitForSelector(".story-picture img");
  assert.match(asked[0]!, /^Bearer /, "as any read, by a token");
  const isMarked = `(() => {
    const [mark, picture] = [".story-picture-mark", ".story-picture"]
      .map((each) => document.querySelector(each).getBoundingClientRect());
    const [x, y] = [mark.x + mark.width / 2, mark.y + mark.height / 2];
    return x >= picture.left && x <= picture.right && y >= picture.top && y <= picture.bottom;
  })()`;
  assert.equal(await page.evaluate(isMarked), true);
  await visit.picture(page, "visit-picture");
  captureId = null;
  await page.reload();
  await visit.settled(page);
  await page.evaluate(`document.querySelector(".story-link").scrollIntoView()`);
  await visit.settled(page);
  assert.equal(await page.$(".story-picture"), null);
});

/** A link of a number: what it shows, and the list that it leads to. */
interface NumberLink {
  readonly text: string;
  readonly title: string;
  readonly href: string;
}

/** Of more numbers some: each is a request. */
const NUMBERS_OF_A_VIEW = 8;
const MOBILE = { field: "device", op: "is", values: ["mobile"] };
const COUNTED_VIEWS = [
  "overview&goal=purchase&places=city&devices=os&sources=source",
  "overview&pages=exit",
  "funnels&funnel=checkout&by=device",
  "retention&every=week",
  "journeys",
  "journeys&scope=actor&end=purchase",
  "goals",
  "goals&goal=purchase",
  "heatmaps&device=mobile",
  "heatmaps&device=mobile&kind=dead",
];

const NUMBERS = "a.behind-count, .retention-cell a.behind";

/** The numbers of a page that say how many are listed where they lead. */
async function numberLinks(page: Page): Promise<NumberLink[]> {
  return await page.$$eval(
    NUMBERS,
    (links) =>
      (links as unknown as { textContent: string; title: string; href: string }[])
        .map(({ textContent: text, title, href }) => ({ text, title, href }))
        // Who is there now is another one by the time that it is asked.
        .filter(({ title }) => !title.includes("minutes")),
  );
}

async function assertLeadsToAsMany(
  visit: Visit,
  { text, title, href }: NumberLink,
  segment: string,
): Promise<void> {
  const { view, project: _, bots: __, compare: ___, ...asked } = Object.fromEntries(
    new URL(href).searchParams,
  );
  assert.equal(asked.segment, segment, href);
  assert.ok(JSON.parse(asked.filters!).some(({ field }: Json) => field === MOBILE.field), href);
  // A cell of retention shows a share, and tells the people beside it.
  const told = text.includes("%") ? title.replace(/\D+/, "") : text;
  const count = parseInt(told.replaceAll(",", ""));
  const list = view === "people" ? "actors" : "visits";
  const { rows, total } = await visit.read(list, { ...asked, limit: "1000" });
  assert.equal(total ?? rows.length, count, `${title}: ${href}`);
}

test("Every number that says who: as many are listed, under the bar's filters and segment", async (visit) => {
  const { series } = await visit.read("kpis", { interval: "day" });
  const segment = "twice";
  const saved = await visit.server.admin("PUT", `/v1/segments/${segment}?project=prj_demo`, {
    title: "Saw two pages",
    actors: { did: { name: "page_view" }, atLeast: 2 },
  });
  assert.equal(saved.status, 201, JSON.stringify(saved.body));
  const bar = new URLSearchParams({
    project: "prj_demo",
    from: series.at(-20).label,
    to: series.at(-1).label,
    segment,
    filters: JSON.stringify([MOBILE]),
  });
  const page = await visit.open("view=goals");
  for (const view of COUNTED_VIEWS) {
    await page.goto(`${visit.world.url}/?${bar}&view=${view}`);
    await page.waitForSelector(NUMBERS);
    await visit.settled(page);
    const links = await numberLinks(page);
    assert.ok(links.length > 0, `${view} has numbers`);
    const every = Math.ceil(links.length / NUMBERS_OF_A_VIEW);
    for (const [i, one] of links.entries()) {
      if (i % every === 0) await assertLeadsToAsMany(visit, one, segment);
    }
  }
});

/** Follows a link by its title, and tells the chips of the list that it leads to. */
async function follow(visit: Visit, page: Page, title: string): Promise<string> {
  await page.waitForFunction(
    `[...document.querySelectorAll("a.behind, a.button")].some((each) =>
      (each.title + each.getAttribute("aria-label")).includes(${JSON.stringify(title)}) &&
      (each.click(), true))`,
    { polling: 50 },
  );
  await visit.until(page, `/view=(people|visits)/.test(location.search)`);
  await visit.settled(page);
  return await page.$eval(".chips", ({ textContent }) => textContent!);
}

test("Who are these? of tiles that no filter tells, of vitals, heat maps, sites and who is there now", async (visit) => {
  const { url } = visit.world;
  const page = await visit.open("view=overview");
  const { totals } = await visit.read("kpis");
  assert.match(
    await follow(visit, page, "Visits that bounced"),
    new RegExp(`${totals.bounceRate.numerator.toLocaleString("en-US")} visits: Bounced`),
  );
  await page.goto(`${url}/?project=prj_demo`);
  assert.match(
    await follow(visit, page, "Who are these? New visitors"),
    new RegExp(`${totals.newVisitors.toLocaleString("en-US")} people: New visitors`),
  );

  await page.goto(`${url}/?project=prj_demo&view=vitals`);
  const poor = await follow(visit, page, "People with a poor LCP");
  assert.match(poor, /\$web_vitals/);
  const { filters } = Object.fromEntries(new URL(page.url()).searchParams);
  const { rows } = await visit.read("actors", { filters: filters!, limit: "1000" });
  const shown = await page.$$eval("tbody tr", (all) => all.length);
  assert.equal(shown, Math.min(rows.length, 50));
  assert.ok(rows.length > 0);

  await page.goto(`${url}/?project=prj_demo&view=heatmaps&path=/&device=mobile`);
  const { points } = await visit.read("heatmaps", { path: "/", device: "mobile" });
  const busiest = points.find(({ fixed }: Json) => fixed === false);
  await page.waitForSelector(".heatmaps-page canvas");
  await visit.settled(page);
  await page.evaluate(
    `(() => {
      const page = document.querySelector(".heatmaps-page");
      const { left, top, width } = page.getBoundingClientRect();
      const scale = width / 390;
      const [clientX, clientY] = [left + ${busiest.x} * width, top + ${busiest.y} * scale];
      page.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX, clientY }));
    })()`,
  );
  await visit.sees(page, `by ${busiest.visitors} visitor`, ".heatmaps-facts");
  const there = await follow(visit, page, "People who clicked there");
  assert.match(there, new RegExp(`${busiest.visitors} (?:person|people): Clicked at`));

  const who = "somebody who is there";
  const event = { eventId: crypto.randomUUID(), name: "page_view", path: "/now", userId: who };
  const { key } = await visit.server.key("prj_demo", { kind: "public" });
  const sent = await visit.server.post({ id: "prj_demo", publicKey: key, secretKey: "" }, [event]);
  assert.equal(sent.status, 200);
  await page.goto(`${url}/?project=prj_demo`);
  assert.match(
    await follow(visit, page, "minutes on /now"),
    /1 person: There in the last 5 minutes, on \/now/,
  );
  assert.deepEqual(await heads(page, "People, last seen first"), [who]);
});

for (const scheme of ["light", "dark"] as const) {
  test(`Visits and people: accessible in ${scheme}, wide and on a phone`, async (visit) => {
    const { rows } = await visit.read("visits", { goal: GOAL.slug, limit: "1" });
    const { id, actor } = rows[0];
    const page = await visit.open("view=visits", { scheme });
    for (const query of ["visits", `visits&visit=${id}`, "people", `people&person=${actor}`]) {
      await page.goto(`${visit.world.url}/?project=prj_demo&view=${query}`);
      await assertFits(visit, page, `${query.replace(/=.*/, "").replace("&", "-")}-${scheme}`);
      for (const width of [1440, 1700]) {
        await page.setViewport({ width, height: 900 });
        // A window may have its new width before its styles have.
        const parts = ".visits-table :is(.table-scroll, .visit-text)";
        const whole = `[...document.querySelectorAll("${parts}")].every((each) =>
          each.scrollWidth <= each.clientWidth && each.scrollHeight <= each.clientHeight + 1)`;
        await visit.until(page, whole, `${query} is whole at ${width} px`);
      }
    }
  });
}

test("Visits and people: nothing in a project without events, and an id that nobody has", async (visit) => {
  const page = await visit.open("view=visits", { project: "prj_empty" });
  await visit.sees(page, "No visits in this range");
  await page.goto(`${visit.world.url}/?project=prj_empty&view=people`);
  await visit.sees(page, "Nobody was here in this range");
  visit.expectedFaults.push("404");
  await page.goto(`${visit.world.url}/?project=prj_empty&view=visits&visit=nothing`);
  await visit.sees(page, "There is no visit with this id.");
});

Deno.test("The days of a bucket, as far as they lie in the range", () => {
  const range = { from: "2026-01-07", to: "2026-02-10" };
  const of = (label: string, interval: "hour" | "day" | "week" | "month") =>
    datesOfBucket(label, interval, range);
  assert.deepEqual(of("2026-01-08", "day"), { from: "2026-01-08", to: "2026-01-08" });
  assert.deepEqual(of("2026-01-05", "week"), { from: "2026-01-07", to: "2026-01-11" });
  assert.deepEqual(of("2026-02-09", "week"), { from: "2026-02-09", to: "2026-02-10" });
  assert.deepEqual(of("2026-01", "month"), { from: "2026-01-07", to: "2026-01-31" });
  assert.deepEqual(of("2026-02", "month"), { from: "2026-02-01", to: "2026-02-10" });
  assert.equal(of("2026-01-08 10:00", "hour"), null);
});

Deno.test("A click's place on the picture: in its middle, at an edge where the page ends, or not on it", () => {
  const desktop = { width: 1440, height: 3_000 };
  assert.deepEqual(placeOnPicture(desktop, { x: 0.5, y: 1_500 }), {
    ...{ widthPx: 480, left: 120, top: 434, markX: 120, markY: 66 },
  });
  assert.deepEqual(placeOnPicture(desktop, { x: 0, y: 0 }), {
    ...{ widthPx: 480, left: 0, top: 0, markX: 0, markY: 0 },
  });
  const phone = placeOnPicture({ width: 390, height: 844 }, { x: 1, y: 844 })!;
  assert.deepEqual([phone.widthPx, phone.left, phone.markX].map(Math.round), [240, 0, 240]);
  assert.equal(Math.round(phone.markY), 132);
  assert.equal(placeOnPicture(desktop, { x: 0.5, y: 3_001 }), null);
  assert.equal(placeOnPicture(desktop, { x: 1.1, y: 10 }), null);
});

Deno.test("Visits in words: places, conversions and what they are worth", () => {
  setLocale("en-US");
  assert.equal(placeText({ country: "DE", region: "Berlin", city: "Berlin" }), "Berlin, Germany");
  assert.equal(placeText({ country: null }), "–");
  const value = { amount: 12.5, currency: "EUR" };
  const buy = { slug: "buy", title: "Buy it" };
  assert.equal(conversionText({ ...buy, totalConversions: 2, value }), "Buy it × 2, €12.50");
  const none = { amount: null, currency: null };
  assert.equal(conversionText({ ...buy, totalConversions: 1, value: none }), "Buy it");
  assert.equal(worthText([value, { amount: 3, currency: "USD" }]), "€12.50 + $3.00");
  assert.equal(worthText([]), "–");
});
