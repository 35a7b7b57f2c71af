/** What stays as it was: what is shown and typed while requests fail or run, and where one was. */
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { enter, fill, press, pressByKey, returnLater } from "./acts.ts";
import { ALL_SCOPES, dashboardWorld, type Visit } from "./page.ts";

const test = dashboardWorld();

async function opened(visit: Visit, project: string): Promise<Page> {
  const page = await visit.open("view=settings", { project });
  await page.waitForSelector(".settings-install");
  await visit.settled(page);
  return page;
}

test("A view that cannot be loaded says so, and is there when it is tried again", async (visit) => {
  visit.expectedFaults.push("Failed to load resource");
  let isAway = true;
  visit.intercept = (request) =>
    isAway && request.url().includes("/assets/settings-") ? { status: 503 } : undefined;
  const page = await visit.open("view=settings");
  await visit.sees(page, "This part of the page could not be loaded.");
  isAway = false;
  await press(page, "Try again");
  await page.waitForSelector(".settings-install");
  await visit.settled(page);
});

test("What is typed stays while the server cannot be reached", async (visit) => {
  const project = await visit.server.project({ name: "Own" });
  const page = await opened(visit, project.id);
  await fill(page, "Name", "Tea and");
  await page.evaluate(`{
    globalThis.failed = 0;
    const original = fetch;
    globalThis.fetch = (url, call) => {
      if (!String(url).includes("/v1/projects/")) return original(url, call);
      failed += String(url).includes("/keys");
      return Promise.reject(new TypeError("Failed to fetch"));
    };
    globalThis.connect = () => globalThis.fetch = original;
  }`);
  await returnLater(page);
  await visit.until(page, "failed > 1", "it is tried again");
  await visit.sees(page, "The server cannot be reached.", ".panel .banner");
  assert.equal(await page.$(".note-error, .panel[aria-busy=true]"), null);
  const typed = `[...document.querySelectorAll("input")].some(({ value }) => value === "Tea and")`;
  assert.ok(await page.evaluate(typed));
  // In a tab that nobody sees it is not tried.
  const looked = `new Promise((done) => {
    const look = () => (setTimeout(done, 200), true);
    Object.defineProperty(document, "hidden", { get: look, configurable: true });
  })`;
  await page.evaluate(looked);
  await page.evaluate("failed = 0");
  await page.evaluate(looked);
  assert.equal(await page.evaluate("failed"), 0);
  await page.evaluate("delete document.hidden, connect()");
  await visit.until(page, `document.querySelector(".panel .banner") === null`);
  assert.ok(await page.evaluate(typed));
  await visit.settled(page);
});

test("Why a form was refused is seen, on a phone too, where it is taller than the window", async (visit) => {
  visit.expectedFaults.push("Failed to load resource");
  let isAway = true;
  visit.intercept = (request) =>
    isAway && request.method() === "POST" && request.url().endsWith("/v1/people")
      ? { status: 503 }
      : undefined;
  const token = await visit.token(`${ALL_SCOPES} people`);
  const size = { widthPx: 390, heightPx: 500 };
  const page = await visit.open("view=settings&section=people", { ...size, token });
  const isSeen = `(() => {
    const [message, body] = ["[role=alert]", ".dialog-body"].map((selector) =>
      document.querySelector("dialog " + selector)?.getBoundingClientRect());
    return message && message.top >= body.top - 1 && message.bottom <= body.bottom + 1;
  })()`;
  await press(page, "Invite somebody");
  await fill(page, "E-mail", "nobody");
  await press(page, "Invite", "dialog");
  await visit.until(page, isSeen);
  isAway = false;
  // The server refuses the address, whose field is at the beginning.
  await page.$eval(".dialog-body", (body) => body.scrollTop = body.scrollHeight);
  await press(page, "Invite", "dialog");
  await visit.sees(page, "Give an e-mail address", "dialog");
  await visit.until(page, isSeen);
});

test("What failed without a network is read again as soon as there is one", async (visit) => {
  const page = await visit.open("view=overview");
  await visit.sees(page, "in 30 minutes");
  await visit.settled(page);
  // Nothing is tried again after a while.
  await page.evaluate(`{
    const [set, original] = [setTimeout, fetch];
    globalThis.setTimeout = (work, waitMs, ...rest) => waitMs < 2_000 ? set(work, waitMs, ...rest) : 0;
    globalThis.setInterval = () => 0;
    globalThis.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    globalThis.connect = () => globalThis.fetch = original;
  }`);
  await page.click(".row-button");
  await visit.sees(page, "The server cannot be reached.");
  await visit.sees(page, "Live visitors cannot be read now");
  await page.evaluate(`connect(), dispatchEvent(new Event("online"))`);
  await visit.sees(page, "in 30 minutes");
  await visit.until(page, `!document.body.innerText.includes("The server cannot be reached.")`);
  await visit.settled(page);
});

