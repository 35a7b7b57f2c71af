import fc from "fast-check";
import assert from "node:assert/strict";
import { Problem } from "../../src/problem.ts";
import { readComparison } from "../../src/query/comparison.ts";
import { readRange } from "../../src/query/range.ts";

const LATER = "2030-01-01T00:00:00Z";

interface Asked {
  readonly from: string;
  readonly to: string;
  readonly timezone?: string;
  readonly compare?: string;
}

function compared(asked: Asked, asOf = LATER, projectTimezone = "UTC") {
  const query = new URLSearchParams({ ...asked });
  const asOfMs = Date.parse(asOf);
  const range = readRange(query, projectTimezone, asOfMs);
  return readComparison(query, range, projectTimezone, asOfMs);
}

/** Returns the compared instants as replies show them. */
function told(asked: Asked, asOf?: string): string[] | null {
  const range = compared(asked, asOf);
  return range && [range.from.toISOString(), range.to.toISOString()];
}

function assertRefused(asked: Asked, code = "invalid_parameter"): void {
  assert.throws(() => compared(asked), (error) => {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, code);
    assert.deepEqual(error.options.errors?.map(({ field }) => field), ["compare"]);
    return true;
  });
}

Deno.test("readComparison: none by default", () => {
  const days = { from: "2026-01-01", to: "2026-01-31" };
  for (const asked of [days, { ...days, compare: "" }, { ...days, compare: "none" }]) {
    assert.equal(compared(asked), null);
  }
});

const CASES: readonly (readonly [title: string, asked: Asked, range: [string, string]])[] = [
  [
    "previous: as many days just before, whatever the month",
    { from: "2026-03-01", to: "2026-03-31", compare: "previous" },
    ["2026-01-29T00:00:00.000Z", "2026-03-01T00:00:00.000Z"],
  ],
  [
    "previous: one day",
    { from: "2026-01-01", to: "2026-01-01", compare: "previous" },
    ["2025-12-31T00:00:00.000Z", "2026-01-01T00:00:00.000Z"],
  ],
  [
    "previous: of a day with 25 hours, the day with 24 before it",
    { from: "2026-10-25", to: "2026-10-25", timezone: "Europe/Berlin", compare: "previous" },
    ["2026-10-23T22:00:00.000Z", "2026-10-24T22:00:00.000Z"],
  ],
  [
    "previous: of a day with 24 hours, the day with 23 before it",
    { from: "2026-03-30", to: "2026-03-30", timezone: "Europe/Berlin", compare: "previous" },
    ["2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"],
  ],
  [
    "previous: of instants, the equal length before, clock change or not",
    {
      from: "2026-10-24T22:00:00Z",
      to: "2026-10-25T23:00:00Z",
      timezone: "Europe/Berlin",
      compare: "previous",
    },
    ["2026-10-23T21:00:00.000Z", "2026-10-24T22:00:00.000Z"],
  ],
  [
    "previous: of a date and an instant, the equal length before",
    { from: "2026-01-10", to: "2026-01-11T12:00:00Z", compare: "previous" },
    ["2026-01-08T12:00:00.000Z", "2026-01-10T00:00:00.000Z"],
  ],
  [
    "previous: a date that the zone skipped gives way to the one before",
    { from: "2011-12-31", to: "2011-12-31", timezone: "Pacific/Apia", compare: "previous" },
    ["2011-12-29T10:00:00.000Z", "2011-12-30T10:00:00.000Z"],
  ],
  [
    "previous: as many days that there were, where the zone skipped one before",
    { from: "2012-01-01", to: "2012-01-02", timezone: "Pacific/Apia", compare: "previous" },
    ["2011-12-29T10:00:00.000Z", "2011-12-31T10:00:00.000Z"],
  ],
  [
    "previous: as many days as there were of the range",
    { from: "2011-12-29", to: "2011-12-31", timezone: "Pacific/Apia", compare: "previous" },
    ["2011-12-27T10:00:00.000Z", "2011-12-29T10:00:00.000Z"],
  ],
  [
    "previous: the skipped day as the first one before",
    { from: "2011-12-31", to: "2012-01-01", timezone: "Pacific/Apia", compare: "previous" },
    ["2011-12-28T10:00:00.000Z", "2011-12-30T10:00:00.000Z"],
  ],
  [
    "year: the same dates",
    { from: "2026-01-01", to: "2026-12-31", timezone: "Europe/Berlin", compare: "year" },
    ["2024-12-31T23:00:00.000Z", "2025-12-31T23:00:00.000Z"],
  ],
  [
    "year: the same date, on another side of the clock change",
    { from: "2026-03-29", to: "2026-03-30", timezone: "Europe/Berlin", compare: "year" },
    ["2025-03-28T23:00:00.000Z", "2025-03-30T22:00:00.000Z"],
  ],
  [
    "year: of 29 February the 28th",
    { from: "2024-02-29", to: "2024-02-29", compare: "year" },
    ["2023-02-28T00:00:00.000Z", "2023-03-01T00:00:00.000Z"],
  ],
  [
    "year: of a February with 29 days the one with 28",
    { from: "2024-02-01", to: "2024-02-29", compare: "year" },
    ["2023-02-01T00:00:00.000Z", "2023-03-01T00:00:00.000Z"],
  ],
  [
    "year: 28 February stays the 28th, leap day or not",
    { from: "2025-02-01", to: "2025-02-28", compare: "year" },
    ["2024-02-01T00:00:00.000Z", "2024-02-29T00:00:00.000Z"],
  ],
  [
    "year: from 29 February on",
    { from: "2024-02-29", to: "2024-03-01", compare: "year" },
    ["2023-02-28T00:00:00.000Z", "2023-03-02T00:00:00.000Z"],
  ],
  [
    "year: of instants, the same local times",
    {
      from: "2026-03-29T12:00:00+02:00",
      to: "2026-03-30T12:00:00+02:00",
      timezone: "Europe/Berlin",
      compare: "year",
    },
    ["2025-03-29T11:00:00.000Z", "2025-03-30T10:00:00.000Z"],
  ],
  [
    "year: of instants that would fall on one, the same length",
    { from: "2024-02-28T12:00:00Z", to: "2024-02-29T12:00:00Z", compare: "year" },
    ["2023-02-28T12:00:00.000Z", "2023-03-01T12:00:00.000Z"],
  ],
  [
    "year: a date that the zone skipped gives way to the one before",
    { from: "2012-12-30", to: "2012-12-30", timezone: "Pacific/Apia", compare: "year" },
    ["2011-12-29T10:00:00.000Z", "2011-12-30T10:00:00.000Z"],
  ],
  [
    "dates by themselves, both inclusive, in the zone of the read",
    {
      from: "2026-01-01",
      to: "2026-01-31",
      timezone: "Asia/Kolkata",
      compare: '{"from":"2025-06-01","to":"2025-06-02"}',
    },
    ["2025-05-31T18:30:00.000Z", "2025-06-02T18:30:00.000Z"],
  ],
  [
    "instants by themselves, [from, to)",
    {
      from: "2026-01-01",
      to: "2026-01-31",
      compare: '{"from":"2025-06-01T10:00:00Z","to":"2025-06-01T10:00:01+00:00"}',
    },
    ["2025-06-01T10:00:00.000Z", "2025-06-01T10:00:01.000Z"],
  ],
];

