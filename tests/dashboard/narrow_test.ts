/** The narrowest windows that people have: nothing makes a view wider than they are, whatever it is called. */
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { press, tabTo } from "./acts.ts";
import { ALL_SCOPES, dashboardWorld, DEMO, EMPTY, type Visit } from "./page.ts";

const test = dashboardWorld();
const SIZE = { widthPx: 320, heightPx: 640 };
/** A name without any place to break it. */
const NAME = "W".repeat(120);
/** How far the page, or what an open dialog holds, goes beyond its right edge. */
const BEYOND = `(() => {
  const shown = document.querySelector("dialog[open] .dialog-body") ?? document.documentElement;
  return shown.scrollWidth - shown.clientWidth;
})()`;

async function assertNarrow(visit: Visit, page: Page, what: string): Promise<void> {
  await visit.settled(page);
  assert.equal(await page.evaluate(BEYOND), 0, `${what} is wider than its window by this many px`);
}

async function nameAll(visit: Visit): Promise<void> {
  const title = NAME;
  const put = async (path: string, body: Record<string, unknown>) => {
    const { status } = await visit.server.admin("PUT", `/v1/${path}/long?project=${DEMO}`, body);
    assert.ok(status < 300, path);
  };
  const match = { name: "page_view" };
  await put("goals", { title, match });
  await put("funnels", { title, steps: [{ ...match, label: NAME }, { name: "purchase" }] });
  await put("segments", { title, filters: [{ field: "path", op: "contains", values: ["/"] }] });
  await put("digests", { title, every: "daily" });
  await visit.server.project({ name: NAME });
}

const VIEWS = [
  ...["sites", "overview", "insights", "trends", "funnels", "journeys", "retention", "goals"],
  ...["heatmaps", "visits", "people", "vitals", "events", "settings"],
  ...["sharing", "people", "import", "notifications", "tokens", "audit"].map((id) =>
    `settings&section=${id}`
  ),
  "goals&goal=long",
  "funnels&funnel=long",
  "overview&segment=long",
  "trends&compare=segment:long",
  `overview&filters=${JSON.stringify([{ field: "title", op: "is", values: [NAME] }])}`,
];

test("narrow: no view is wider than 320 px, also with long names", async (visit) => {
  await nameAll(visit);
  for (const view of VIEWS) {
    const page = await visit.open(`view=${view}`, SIZE);
    await assertNarrow(visit, page, view);
    await page.close();
  }
});

test("narrow: nor where there are no events, one event or no goals yet", async (visit) => {
  await visit.server.project({ name: NAME });
  const one = await visit.server.project({ name: "One event" });
  await visit.server.post(one, [{
    eventId: crypto.randomUUID(),
    name: "page_view",
    url: `https://one.example/${NAME}`,
  }]);
  for (const project of [EMPTY, one.id]) {
    for (const view of ["overview", "goals", "heatmaps"]) {
      const page = await visit.open(`view=${view}`, { ...SIZE, project });
      await assertNarrow(visit, page, `${view} of ${project}`);
      await page.close();
    }
  }
});

test("narrow: large figures stay within their tiles, as links too", async (visit) => {
  const { id, ...project } = await visit.server.project({ name: "Dear" });
  const event = { eventId: crypto.randomUUID(), name: "buy", properties: { amount: 12345678.9 } };
  await visit.server.post({ id, ...project }, [event]);
  const value = { property: "amount", currency: "EUR" };
  const body = { title: "Dear", match: { name: "buy" }, value };
  const saved = await visit.server.admin("PUT", `/v1/goals/dear?project=${id}`, body);
  assert.equal(saved.status, 201);
  const page = await visit.open("view=goals&goal=dear", { ...SIZE, project: id });
  await visit.sees(page, "€12,345,678.90", ".tile-figure");
  const beyond = await page.$$eval(".tile-figure", (figures) =>
    figures.map((figure) => {
      const tile = figure.closest(".tile")!.getBoundingClientRect();
      return figure.getBoundingClientRect().right > tile.right ? figure.textContent : "";
    }).join(""));
  assert.equal(beyond, "");
  // Short ones are as large as ever, also where they lead to people.
  const funnel = await visit.open("view=funnels&funnel=checkout");
  await visit.settled(funnel);
  const sizes = await funnel.$$eval(
    ".tile-figure:has(a)",
    (figures) => figures.map((figure) => getComputedStyle(figure).fontSize),
  );
  assert.deepEqual([...new Set(sizes)], ["26px"]);
});

test("narrow: nor any part of a dialog", async (visit) => {
  await nameAll(visit);
  const goal = await visit.open("view=goals&goal=long", SIZE);
  await press(goal, "Delete");
  await assertNarrow(visit, goal, "the deletion of a goal");
  const notifications = await visit.open("view=settings&section=notifications", SIZE);
  await press(notifications, "New digest");
  await assertNarrow(visit, notifications, "a new digest");
  const token = await visit.token(`${ALL_SCOPES} people`);
  const people = await visit.open("view=settings&section=people", { ...SIZE, token });
  await press(people, "Invite somebody");
  await assertNarrow(visit, people, "an invitation");
  const low = await people.$$eval(
    ".choice-boxes .check",
    (boxes) => boxes.filter((box) => box.scrollHeight > box.clientHeight).length,
  );
  assert.equal(low, 0, "names that lie over the next one");
});

