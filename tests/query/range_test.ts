import fc from "fast-check";
import assert from "node:assert/strict";
import { Problem } from "../../src/problem.ts";
import { readRange } from "../../src/query/range.ts";

const NOW = Date.parse("2026-11-21T04:00:00Z");
const read = (query: Record<string, string>, zone = "UTC", now = NOW) => {
  const { from, to, timezone } = readRange(new URLSearchParams(query), zone, now);
  return [from.toISOString(), to.toISOString(), timezone];
};

function assertRefused(query: Record<string, string>, code: string, field?: string): void {
  assert.throws(() => read(query), (error) => {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, code);
    if (field !== undefined) assert.equal(error.options.errors?.[0]?.field, field);
    return true;
  });
}

Deno.test("readRange: the project's zone is recognized in any case", () => {
  const [, , named] = read({ timezone: "europe/BERLIN" }, "Europe/Berlin");
  assert.equal(named, "Europe/Berlin");
  const [, , other] = read({ timezone: "europe/BERLIN" }, "UTC");
  assert.equal(other, "europe/BERLIN");
});

Deno.test("readRange: the default is the last 30 local days, today included", () => {
  assert.deepEqual(read({}), ["2026-10-23T00:00:00.000Z", "2026-11-22T00:00:00.000Z", "UTC"]);
  assert.deepEqual(read({}, "America/New_York"), [
    "2026-10-22T04:00:00.000Z",
    "2026-11-21T05:00:00.000Z",
    "America/New_York",
  ]);
  assert.deepEqual(read({ from: "", to: "", timezone: "" }), read({}));
});

Deno.test("readRange: local dates are both inclusive, in the given zone", () => {
  assert.deepEqual(read({ from: "2026-01-01", to: "2026-01-01" }), [
    "2026-01-01T00:00:00.000Z",
    "2026-01-02T00:00:00.000Z",
    "UTC",
  ]);
  assert.deepEqual(read({ from: "2026-01-01", to: "2026-01-31", timezone: "Asia/Kolkata" }), [
    "2025-12-31T18:30:00.000Z",
    "2026-01-31T18:30:00.000Z",
    "Asia/Kolkata",
  ]);
});

Deno.test("readRange: a day of a daylight saving change has 23 or 25 hours", () => {
  const hours = (day: string, zone: string) => {
    const [from, to] = read({ from: day, to: day }, zone);
    return (Date.parse(to!) - Date.parse(from!)) / 3_600_000;
  };
  assert.equal(hours("2026-03-29", "Europe/Berlin"), 23);
  assert.equal(hours("2026-10-25", "Europe/Berlin"), 25);
  assert.equal(hours("2026-10-04", "Australia/Lord_Howe"), 23.5);
  // In Beirut this day has no midnight and begins at one o'clock.
  assert.equal(hours("2026-03-29", "Asia/Beirut"), 23);
});

Deno.test("readRange: instants are [from, to), whatever their offset", () => {
  assert.deepEqual(read({ from: "2026-01-01T10:00:00+02:00", to: "2026-01-01T08:00:00.001Z" }), [
    "2026-01-01T08:00:00.000Z",
    "2026-01-01T08:00:00.001Z",
    "UTC",
  ]);
});

Deno.test("readRange: with one bound: from it until today, or 30 days up to it", () => {
  assert.deepEqual(read({ from: "2026-11-20" }).slice(0, 2), [
    "2026-11-20T00:00:00.000Z",
    "2026-11-22T00:00:00.000Z",
  ]);
  assert.deepEqual(read({ to: "2026-01-30" }).slice(0, 2), [
    "2026-01-01T00:00:00.000Z",
    "2026-01-31T00:00:00.000Z",
  ]);
  // The 31st is not in this range, so that its 30 days end with the 30th.
  assert.equal(read({ to: "2026-01-31T00:00:00Z" })[0], "2026-01-01T00:00:00.000Z");
});

