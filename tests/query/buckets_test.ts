import fc from "fast-check";
import assert from "node:assert/strict";
import { BUCKETS_MAX } from "../../src/limits.ts";
import { Problem } from "../../src/problem.ts";
import {
  bucketsOf,
  type Interval,
  readInterval,
  shownBucket,
  wholePeriods,
} from "../../src/query/buckets.ts";
import { type Range, readRange } from "../../src/query/range.ts";
import { ODD_CALENDARS } from "../fixtures/odd_calendars.ts";

const NOW = Date.parse("2026-11-21T04:00:00Z");
const HOUR_MS = 3_600_000;
const iso = (atMs: number) => new Date(atMs).toISOString();
const rangeOf = (from: string, to: string, timezone = "UTC") =>
  readRange(new URLSearchParams({ from, to, timezone }), "UTC", NOW);

function problem(code: string, field?: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, code);
    assert.equal(error.options.errors?.[0]?.field, field);
    return true;
  };
}

for (const { title, timezone, from, to, interval, buckets, end } of ODD_CALENDARS) {
  Deno.test(`bucketsOf: ${title}`, () => {
    const range = rangeOf(from, to, timezone);
    const found = bucketsOf(range, interval);
    assert.deepEqual(found.map(({ startMs, label }) => [iso(startMs), label]), buckets);
    const ends = [...buckets.slice(1).map(([start]) => start), end];
    assert.deepEqual(found.map(({ endMs }) => iso(endMs)), ends);
    assert.equal(found[0]?.fromMs, range.from.getTime());
    assert.equal(found.at(-1)?.toMs, range.to.getTime());
  });
}

Deno.test("bucketsOf: a local day has 24 hours, 23 or 25 where the clock changes", () => {
  const hours = (day: string, timezone: string) =>
    bucketsOf(rangeOf(day, day, timezone), "hour").map(({ label }) => Number(label.slice(11, 13)));
  const clock = Array.from({ length: 24 }, (_, hour) => hour);
  assert.deepEqual(hours("2026-06-01", "Europe/Berlin"), clock);
  assert.deepEqual(hours("2026-03-29", "Europe/Berlin"), clock.toSpliced(2, 1));
  assert.deepEqual(hours("2026-10-25", "Europe/Berlin"), clock.toSpliced(2, 0, 2));
  assert.deepEqual(hours("2026-11-01", "America/New_York"), clock.toSpliced(1, 0, 1));
  assert.deepEqual(hours("2026-03-29", "Asia/Beirut"), clock.slice(1));
  assert.deepEqual(hours("2026-10-04", "Australia/Lord_Howe"), clock);
  assert.deepEqual(hours("2026-04-05", "Australia/Lord_Howe"), clock.toSpliced(1, 0, 1));
  assert.deepEqual(hours("2026-01-01", "Asia/Kathmandu"), clock);
});

Deno.test("bucketsOf: the first and the last are clipped, and keep the bounds of their periods", () => {
  const range = rangeOf("2026-01-14T12:00:00Z", "2026-02-01T00:00:00.001Z");
  const shown = bucketsOf(range, "month").map((bucket) => [
    iso(bucket.startMs),
    iso(bucket.fromMs),
    iso(bucket.toMs),
    iso(bucket.endMs),
  ]);
  const [january, february] = ["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"];
  assert.deepEqual(shown, [
    [january, "2026-01-14T12:00:00.000Z", february, february],
    [february, february, "2026-02-01T00:00:00.001Z", "2026-03-01T00:00:00.000Z"],
  ]);
});

Deno.test("bucketsOf: 2,000 buckets are allowed, 2,001 are range_too_large", () => {
  const count = (from: string, to: string, interval: Interval) =>
    bucketsOf(rangeOf(from, to), interval).length;
  assert.equal(BUCKETS_MAX, 2000);
  // 2020-01-01 is day 1; day 2,000 is 2025-06-22.
  assert.equal(count("2020-01-01", "2025-06-22", "day"), 2000);
  assert.throws(
    () => count("2020-01-01", "2025-06-23", "day"),
    problem("range_too_large", "interval"),
  );
  // 2,000 hours are 83 days and 8 hours; clipped ones count too.
  assert.equal(count("2026-01-01T00:00:00Z", "2026-03-25T08:00:00Z", "hour"), 2000);
  for (const [from, to] of [["00:00:00Z", "08:00:00.001Z"], ["00:30:00Z", "08:30:00Z"]]) {
    const beyond = () => count(`2026-01-01T${from}`, `2026-03-25T${to}`, "hour");
    assert.throws(beyond, problem("range_too_large", "interval"));
  }
});