for (const [title, asked, range] of CASES) {
  Deno.test(`readComparison: ${title}`, () => assert.deepEqual(told(asked), range));
}

Deno.test("readComparison: without `timezone`, in the project's", () => {
  const asked = { from: "2026-01-02", to: "2026-01-02" };
  const compare = '{"from":"2026-01-01","to":"2026-01-01"}';
  for (const value of ["previous", compare]) {
    const range = compared({ ...asked, compare: value }, LATER, "Asia/Tokyo");
    assert.equal(range?.from.toISOString(), "2025-12-31T15:00:00.000Z");
    assert.equal(range?.to.toISOString(), "2026-01-01T15:00:00.000Z");
    assert.equal(range?.timezone, "Asia/Tokyo");
  }
});

Deno.test("readComparison: has local dates if it consists of whole days", () => {
  const dates = (asked: Asked, asOf?: string) => {
    const range = compared(asked, asOf);
    return [range?.fromDate?.toString() ?? null, range?.toDate?.toString() ?? null];
  };
  const may = { from: "2026-05-11", to: "2026-05-20" };
  assert.deepEqual(dates({ ...may, compare: "previous" }), ["2026-05-01", "2026-05-10"]);
  assert.deepEqual(dates({ ...may, compare: "year" }), ["2025-05-11", "2025-05-20"]);
  const cut = dates({ ...may, compare: "year" }, "2026-05-15T12:00:00Z");
  assert.deepEqual(cut, ["2025-05-11", null]);
  const instants = { from: "2026-05-11T00:00:00Z", to: "2026-05-12T00:00:00Z" };
  assert.deepEqual(dates({ ...instants, compare: "previous" }), [null, null]);
  assert.deepEqual(dates({ ...instants, compare: "year" }), [null, null]);
});

Deno.test("readComparison: an unfinished range is compared with the equally long part", () => {
  const week = { from: "2026-11-16", to: "2026-11-22" };
  const asOf = "2026-11-21T04:00:00Z";
  const previous = { ...week, compare: "previous" };
  assert.deepEqual(told(previous, asOf), ["2026-11-09T00:00:00.000Z", "2026-11-14T04:00:00.000Z"]);
  assert.deepEqual(told({ ...week, compare: "year" }, asOf), [
    "2025-11-16T00:00:00.000Z",
    "2025-11-21T04:00:00.000Z",
  ]);
});

