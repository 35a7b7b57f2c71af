import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { bucketOfNote, instantOf, localTime } from "../../src/dashboard/note_times.ts";
import { fill, press } from "./acts.ts";
import { assertAccessible } from "./axe.ts";
import { dashboardWorld, DEMO, type Visit } from "./page.ts";

const test = dashboardWorld();

Deno.test("notes: a note stands in the bucket of its local time", () => {
  const berlin = "Europe/Berlin";
  const days = ["2026-10-24", "2026-10-25", "2026-10-26"];
  const of = (labels: readonly string[], interval: never, at: string) =>
    bucketOfNote(labels, interval, at, berlin);
  assert.equal(of(days, "day" as never, "2026-10-25"), 1);
  assert.equal(of(days, "day" as never, "2026-10-25T22:30:00Z"), 1);
  assert.equal(of(days, "day" as never, "2026-10-25T23:30:00Z"), 2);
  assert.equal(of(days, "day" as never, "2026-10-27"), null);
  assert.equal(of(days, "day" as never, "2026-10-23"), null);
  const weeks = ["2026-10-19", "2026-10-26"];
  assert.equal(of(weeks, "week" as never, "2026-10-25"), 0);
  assert.equal(of(weeks, "week" as never, "2026-11-01"), 1);
  assert.equal(of(weeks, "week" as never, "2026-11-02"), null);
  const months = ["2026-09", "2026-10"];
  assert.equal(of(months, "month" as never, "2026-10-31"), 1);
  assert.equal(of(months, "month" as never, "2026-11-01"), null);
  const hours = ["2026-10-25 00:00", "2026-10-25 01:00", "2026-10-25 02:00", "2026-10-25 03:00"];
  assert.equal(of(hours, "hour" as never, "2026-10-25"), 0);
  assert.equal(of(hours, "hour" as never, "2026-10-24T23:59:00Z"), 1);
  assert.equal(of(hours, "hour" as never, "2026-10-24"), null);
});

Deno.test("notes: a local time is an instant, and the same again", () => {
  for (
    const [date, time, zone, instant] of [
      ["2026-01-31", "23:30", "Europe/Berlin", "2026-01-31T22:30:00.000Z"],
      ["2026-07-01", "00:15", "America/New_York", "2026-07-01T04:15:00.000Z"],
      ["2026-03-29", "03:30", "Europe/Berlin", "2026-03-29T01:30:00.000Z"],
      ["2026-06-01", "12:00", "Asia/Kathmandu", "2026-06-01T06:15:00.000Z"],
    ] as const
  ) {
    assert.equal(instantOf(date, time, zone), instant);
    assert.deepEqual(localTime(instant, zone), { date, time });
  }
  assert.deepEqual(localTime("2026-01-31", "UTC"), { date: "2026-01-31", time: "" });
});

Deno.test("notes: a time that a clock change skips is as much later, east and west", () => {
  for (
    const [date, wanted, zone, instant, time] of [
      ["2026-03-29", "02:30", "Europe/Berlin", "2026-03-29T01:30:00.000Z", "03:30"],
      ["2026-03-08", "02:30", "America/New_York", "2026-03-08T07:30:00.000Z", "03:30"],
      ["2026-10-04", "02:15", "Australia/Lord_Howe", "2026-10-03T15:45:00.000Z", "02:45"],
    ] as const
  ) {
    assert.equal(instantOf(date, wanted, zone), instant, zone);
    assert.deepEqual(localTime(instant, zone), { date, time });
  }
});

const dayOf = (daysAgo: number) =>
  new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

async function noted(visit: Visit, at: string, text: string): Promise<string> {
  const reply = await visit.server.admin("POST", `/v1/notes?project=${DEMO}`, { at, text });
  assert.equal(reply.status, 201);
  return reply.body.id;
}

async function marks(page: Page): Promise<string[]> {
  return await page.$$eval(
    ".chart-note-button",
    (all) => all.map((each) => each.getAttribute("aria-label")!),
  );
}

const opened = async (visit: Visit, query = "", options = {}) => {
  const page = await visit.open(query, options);
  await page.waitForSelector(".chart");
  await visit.settled(page);
  return page;
};