Deno.test("bucketsOf: up to 2,000 buckets, of whatever length", () => {
  const days = rangeOf("2020-01-01", "2025-06-22", "Europe/Berlin");
  const hours = rangeOf("2026-01-01", "2026-03-24", "Europe/Berlin");
  const decade = rangeOf("2016-01-01", "2025-12-31", "Europe/Berlin");
  assert.equal(bucketsOf(days, "day").length, 2_000);
  assert.equal(bucketsOf(hours, "hour").length, 1_992);
  assert.throws(() => bucketsOf(decade, "hour"), { code: "range_too_large" });
});

/** Returns a function for local time by Intl, such as `2026-10-25 02:00:00`. */
function localClock(timezone: string): (atMs: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: timezone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  return (atMs) => format.format(atMs);
}

const anyRange = fc.record({
  timezone: fc.constantFrom(
    ...["UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "America/St_Johns"],
    ...["Asia/Kathmandu", "Asia/Beirut", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo"],
    ...["Pacific/Chatham", "Africa/Casablanca", "Antarctica/Troll", "America/Havana"],
  ),
  fromMs: fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2035, 0) }),
  lengthMs: fc.integer({ min: 1, max: 60 * 24 * HOUR_MS }),
}).map(({ timezone, fromMs, lengthMs }) => rangeOf(iso(fromMs), iso(fromMs + lengthMs), timezone));

function assertPartition(range: Range, interval: Interval): void {
  const buckets = bucketsOf(range, interval);
  assert.equal(buckets[0]?.fromMs, range.from.getTime());
  assert.equal(buckets.at(-1)?.toMs, range.to.getTime());
  for (const [i, { startMs, fromMs, toMs, endMs }] of buckets.entries()) {
    assert.ok(startMs <= fromMs && fromMs < toMs && toMs <= endMs);
    if (i > 0) assert.equal(startMs, buckets[i - 1]?.endMs);
    if (i > 0) assert.equal(fromMs, buckets[i - 1]?.toMs);
  }
}

Deno.test("bucketsOf: any range falls into buckets without a gap", () => {
  const interval = fc.constantFrom<Interval>("hour", "day", "week", "month");
  fc.assert(fc.property(anyRange, interval, assertPartition), { numRuns: 300 });
});

Deno.test("bucketsOf: every hour begins on the hour of the local clock, or at a clock change", () => {
  fc.assert(
    fc.property(anyRange, (range) => {
      const clock = localClock(range.timezone);
      for (const { startMs, endMs, label } of bucketsOf(range, "hour")) {
        assert.ok(endMs - startMs <= HOUR_MS);
        assert.equal(label, `${clock(startMs).slice(0, 13)}:00`);
        assert.equal(label, `${clock(endMs - 1).slice(0, 13)}:00`);
        const offsetMs = (atMs: number) => Date.parse(`${clock(atMs)}Z`) - atMs;
        const changed = offsetMs(startMs) !== offsetMs(startMs - 1000);
        assert.ok(clock(startMs).endsWith(":00:00") || changed);
        if (endMs - startMs < HOUR_MS) {
          assert.ok(changed || offsetMs(endMs) !== offsetMs(endMs - 1000));
        }
      }
    }),
    { numRuns: 30 },
  );
});

Deno.test("bucketsOf: the label of a day is its date on the local clock from start to end", () => {
  fc.assert(
    fc.property(anyRange, (range) => {
      const clock = localClock(range.timezone);
      for (const { startMs, endMs, label } of bucketsOf(range, "day")) {
        assert.equal(clock(startMs).slice(0, 10), label);
        assert.equal(clock(endMs - 1).slice(0, 10), label);
        assert.ok(clock(startMs - 1000).slice(0, 10) < label);
      }
    }),
    { numRuns: 100 },
  );
});

Deno.test("shownBucket: complete where the whole period lies in the range and in the past", () => {
  const shown = (from: string, to: string, asOf: string) => {
    const range = rangeOf(from, to, "Europe/Berlin");
    return bucketsOf(range, "day").map((bucket) => shownBucket(bucket, range, Date.parse(asOf)));
  };
  const [first, second] = ["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"];
  assert.deepEqual(shown("2026-10-25", "2026-10-26", "2026-10-26T23:00:00Z"), [
    { start: first, label: "2026-10-25", complete: true },
    { start: second, label: "2026-10-26", complete: true },
  ]);
  const complete = (...query: [string, string, string]) => shown(...query).map((b) => b.complete);
  assert.deepEqual(complete("2026-10-25", "2026-10-26", "2026-10-26T22:59:59Z"), [true, false]);
  assert.deepEqual(complete("2026-10-25", "2026-10-26", "2026-10-20T00:00:00Z"), [false, false]);
  const late = "2027-01-01T00:00:00Z";
  assert.deepEqual(complete("2026-10-24T22:00:00.001Z", second, late), [false]);
  assert.deepEqual(complete(first, "2026-10-26T22:59:59Z", late), [true, false]);
  const clipped = shown("2026-10-25T10:00:00Z", "2026-10-25T11:00:00Z", late);
  assert.deepEqual(clipped, [{ start: first, label: "2026-10-25", complete: false }]);
});