Deno.test("readComparison: given dates are used as given", () => {
  const week = { from: "2026-11-16", to: "2026-11-22" };
  const named = { ...week, compare: '{"from":"2026-01-01","to":"2026-01-31"}' };
  const whole = ["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"];
  for (const asOf of ["2026-11-21T04:00:00Z", "2026-11-16T00:00:00Z", "2026-12-01T00:00:00Z"]) {
    assert.deepEqual(told(named, asOf), whole, asOf);
  }
});

Deno.test("readComparison: for a range that has just ended, or has not begun, nothing is cut", () => {
  const previous = { from: "2026-11-21", to: "2026-11-21", compare: "previous" };
  const whole = ["2026-11-20T00:00:00.000Z", "2026-11-21T00:00:00.000Z"];
  assert.deepEqual(told(previous, "2026-11-22T00:00:00Z"), whole);
  assert.deepEqual(told(previous, "2026-11-21T23:59:59.999Z"), [
    whole[0],
    "2026-11-20T23:59:59.999Z",
  ]);
  assert.deepEqual(told(previous, "2026-11-21T00:00:00.001Z"), [
    whole[0],
    "2026-11-20T00:00:00.001Z",
  ]);
  assert.deepEqual(told(previous, "2026-11-21T00:00:00Z"), whole);
  assert.deepEqual(told(previous, "2026-11-01T00:00:00Z"), whole);
  const month = '{"from":"2026-01-01","to":"2026-01-31"}';
  assert.deepEqual(told({ ...previous, compare: month }, "2026-11-22T00:00:00Z"), [
    "2026-01-01T00:00:00.000Z",
    "2026-02-01T00:00:00.000Z",
  ]);
});

Deno.test("readComparison: for a 25-hour day, the 24-hour day before ends at its own end", () => {
  const asked = {
    from: "2026-10-25",
    to: "2026-10-25",
    timezone: "Europe/Berlin",
    compare: "previous",
  };
  assert.deepEqual(told(asked, "2026-10-25T22:30:00Z"), [
    "2026-10-23T22:00:00.000Z",
    "2026-10-24T22:00:00.000Z",
  ]);
});

Deno.test("readComparison: unknown values are refused with the parameter's name", () => {
  const days = { from: "2026-01-01", to: "2026-01-31" };
  const wrong = [
    "last",
    "Previous",
    "{",
    "[]",
    "null",
    "1",
    '"year"',
    "{}",
    '{"from":"2026-01-01"}',
    '{"to":"2026-01-01"}',
    '{"from":"","to":"2026-01-01"}',
    '{"from":1,"to":2}',
    '{"from":null,"to":null}',
    '{"from":"2026-02-30","to":"2026-03-01"}',
    '{"from":"2026-02-02","to":"2026-02-01"}',
    '{"from":"yesterday","to":"2026-02-01"}',
    '{"from":"2025-01-01","to":"2025-01-02","timezone":"UTC"}',
  ];
  for (const compare of wrong) assertRefused({ ...days, compare });
  const decades = '{"from":"2001-01-01","to":"2025-01-01"}';
  assertRefused({ ...days, compare: decades }, "range_too_large");
  const first = { from: "0001-01-01", to: "0001-01-01" };
  for (const compare of ["previous", "year"]) assertRefused({ ...first, compare });
});

Deno.test("readComparison: never empty, never past its own end", () => {
  const day = fc.date({
    min: new Date("2005-01-01"),
    max: new Date("2030-01-01"),
    noInvalidDate: true,
  });
  const asked = fc.record({
    from: day,
    lengthDays: fc.integer({ min: 0, max: 500 }),
    instants: fc.boolean(),
    asOf: day,
    timezone: fc.constantFrom("UTC", "Europe/Berlin", "Pacific/Apia", "America/Havana"),
    compare: fc.constantFrom("previous", "year"),
  });
  fc.assert(
    fc.property(asked, ({ from, lengthDays, instants, asOf, timezone, compare }) => {
      const last = new Date(from.getTime() + (lengthDays + (instants ? 0.1 : 0)) * 86_400_000);
      const bound = (at: Date) => instants ? at.toISOString() : at.toISOString().slice(0, 10);
      const query = { from: bound(from), to: bound(last), timezone, compare };
      if (!instants && timezone === "Pacific/Apia" && query.from === "2011-12-30") return;
      const whole = compared(query, "2035-01-01T00:00:00Z")!;
      const found = compared(query, asOf.toISOString())!;
      assert.ok(whole.from < whole.to);
      assert.deepEqual(found.from, whole.from);
      assert.ok(found.from < found.to && found.to <= whole.to);
    }),
    { numRuns: 2000 },
  );
});