test("narrow: what stands below a name of the settings is read whole", async (visit) => {
  const email = `${"long".repeat(12)}@example.com`;
  const person = { email, role: "viewer", projects: ["*"] };
  assert.equal((await visit.server.admin("POST", "/v1/people", person)).status, 201);
  let hints = 0;
  for (const section of ["project", "sharing", "people", "tokens", "audit"]) {
    const page = await visit.open(`view=settings&section=${section}`, SIZE);
    await visit.settled(page);
    const cut = await page.evaluate(`[...document.querySelectorAll(".settings-hint")]
      .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)`);
    assert.deepEqual(cut, [], section);
    hints += await page.evaluate(`document.querySelectorAll(".settings-hint").length`) as number;
    await page.close();
  }
  assert.ok(hints > 0, "there are some");
});

test("narrow: what Tab comes to in a table that is wider than its dialog is read whole", async (visit) => {
  const page = await visit.open("", { ...SIZE, widthPx: 400 });
  await visit.settled(page);
  await press(page, "Details");
  await page.waitForSelector(".dialog .row-button");
  for (const name of ["What is Bounce rate?", "Organic Search", "Direct"]) {
    await tabTo(page, name);
    const [left, edge] = await page.evaluate(
      `[document.activeElement, document.activeElement.closest(".table-scroll")]
      .map((each) => each.getBoundingClientRect().left)`,
    ) as [number, number];
    assert.ok(left >= edge - 1, `${name} begins ${edge - left} px beyond the edge`);
  }
});

/** Which figures' names have a line that runs under the button beside it. */
const COVERED = `[...document.querySelectorAll(".tile")].flatMap((tile) => {
  const name = tile.querySelector(".tile-label");
  const button = tile.querySelector(":scope > .definition")?.getBoundingClientRect();
  if (name === null || button === undefined) return [];
  const range = document.createRange();
  range.selectNodeContents(name);
  const isCovered = [...range.getClientRects()].some(({ left, right, top, bottom }) =>
    right > button.left && left < button.right && bottom > button.top && top < button.bottom);
  return isCovered ? [name.textContent] : [];
})`;

test("narrow: no figure's name runs under its button, also where many stand in a row", async (visit) => {
  let tiles = 0;
  for (const view of ["overview", "funnels&funnel=checkout", "retention", "goals", "vitals"]) {
    const page = await visit.open(`view=${view}`);
    for (const width of [400, 821, 1101, 1241, 1280]) {
      await page.setViewport({ width, height: 800 });
      await visit.settled(page);
      assert.deepEqual(await page.evaluate(COVERED), [], `${view} at ${width}`);
    }
    tiles += Number(await page.evaluate(`document.querySelectorAll(".tile .tile-label").length`));
    await page.close();
  }
  assert.ok(tiles > 0, "there are some");
});

/** Of the page's only table: whether it is marked as cut off, and whether the mark can be seen. */
const CUT_OFF = `(() => {
  const table = document.querySelector(".table-scroll");
  return [table.hasAttribute("data-more"), getComputedStyle(table).boxShadow !== "none"];
})()`;

test("narrow: a table whose columns go on beyond its edge shows so, until it is at its end", async (visit) => {
  const page = await visit.open("view=visits", SIZE);
  await visit.settled(page);
  assert.deepEqual(await page.evaluate(CUT_OFF), [true, true]);
  await page.$eval(".table-scroll", (table) => table.scrollTo({ left: table.scrollWidth }));
  // The browser may give the style of the mark for a moment after the mark is gone.
  await visit.until(page, `${CUT_OFF}.join() === "false,false"`);
  await page.setViewport({ width: 1440, height: 900 });
  await visit.settled(page);
  assert.deepEqual(await page.evaluate(CUT_OFF), [false, false], "a wide window has room for it");
});

test("narrow: retention whose periods go on beyond its edge fades there, until it is at its end", async (visit) => {
  const page = await visit.open("view=retention", SIZE);
  await visit.settled(page);
  const fades =
    `getComputedStyle(document.querySelector(".retention-scroll")).maskImage !== "none"`;
  assert.equal(await page.evaluate(fades), true);
  await page.emulateMediaType("print");
  assert.equal(await page.evaluate(fades), false, "on paper it is whole");
  await page.emulateMediaType("screen");
  await visit.until(page, fades);
  await page.$eval(".retention-scroll", (table) => table.scrollTo({ left: table.scrollWidth }));
  await visit.until(page, `!(${fades})`);
});

test("narrow: on a common phone what goals are worth and which pages have captures is read whole", async (visit) => {
  for (const view of ["overview", "heatmaps"]) {
    const page = await visit.open(`view=${view}`, { ...SIZE, widthPx: 360 });
    await visit.settled(page);
    await visit.sees(page, view === "overview" ? "€" : "Captures");
    const cut = await page.$$eval(
      ".table-scroll",
      (tables) =>
        tables.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map((table) => table.querySelector("caption")?.textContent),
    );
    assert.deepEqual(cut, [], view);
    await page.close();
  }
});

test("narrow: no time between the steps of a funnel is broken over two lines", async (visit) => {
  const page = await visit.open("view=funnels&funnel=checkout", { ...SIZE, widthPx: 360 });
  await page.waitForSelector(".funnels-passage strong");
  await visit.settled(page);
  const lines = await page.$$eval(
    ".funnels-passage strong",
    (times) => times.map((time) => time.getClientRects().length),
  );
  assert.deepEqual([...new Set(lines)], [1]);
});

test("narrow: and in wide windows, what people are worth stands at the right, as numbers do", async (visit) => {
  for (const size of [SIZE, undefined]) {
    const page = await visit.open("view=people", size);
    await visit.settled(page);
    const aligned = await page.$$eval(
      "thead th:last-child, tbody tr:first-child td:last-child",
      (all) => all.map((each) => getComputedStyle(each as never).textAlign),
    );
    assert.deepEqual(aligned, ["right", "right"]);
    await page.close();
  }
});
