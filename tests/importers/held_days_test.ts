/** Which days an import of sums tells of: those that its files hold. */
import assert from "node:assert/strict";
import type { ImportedDay } from "../../src/imported/imported_sums.ts";
import { FATHOM } from "../../src/importers/sums/fathom.ts";
import { PLAUSIBLE } from "../../src/importers/sums/plausible.ts";
import { gathered, valuesOf } from "./read_sums.ts";
import { csvFile } from "./rows.ts";

/** The days of a dimension that are told. */
const daysOf = (days: readonly ImportedDay[], wanted: string) =>
  days.filter(({ dimension }) => dimension === wanted).map(({ day }) => day);

Deno.test("sums of Plausible: days between two exports, which neither covers, are left out", async () => {
  const visitors = (span: string, day: string) =>
    csvFile(`imported_visitors_${span}.csv`, [
      ["date", "visitors", "pageviews", "bounces", "visits", "visit_duration"],
      [day, 10, 30, 6, 12, 600],
    ]);
  const pages = (span: string, ...rows: (readonly unknown[])[]) =>
    csvFile(`imported_pages_${span}.csv`, [["date", "page", "visitors", "pageviews"], ...rows]);
  const { sums, days } = await gathered(PLAUSIBLE, [
    visitors("20240106_20240107", "2024-01-07"),
    visitors("20240101_20240102", "2024-01-01"),
    pages("20240101_20240102", ["2024-01-01", "/", 8, 20]),
    pages("20240106_20240107"),
  ]);
  const held = ["2024-01-01", "2024-01-02", "2024-01-06", "2024-01-07"];
  assert.deepEqual(daysOf(days, "all"), held);
  assert.deepEqual(daysOf(days, "path"), held, "also those that are told to have no page");
  assert.deepEqual(
    [sums.dayCount, sums.countDays(), sums.countDays("2024-01-06"), sums.countDays("2024-02-01")],
    [8, 4, 2, 4],
  );
  assert.deepEqual(sums.extent, { first: "2024-01-01", last: "2024-01-07" });
});

Deno.test("sums of Fathom: each dimension is of the days of its own files", async () => {
  const site = csvFile("site-2025.csv", [
    ["Timestamp", "Pageviews", "Visits", "Uniques"],
    ["2025-11-29 00:00:00", 10, 4, 3],
    ["2025-12-01 00:00:00", 20, 8, 6],
  ]);
  const pages = csvFile("pages-dec.csv", [
    ["Timestamp", "Pathname", "Views", "Uniques"],
    ["2025-12-01 00:00:00", "/", 15, 5],
    ["2025-12-01 00:00:00", "/a", 4, 2],
    ["2025-12-03 00:00:00", "/", 7, 5],
  ]);
  const { days } = await gathered(FATHOM, [site, pages]);
  assert.deepEqual(daysOf(days, "path"), ["2025-12-01", "2025-12-02", "2025-12-03"]);
  const whole = (day: string) => valuesOf(days, "all", day).null;
  assert.deepEqual(whole("2025-11-29"), { visitors: 3, visits: 4, pageviews: 10, events: 10 });
  assert.deepEqual(whole("2025-11-30"), { visitors: 0, visits: 0, pageviews: 0, events: 0 });
  assert.deepEqual(whole("2025-12-01"), { visitors: 6, visits: 8, pageviews: 20, events: 20 });
  // Nothing else tells of these days as a whole.
  assert.deepEqual(whole("2025-12-02"), { pageviews: 0, events: 0 });
  assert.deepEqual(whole("2025-12-03"), { pageviews: 7, events: 7 });
});

Deno.test("sums of Fathom: days with events alone are left out, and counted", async () => {
  const events = csvFile("events.csv", [
    ["Timestamp", "Event Name", "Completions"],
    ["2025-12-01 00:00:00", "Signup", 2],
    ["2025-12-02 00:00:00", "Signup", 1],
    ["2025-12-03 00:00:00", "Signup", 0],
  ]);
  const alone = await gathered(FATHOM, [events]);
  assert.deepEqual([alone.days, alone.sums.extent, alone.sums.dayCount], [[], null, 0]);
  assert.equal(alone.sums.eventDaysAlone, 2);
  const site = csvFile("site.csv", [
    ["Timestamp", "Pageviews", "Visits", "Uniques"],
    ["2025-12-01 00:00:00", 10, 4, 3],
  ]);
  const beside = await gathered(FATHOM, [events, site]);
  assert.deepEqual(daysOf(beside.days, "all"), ["2025-12-01"]);
  assert.equal(valuesOf(beside.days, "all", "2025-12-01").null?.events, 12);
  assert.equal(beside.sums.eventDaysAlone, 1);
});