/** What stands in front of a server answers so while it is away, and the server itself as it stops. */
const OUTAGES = {
  "a proxy's page": { status: 502, contentType: "text/html", body: "<h1>502 Bad Gateway</h1>" },
  "a proxy's JSON": { status: 503, body: `{"message":"Service Unavailable"}` },
  "a server that stops": {
    status: 503,
    body: JSON.stringify({ code: "shutting_down", detail: "The server is stopping." }),
  },
};

for (const [what, answer] of Object.entries(OUTAGES)) {
  test(`Figures stay during an outage, and come anew after it: ${what}`, async (visit) => {
    visit.expectedFaults.push("Failed to load resource");
    const page = await visit.open("view=overview");
    await visit.settled(page);
    const tiles = await visit.text(page, ".overview-tiles");
    visit.intercept = (request) => request.url().includes("/v1/") ? answer : undefined;
    await returnLater(page);
    await visit.sees(page, "The server", ".panel .banner");
    assert.equal(await page.$(".note-error"), null);
    assert.equal(await visit.text(page, ".overview-tiles"), tiles);
    // Of what was never read there is nothing to keep.
    await page.select(".bar select", "7d");
    await visit.sees(page, "This could not be loaded");
    visit.intercept = () => undefined;
    await visit.until(page, `document.querySelector(".note-error, .panel .banner") === null`);
    await visit.settled(page);
    assert.notEqual(await visit.text(page, ".overview-tiles"), tiles);
  });
}

test("A button that was pressed while the server was away is pressed again by Enter", async (visit) => {
  visit.expectedFaults.push("Failed to load resource");
  const page = await visit.open("view=settings&section=sharing");
  await press(page, "Share a dashboard");
  await fill(page, "Title", "For investors");
  visit.intercept = (request) => request.method() === "POST" ? { status: 502 } : undefined;
  await enter(page, "Make the link");
  await visit.sees(page, "The server cannot be reached.", "dialog");
  visit.intercept = () => undefined;
  await page.keyboard.press("Enter");
  await visit.sees(page, "Whoever has this link sees the dashboard", "dialog");
});

test("What is typed while the settings are being saved stays", async (visit) => {
  const project = await visit.server.project({ name: "Own" });
  const page = await opened(visit, project.id);
  await page.evaluate(`{
    const original = fetch;
    globalThis.fetch = async (url, call) => {
      if (call?.method === "PATCH") {
        await new Promise((go) => globalThis.answer = go);
        globalThis.fetch = original;
      }
      return original(url, call);
    };
  }`);
  await fill(page, "Name", "Teapots");
  await press(page, "Save changes");
  await visit.until(page, `"answer" in globalThis`);
  await fill(page, "Site URL", "https://teapots.example");
  await page.evaluate("answer()");
  await visit.sees(page, "Saved");
  await visit.settled(page);
  const stored = async () => {
    const { body } = await visit.server.admin("GET", `/v1/projects/${project.id}`);
    return [body.name, body.siteUrl];
  };
  assert.deepEqual(await stored(), ["Teapots", null]);
  await press(page, "Save changes");
  const saved = `[...document.querySelectorAll(".settings-actions button")].some((each) =>
    each.textContent === "Save changes" && each.disabled)`;
  await visit.until(page, saved);
  assert.deepEqual(await stored(), ["Teapots", "https://teapots.example"]);
});

test("Visits: who goes back from one is where the list was left", async (visit) => {
  const page = await visit.open("view=visits");
  await visit.settled(page);
  await page.evaluate("scrollTo(0, 600)");
  const open = `document.querySelector(".visits-table .row-button").click()`;
  await page.evaluate(open);
  await page.waitForSelector(".story");
  await visit.until(page, "scrollY === 0");
  await visit.settled(page);
  await page.goBack();
  await visit.until(page, `document.querySelector(".story") === null`);
  await visit.settled(page);
  assert.equal(await page.evaluate("scrollY"), 600);
});

test("The focus stays at the end of a list while more of it is asked for", async (visit) => {
  const more = "Show more";
  const focus = `document.activeElement.className`;
  const isMore = `document.activeElement.textContent === ${JSON.stringify(more)}`;
  const rows = `document.querySelectorAll("tbody tr").length`;
  const page = await visit.open("view=people");
  await visit.until(page, `${rows} === 50`);
  await pressByKey(page, more);
  await visit.until(page, `${rows} === 100 && ${isMore}`);
  const buttons = `[...document.querySelectorAll("button")].map((each) => each.textContent)`;
  while (await page.evaluate(`${buttons}.includes(${JSON.stringify(more)})`)) {
    const before = Number(await page.evaluate(rows));
    await page.keyboard.press("Enter");
    await visit.until(page, `${rows} > ${before}`);
  }
  // After the last page the button has gone: the next stop is beside it.
  await visit.until(page, `${focus} === "table-foot"`);
});