Deno.test("readRange: an invalid date or zone is invalid_parameter with the parameter's name", () => {
  const wrong = [
    "yesterday",
    "2026-02-30",
    "2026-13-01",
    "26-01-01",
    "2026-01-01T10:00",
    "20260101",
  ];
  for (const value of wrong) {
    assertRefused({ from: value }, "invalid_parameter", "from");
    assertRefused({ to: value }, "invalid_parameter", "to");
  }
  for (
    const timezone of ["Mars/Olympus", "PST", "+02:00", "x".repeat(100), "Europe/Berlin'", "\u0000"]
  ) {
    assertRefused({ timezone }, "invalid_parameter", "timezone");
  }
  assertRefused({ from: "2026-01-02", to: "2026-01-01" }, "invalid_parameter", "from");
  const skipped = { from: "2011-12-30", to: "2011-12-30", timezone: "Pacific/Apia" };
  assertRefused(skipped, "invalid_parameter", "from");
  assert.throws(() => read(skipped), /This day was skipped in Pacific\/Apia/);
  const instant = "2026-01-01T00:00:00Z";
  assertRefused({ from: instant, to: instant }, "invalid_parameter", "from");
});

Deno.test("readRange: ten years are allowed, more is range_too_large", () => {
  assert.equal(read({ from: "2016-01-01", to: "2025-12-31" })[1], "2026-01-01T00:00:00.000Z");
  assertRefused({ from: "2016-01-01", to: "2026-01-01" }, "range_too_large");
  assertRefused({ from: "1999-01-01" }, "range_too_large");
});

Deno.test("readRange: years that PostgreSQL and ISO 8601 write differently are refused with the parameter's name", () => {
  assertRefused({ from: "0000-01-01", to: "0000-12-31" }, "invalid_parameter", "from");
  assertRefused({ from: "9999-12-31", to: "9999-12-31" }, "invalid_parameter", "to");
  assertRefused(
    { from: "0001-01-01", to: "0001-01-02", timezone: "Asia/Tokyo" },
    "invalid_parameter",
    "from",
  );
  assert.equal(read({ from: "0001-01-01", to: "0001-01-01" })[0], "0001-01-01T00:00:00.000Z");
});

Deno.test("readRange: any text gives a range of years 1 to 9999 or a problem", () => {
  const year = fc.integer({ min: 0, max: 9999 }).map((n) => String(n).padStart(4, "0"));
  const text = fc.oneof(
    fc.string(),
    fc.tuple(
      year,
      fc.constantFrom("-01-01", "-12-31", "-01-01T00:00:00-23:59", "-12-31T23:59:59.9Z"),
    )
      .map((parts) => parts.join("")),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  );
  const zone = fc.constantFrom("UTC", "Pacific/Apia", "Pacific/Pago_Pago", "Europe/Berlin");
  fc.assert(
    fc.property(text, text, zone, (from, to, timezone) => {
      try {
        const range = readRange(new URLSearchParams({ from, to, timezone }), "UTC", NOW);
        assert.ok(range.from < range.to);
        assert.match(range.from.toISOString(), /^(?!0000)\d{4}-/);
        assert.match(range.to.toISOString(), /^(?!0000)\d{4}-/);
      } catch (error) {
        assert.ok(error instanceof Problem, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

Deno.test("readRange: says which bounds were local dates", () => {
  const dates = (query: Record<string, string>) => {
    const { fromDate, toDate } = readRange(new URLSearchParams(query), "Asia/Tokyo", NOW);
    return [fromDate?.toString() ?? null, toDate?.toString() ?? null];
  };
  const instant = "2026-01-10T00:00:00Z";
  assert.deepEqual(dates({}), ["2026-10-23", "2026-11-21"]);
  assert.deepEqual(dates({ from: "2026-01-01", to: "2026-01-31" }), ["2026-01-01", "2026-01-31"]);
  assert.deepEqual(dates({ from: "2026-01-01", to: instant }), ["2026-01-01", null]);
  assert.deepEqual(dates({ from: instant, to: "2026-01-31" }), [null, "2026-01-31"]);
  assert.deepEqual(dates({ from: instant, to: "2026-01-10T00:00:01Z" }), [null, null]);
});