test("notes: added, read, changed and deleted from the chart, by keyboard", async (visit) => {
  const page = await opened(visit);
  assert.deepEqual(await marks(page), []);
  await press(page, "Note");
  await page.waitForSelector("dialog[open]");
  await press(page, "Add", "dialog");
  await visit.sees(page, "Write a few words.", "dialog");
  await fill(page, "What happened", "Version <b>2</b> is live");
  await press(page, "Add", "dialog");
  await visit.until(page, `document.querySelectorAll(".chart-note-button").length === 1`);
  const { notes: [note] } = await visit.read("notes");
  assert.equal(note.text, "Version <b>2</b> is live");
  assert.match(note.at, /^\d{4}-\d{2}-\d{2}$/);
  const [label] = await marks(page);
  assert.ok(label!.endsWith(": Version <b>2</b> is live"), label);

  // Its text is seen by who comes there with Tab, and it opens with Enter.
  await page.focus(".chart");
  await page.keyboard.press("Tab");
  await visit.until(page, `document.activeElement.classList.contains("chart-note-button")`);
  await visit.sees(page, "Version <b>2</b> is live", ".chart-note-text");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog .note-entry");
  await press(page, "Change", "dialog");
  await fill(page, "What happened", "Version 3 is live");
  await fill(page, "Time", "10:30");
  await press(page, "Save", "dialog");
  await visit.until(
    page,
    `document.querySelector(".chart-note-button")?.ariaLabel.endsWith("Version 3 is live")`,
  );
  const { notes: [changed] } = await visit.read("notes");
  assert.deepEqual([changed.id, changed.at.length], [note.id, 24]);

  await page.click(".chart-note-button");
  await page.waitForSelector("dialog .note-entry");
  await press(page, "Delete", "dialog");
  await visit.sees(page, "Delete this note?", "dialog");
  await press(page, "Delete", "dialog .dialog-foot");
  await visit.until(page, `document.querySelector(".chart-note-button") === null`);
  assert.deepEqual((await visit.read("notes")).notes, []);
});

test("notes: they stand on every time chart, those of a range alone, and are read by viewers", async (visit) => {
  const ids = [
    await noted(visit, dayOf(3), "Mentioned in the news"),
    await noted(visit, `${dayOf(10)}T12:00:00Z`, "Version 2.4 is live"),
    await noted(visit, dayOf(60), "Long ago"),
  ];
  const token = await visit.token("read");
  for (const query of ["", "view=trends&event=page_view", "view=goals&goal=purchase"]) {
    const page = await opened(visit, query, { token });
    await visit.until(page, `document.querySelectorAll(".chart-note-button").length === 2`, query);
    const [first, second] = await marks(page);
    assert.ok(first!.endsWith("Version 2.4 is live") && second!.endsWith("in the news"), query);
    const buttons = await visit.text(page, ".chart-buttons");
    assert.ok(!buttons.includes("Note"), "who may not write is not asked to");
    await page.close();
  }
  const week = await opened(visit, "range=7d", { token });
  await visit.until(week, `document.querySelectorAll(".chart-note-button").length === 1`);
  for (const scheme of ["light", "dark"] as const) {
    const page = await opened(visit, "", { scheme });
    await visit.until(page, `document.querySelectorAll(".chart-note-button").length === 2`);
    for (const [widthPx, heightPx] of [[1440, 900], [390, 844]] as const) {
      await page.setViewport({ width: widthPx, height: heightPx });
      await visit.settled(page);
      await page.focus(".chart-note-button");
      await visit.picture(page, `notes-${scheme}-${widthPx}`);
      await assertAccessible(page, `notes, ${widthPx} px`);
    }
  }
  for (const id of ids) await visit.server.admin("DELETE", `/v1/notes/${id}?project=${DEMO}`);
});

test("notes: those that would overlap share a mark", async (visit) => {
  const ids = [
    await noted(visit, dayOf(5), "First"),
    await noted(visit, dayOf(5), "Second"),
  ];
  const page = await opened(visit);
  await visit.until(page, `document.querySelectorAll(".chart-note-button").length === 1`);
  assert.equal(await visit.text(page, ".chart-note-button"), "2");
  await page.click(".chart-note-button");
  await page.waitForSelector("dialog .note-entry");
  assert.equal((await page.$$("dialog .note-entry")).length, 2);
  for (const id of ids) await visit.server.admin("DELETE", `/v1/notes/${id}?project=${DEMO}`);
});

test("notes: a share shows none, and asks for none", async (visit) => {
  const id = await noted(visit, dayOf(3), "For us alone");
  const share = await visit.server.admin("POST", `/v1/projects/${DEMO}/shares`, {
    title: "Board",
    views: ["overview"],
  });
  const asked: string[] = [];
  visit.intercept = (request) => {
    asked.push(new URL(request.url()).pathname);
    return undefined;
  };
  const page = await visit.openAt(`${visit.world.url}/share/${share.body.id}`);
  await page.waitForSelector(".chart");
  await visit.settled(page);
  assert.deepEqual(await marks(page), []);
  assert.ok(!asked.includes("/v1/notes"));
  await visit.server.admin("DELETE", `/v1/notes/${id}?project=${DEMO}`);
});
