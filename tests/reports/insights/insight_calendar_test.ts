import assert from "node:assert/strict";
import { type Calendar, calendarOf } from "../../../src/reports/insights/insight_calendar.ts";
import { readRange } from "../../../src/query/range.ts";

const ZONE = "Europe/Berlin";

function calendar(
  from: string,
  to: string,
  asOf = "2026-11-21T12:00:00Z",
  firstEvent = "2026-01-01T00:00:00Z",
): Calendar | null {
  const asOfMs = Date.parse(asOf);
  const range = readRange(new URLSearchParams({ from, to }), ZONE, asOfMs);
  return calendarOf(range, asOfMs, Date.parse(firstEvent));
}

const told = (ms: number) => new Date(ms).toISOString().slice(5, 16);

/** From when to when a day counts, its segments taken together. */
function dayOf({ segments }: Calendar, day: number): string {
  const own = segments.filter((segment) => segment.day === day);
  own.slice(1).forEach((segment, i) => assert.equal(segment.fromMs, own[i]!.toMs));
  return own.length === 0 ? "" : `${told(own[0]!.fromMs)} ${told(own.at(-1)!.toMs)}`;
}

function periodOf({ segments }: Calendar, period: "current" | "previous"): string {
  const own = segments.filter((segment) => segment.period === period);
  own.slice(1).forEach((segment, i) => assert.equal(segment.fromMs, own[i]!.toMs));
  return `${told(own[0]!.fromMs)} ${told(own.at(-1)!.toMs)}`;
}

Deno.test("a week: its weekdays in the four weeks before, across a clock change", () => {
  // Sunday 25 October has 25 hours.
  const week = calendar("2026-10-23", "2026-10-29")!;
  assert.equal(week.weeks, 4);
  assert.deepEqual(week.days, [1, 1, 1, 1, 1, 1, 1]);
  assert.deepEqual(week.weekdays.slice(0, 8), [4, 5, 6, 0, 1, 2, 3, 4]);
  assert.equal(week.weekdays.length, 28);
  assert.equal(periodOf(week, "current"), "10-22T22:00 10-29T23:00");
  assert.equal(periodOf(week, "previous"), "10-15T22:00 10-22T22:00");
  assert.equal(dayOf(week, 0), "10-15T22:00 10-16T22:00");
  assert.equal(dayOf(week, 27), "09-30T22:00 10-01T22:00");
  assert.equal(dayOf(week, 28), "10-22T22:00 10-23T22:00");
  assert.equal(dayOf(week, 30), "10-24T22:00 10-25T23:00");
  assert.equal(dayOf(week, 35), "");
  // Without gaps from the first of the weeks before to the end of the range.
  week.segments.slice(1).forEach(({ fromMs }, i) => assert.equal(fromMs, week.segments[i]!.toMs));
  assert.equal(told(week.segments[0]!.fromMs), "09-24T22:00");
});

Deno.test("parts of days are compared with the same parts of earlier days", () => {
  const instants = calendar("2026-10-20T15:00:00Z", "2026-10-22T09:00:00Z")!;
  assert.deepEqual(instants.days, [0, 1, 1, 1, 0, 0, 0]);
  assert.equal(dayOf(instants, 0), "10-13T15:00 10-13T22:00");
  assert.equal(dayOf(instants, 1), "10-13T22:00 10-14T22:00");
  assert.equal(dayOf(instants, 2), "10-14T22:00 10-15T09:00");
  assert.equal(dayOf(instants, 3), "10-15T22:00 10-16T22:00");
  assert.equal(periodOf(instants, "previous"), "10-18T21:00 10-20T15:00");

  const today = calendar("2026-10-22", "2026-10-22", "2026-10-22T09:00:00Z")!;
  assert.equal(dayOf(today, 0), "10-14T22:00 10-15T09:00");
  assert.equal(dayOf(today, 28), "10-21T22:00 10-22T09:00");
  assert.equal(periodOf(today, "previous"), "10-20T22:00 10-21T09:00");
  assert.equal(periodOf(today, "current"), "10-21T22:00 10-22T22:00");
});

Deno.test("parts of days begin and end at local times, also when the clock changes", () => {
  // Sunday 25 October has 25 hours, the 29th of March 23.
  const of = (from: string, to: string) => calendar(from, to, "2026-11-21T12:00:00Z")!;
  const autumn = of("2026-10-25T11:00:00Z", "2026-10-25T17:00:00Z");
  // Twelve to six o'clock.
  assert.equal(dayOf(autumn, 28), "10-25T11:00 10-25T17:00");
  assert.equal(dayOf(autumn, 0), "10-18T10:00 10-18T16:00");
  const after = of("2026-04-05T10:00:00Z", "2026-04-05T16:00:00Z");
  assert.equal(dayOf(after, 0), "03-29T10:00 03-29T16:00");
  assert.equal(dayOf(after, 7), "03-22T11:00 03-22T17:00");
  // Half past two is skipped that day, and comes twice in autumn.
  assert.equal(
    dayOf(of("2026-04-05T00:30:00Z", "2026-04-05T02:00:00Z"), 0),
    "03-29T01:30 03-29T02:00",
  );
  const twice = of("2026-10-25T00:30:00Z", "2026-10-25T01:15:00Z");
  assert.equal(dayOf(twice, 28), "10-25T00:30 10-25T01:15");
  assert.equal(dayOf(twice, 0), "");
});

Deno.test("only the days of up to a week are listed one by one", () => {
  const week = calendar("2026-10-16", "2026-10-22", "2026-10-22T09:00:00Z")!;
  assert.deepEqual(week.rangeWeekdays, [4, 5, 6, 0, 1, 2, 3]);
  // Seven whole days, and a part of an eighth.
  const longer = calendar("2026-10-15", "2026-10-22", "2026-10-22T09:00:00Z")!;
  assert.deepEqual([longer.rangeWeekdays, longer.days], [[], [1, 1, 1, 1, 1, 1, 1]]);
});

Deno.test("in a range of more than a week, only whole days are compared by weekday", () => {
  const days = calendar("2026-10-10", "2026-10-22", "2026-10-22T09:00:00Z")!;
  // Saturday the 10th to Wednesday the 21st.
  assert.deepEqual(days.days, [2, 2, 2, 1, 1, 2, 2]);
  assert.equal(dayOf(days, 28 + 12), "");
  assert.equal(dayOf(days, 5), "10-07T22:00 10-08T22:00");
});

Deno.test("only weeks within the project's history are compared", () => {
  const of = (firstEvent: string) => calendar("2026-10-20", "2026-10-22", undefined, firstEvent);
  // Four weeks before the 20th: the 22nd of September, local.
  assert.equal(of("2026-09-21T22:00:00Z")!.weeks, 4);
  assert.equal(of("2026-09-22T22:00:00Z")!.weeks, 3);
  assert.equal(of("2026-10-16T22:00:00Z")!.weeks, 0);
  assert.equal(of("2026-10-17T22:00:00Z"), null);
  // No part of the range has passed.
  assert.equal(calendar("2026-11-23", "2026-11-24"), null);
});

Deno.test("more than 2,000 days are refused: a shorter range is needed", () => {
  // 2026-06-23 is day 2,000 from 2021-01-01.
  assert.equal(calendar("2021-01-01", "2026-06-23", undefined, "2000-01-01T00:00:00Z")!.weeks, 4);
  const beyond = () => calendar("2021-01-01", "2026-06-24");
  const message = "Ask for at most 2000 days at once: take a shorter range.";
  const errors = [{ field: "from", code: "range_too_large", message }];
  assert.throws(beyond, { code: "range_too_large", detail: message, options: { errors } });
});