Deno.test("readInterval: hour for two days, day beyond, week past 2,000 days", () => {
  const read = (from: string, to: string, timezone = "UTC", allowHour = true) =>
    readInterval(new URLSearchParams(), rangeOf(from, to, timezone), { allowHour });
  assert.equal(read("2026-01-01", "2026-01-01"), "hour");
  assert.equal(read("2026-01-01", "2026-01-02"), "hour");
  assert.equal(read("2026-01-01", "2026-01-03"), "day");
  // 49 hours, and still two days.
  assert.equal(read("2026-10-25", "2026-10-26", "Europe/Berlin"), "hour");
  assert.equal(read("2026-01-01T10:00:00Z", "2026-01-03T10:00:00Z"), "hour");
  assert.equal(read("2026-01-01T10:00:00Z", "2026-01-03T10:00:00.001Z"), "day");
  assert.equal(read("2026-01-01T10:00:00Z", "2026-01-02"), "hour");
  assert.equal(read("2026-01-01", "2026-01-01", "UTC", false), "day");
  assert.equal(read("2020-01-01", "2025-06-22"), "day");
  assert.equal(read("2020-01-01", "2025-06-23"), "week");
  assert.equal(read("2016-01-01", "2025-12-31"), "week");
  assert.equal(
    readInterval(new URLSearchParams("interval="), rangeOf("2026-01-01", "2026-01-09")),
    "day",
  );
});

Deno.test("readInterval: a given interval is used if the read has it", () => {
  const range = rangeOf("2026-01-01", "2026-01-01");
  const read = (interval: string, allowHour?: boolean) =>
    readInterval(
      new URLSearchParams({ interval }),
      range,
      ...allowHour === undefined ? [] : [{ allowHour }],
    );
  for (const interval of ["hour", "day", "week", "month"]) assert.equal(read(interval), interval);
  for (const interval of ["day", "week", "month"]) assert.equal(read(interval, false), interval);
  for (const interval of ["year", "Day", "days", "1", " "]) {
    assert.throws(() => read(interval), problem("invalid_parameter", "interval"));
  }
  assert.throws(() => read("hour", false), problem("invalid_parameter", "interval"));
});

Deno.test("wholePeriods: the range is widened, and more periods follow on request", () => {
  const range = rangeOf("2026-01-14", "2026-01-20");
  const labels = (following?: number) =>
    wholePeriods(range, "week", following).map(({ label }) => label);
  assert.deepEqual(labels(), ["2026-01-12", "2026-01-19"]);
  assert.deepEqual(labels(2), ["2026-01-12", "2026-01-19", "2026-01-26", "2026-02-02"]);
  for (const { startMs, fromMs, toMs, endMs } of wholePeriods(range, "week", 1)) {
    assert.deepEqual([fromMs, toMs], [startMs, endMs]);
    assert.equal(endMs - startMs, 7 * 24 * HOUR_MS);
  }
});

Deno.test("wholePeriods: bounded like buckets, and within the years 0001 to 9999", () => {
  const decade = rangeOf("2016-01-01", "2025-12-31");
  assert.throws(() => wholePeriods(decade, "day"), problem("range_too_large", "interval"));
  const first = rangeOf("0001-01-01T00:00:00Z", "0001-01-01T01:00:00Z", "America/New_York");
  assert.throws(() => wholePeriods(first, "week"), problem("invalid_parameter", "from"));
  const last = rangeOf("9999-12-30", "9999-12-30");
  assert.throws(() => wholePeriods(last, "month"), problem("invalid_parameter", "to"));
  const named = { namedBy: "compare" } as const;
  const told = (code: string) => problem(code, "compare");
  assert.throws(() => wholePeriods({ ...decade, ...named }, "day"), told("range_too_large"));
  assert.throws(() => wholePeriods({ ...first, ...named }, "week"), told("invalid_parameter"));
  assert.throws(() => wholePeriods({ ...last, ...named }, "month"), told("invalid_parameter"));
  assert.equal(wholePeriods(last, "day").length, 1);
});
