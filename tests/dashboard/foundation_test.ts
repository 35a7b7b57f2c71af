import assert from "node:assert/strict";
import * as fc from "fast-check";
import { chartData, labelledBuckets } from "../../src/dashboard/chart_options.ts";
import { pointsOf } from "../../src/dashboard/chart_lines.ts";
import { csvText } from "../../src/event_file/csv.ts";
import { filterText, valueLabel } from "../../src/dashboard/filter_fields.ts";
import {
  automaticInterval,
  changed,
  type Changes,
  compareDefault,
  dateIn,
  datesOf,
  type Filter,
  intervalIn,
  INTERVALS,
  RANGE_PRESETS,
  readBots,
  readCompare,
  readFilters,
  readInterval,
  readRange,
  readSegment,
  withFilter,
} from "../../src/dashboard/location_query.ts";
import {
  bucketLabel,
  change,
  counted,
  countryName,
  currentLocale,
  dateSpan,
  duration,
  integer,
  money,
  percent,
  points,
  setLocale,
} from "../../src/dashboard/number_format.ts";
import { changeOf, FIGURES } from "../../src/dashboard/views/overview_figures.ts";
import { eventsOf, takeEvents } from "../../src/dashboard/sse.ts";
import { typedNumber } from "../../src/dashboard/typed_number.ts";

/** Runs in another language than this machine's. */
function withLocale(locale: string, run: () => void): void {
  const before = currentLocale();
  setLocale(locale);
  try {
    run();
  } finally {
    setLocale(before);
  }
}

/** Intl separates with spaces that do not break. */
const plain = (text: string) => text.replaceAll(/[\u00a0\u202f\u2009]/g, " ");

const after = (search: string, changes: Changes) =>
  changed(new URLSearchParams(search), changes).toString();

Deno.test("csv: records end with CRLF, and quote what would break them", () => {
  assert.equal(
    csvText(["Page", "Visitors"], [["/a,b", 1234.5], ['say "hi"', 0], ["two\nlines", null]]),
    'Page,Visitors\r\n"/a,b",1234.5\r\n"say ""hi""",0\r\n"two\nlines",\r\n',
  );
});

Deno.test("csv: text that a spreadsheet would run is told to be text, numbers are not", () => {
  for (const start of ["=", "+", "-", "@", "\t", "\r"]) {
    const [, record] = csvText(["x"], [[`${start}cmd`]]).split(/\r\n(?=['"])/);
    assert.match(record!, /^"?'/, JSON.stringify(start));
  }
  assert.equal(csvText(["x"], [[-12]]), "x\r\n-12\r\n");
  assert.equal(csvText(["x"], [["a=b"]]), "x\r\na=b\r\n");
});

/** A reader of RFC 4180 in a few lines. */
function parsed(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const match of text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)) {
    row.push(match[1]!.startsWith('"') ? match[1]!.slice(1, -1).replaceAll('""', '"') : match[1]!);
    if (match[2] === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

Deno.test("csv: whatever the cells hold, they come back", () => {
  const cell = fc.string({ unit: fc.constantFrom(..."ab \",\n\r'=;é") });
  const table = fc.array(fc.tuple(cell, cell), { minLength: 1 });
  fc.assert(fc.property(table, (rows) => {
    const shown = rows.map((row) =>
      row.map((text) => /^[=+\-@\t\r]/.test(text) ? `'${text}` : text)
    );
    assert.deepEqual(parsed(csvText(["a", "b"], rows)), [["a", "b"], ...shown]);
  }));
});

Deno.test("numbers: in the person's language, nothing as a dash", () => {
  withLocale("en-US", () => {
    assert.equal(integer(1234567), "1,234,567");
    assert.equal(percent(0.25), "25.0%");
    assert.equal(percent(0.256, 0), "26%");
    assert.equal(money(9303.7, "EUR"), "€9,303.70");
    assert.equal(money(3, "nonsense"), "3 nonsense");
    assert.deepEqual([integer(null), percent(null), duration(undefined), change(null)], [
      "–",
      "–",
      "–",
      "–",
    ]);
  });
  withLocale("de-DE", () => {
    assert.equal(integer(1234567), "1.234.567");
    assert.equal(plain(percent(0.256)), "25,6 %");
    assert.equal(countryName("FR"), "Frankreich");
  });
});

Deno.test("numbers: a change has its sign, and decimals where it is small", () => {
  withLocale("en-US", () => {
    assert.deepEqual([0.1234, -0.0345, 0, 2.16].map(change), ["+12%", "-3.5%", "0%", "+216%"]);
  });
});

Deno.test("numbers: a rate changes in points, a single thing is told as one", () => {
  withLocale("en-US", () => {
    assert.deepEqual([0.3907 - 0.3466, -0.0345, 0, 0.0001, null].map(points), [
      "+4.4 pts",
      "-3.5 pts",
      "0.0 pts",
      "0.0 pts",
      "–",
    ]);
    const bounceRate = FIGURES.find(({ id }) => id === "bounceRate")!;
    const visitors = FIGURES.find(({ id }) => id === "visitors")!;
    assert.equal(points(changeOf(bounceRate, 0.391, 0.347)), "+4.4 pts");
    assert.equal(changeOf(bounceRate, 0.2, 0), 0.2);
    assert.equal(changeOf(visitors, 3, 2), 0.5);
    assert.equal(changeOf(visitors, 3, 0), null);
    assert.deepEqual([0, 1, 2, 1000].map((n) => counted(n, "page view")), [
      "0 page views",
      "1 page view",
      "2 page views",
      "1,000 page views",
    ]);
    assert.equal(counted(1, "person", "people"), "1 person");
  });
});

Deno.test("numbers: a duration is told in its two largest units, never 60 of the smaller", () => {
  withLocale("en-US", () => {
    const told: [number, string][] = [
      [0, "0s"],
      [4.26, "4.3s"],
      [59.4, "59s"],
      [59.6, "1m 00s"],
      [3599.6, "1h 00m"],
      [3600, "1h 00m"],
      [86_399, "1d 0h"],
      [90_000, "1d 1h"],
    ];
    for (const [seconds, text] of told) assert.equal(duration(seconds), text, `${seconds}`);
  });
});

Deno.test("numbers: a bucket keeps the API's local hour, whatever zone the browser is in", () => {
  withLocale("en-GB", () => {
    assert.match(bucketLabel("2026-10-25 02:00", "hour", "full"), /25 Oct.*\b0?2:00/);
    assert.equal(bucketLabel("2026-03-29", "day", "axis"), "29 Mar");
    assert.equal(bucketLabel("2026-12", "month", "full"), "December 2026");
    assert.equal(bucketLabel("2026-01-05", "week", "full"), "Week of 5 Jan 2026");
    assert.equal(bucketLabel("no date", "day", "full"), "no date");
    assert.equal(plain(dateSpan("2026-01-05", "2026-01-09")), "5–9 Jan 2026");
  });
});

Deno.test("numbers: a typed comma groups thousands or is the point, and never cuts a number off", () => {
  const typed = ["1,000", "-12,345,678.5", "9,50", "0,125", "1000,5", " 2.5 ", "1e-7", ".5"];
  const read = [1000, -12_345_678.5, 9.5, 0.125, 1000.5, 2.5, 1e-7, 0.5];
  assert.deepEqual(typed.map(typedNumber), read);
  for (const text of ["", "x", "1,00,0", "1.000,50", "1 000", "0x10", "Infinity", "1e999", "."]) {
    assert.equal(typedNumber(text), null, text);
  }
});

Deno.test("interval: one that would draw too many buckets of the range is not taken", () => {
  const offered = (days: number) => {
    const to = new Date(Date.UTC(2020, 0, days)).toISOString().slice(0, 10);
    return INTERVALS.filter((each) => intervalIn({ from: "2020-01-01", to }, each) === each);
  };
  assert.deepEqual(offered(80), ["hour", "day", "week", "month"]);
  assert.deepEqual(offered(81), ["day", "week", "month"]);
  assert.deepEqual(offered(1_990), ["day", "week", "month"]);
  assert.deepEqual(offered(1_991), ["week", "month"]);
  assert.equal(intervalIn({ from: "2020-01-01", to: "2020-01-01" }, null), null);
});

Deno.test("range: presets move with the day, months with the calendar", () => {
  const of = (preset: typeof RANGE_PRESETS[number], today: string) => {
    const { from, to } = datesOf({ preset }, today);
    return `${from} ${to}`;
  };
  assert.equal(of("today", "2026-03-01"), "2026-03-01 2026-03-01");
  assert.equal(of("yesterday", "2026-03-01"), "2026-02-28 2026-02-28");
  assert.equal(of("7d", "2026-03-29"), "2026-03-23 2026-03-29");
  assert.equal(of("month", "2026-03-29"), "2026-03-01 2026-03-29");
  assert.equal(of("last_month", "2026-01-15"), "2025-12-01 2025-12-31");
  assert.equal(of("last_month", "2028-03-31"), "2028-02-01 2028-02-29");
  assert.equal(of("12m", "2026-01-15"), "2025-02-01 2026-01-15");
});

Deno.test("range: today is the time zone's, also where that zone is unknown", () => {
  const nowMs = Date.parse("2026-06-30T22:30:00Z");
  assert.equal(dateIn("Europe/Berlin", nowMs), "2026-07-01");
  assert.equal(dateIn("America/New_York", nowMs), "2026-06-30");
  assert.match(dateIn("Nowhere/At_All", nowMs), /^2026-0(6-30|7-01)$/);
});

Deno.test("range: the automatic interval draws neither two points nor a thousand", () => {
  const of = (from: string, to: string) => automaticInterval({ from, to });
  assert.equal(of("2026-03-01", "2026-03-02"), "hour");
  assert.equal(of("2026-03-01", "2026-03-03"), "day");
  assert.equal(of("2026-01-01", "2026-04-02"), "day");
  assert.equal(of("2026-01-01", "2026-04-03"), "week");
  assert.equal(of("2025-04-01", "2026-03-29"), "month");
});

Deno.test("address: what it says badly is the default, not an error", () => {
  const range = (search: string) => readRange(new URLSearchParams(search));
  assert.deepEqual(range("from=2026-01-01&to=2026-01-31"), {
    from: "2026-01-01",
    to: "2026-01-31",
  });
  for (
    const bad of [
      "",
      "range=ever",
      "from=2026-01-01",
      "from=2026-02-30&to=2026-03-01",
      "from=2026-02-02&to=2026-02-01",
      "from=x&to=y",
    ]
  ) assert.deepEqual(range(bad), { preset: "30d" }, bad);
  for (const bad of [null, "", "{", "null", "{}", '[{"field":1}]', '[{"field":"a","op":"is"}]']) {
    assert.deepEqual(readFilters(bad), [], String(bad));
  }
  assert.equal(readCompare("weekly"), "previous");
  assert.equal(readCompare('{"from":"2026-01-02","to":"2026-01-01"}'), "previous");
  assert.equal(readCompare("segment:No", "none"), "none");
  assert.equal(readSegment("No"), null);
  assert.equal(readInterval("minute"), null);
  assert.equal(readBots("maybe"), "exclude");
});

Deno.test("address: defaults are left out, and another view drops the parameters of the one before", () => {
  assert.equal(after("range=7d&metric=events", { range: { preset: "30d" } }), "metric=events");
  assert.equal(after("", { compare: "none", bots: "only" }), "compare=none&bots=only");
  assert.equal(after("compare=none&bots=only", { compare: "previous", bots: "exclude" }), "");
  assert.equal(
    after("range=7d", { range: { from: "2026-01-01", to: "2026-01-02" } }),
    "from=2026-01-01&to=2026-01-02",
  );
  // Other views than the overview compare with nothing unless it is chosen.
  assert.equal(after("view=goals", { compare: "previous" }), "view=goals&compare=previous");
  assert.equal(after("view=goals&compare=previous", { compare: "none" }), "view=goals");
  assert.equal(after("segment=a&view=goals", { segment: null }), "view=goals");
  assert.equal(after("metric=events&range=7d", { view: "goals" }), "range=7d&view=goals");
  assert.equal(after("metric=events", { view: "overview" }), "metric=events");
  assert.equal(after("view=goals&goal=a", { view: "overview" }), "");
  assert.equal(after("metric=events", { params: { metric: null, sources: "os" } }), "sources=os");
});

Deno.test("address: every choice comes back as it was put in", () => {
  const day = fc.date({
    min: new Date("2001-01-01"),
    max: new Date("2099-12-31"),
    noInvalidDate: true,
  })
    .map((date) => date.toISOString().slice(0, 10));
  const dates = fc.tuple(day, day).map(([a, b]) => a < b ? { from: a, to: b } : { from: b, to: a });
  const range = fc.oneof(fc.constantFrom(...RANGE_PRESETS).map((preset) => ({ preset })), dates);
  const value = fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.boolean());
  const filter: fc.Arbitrary<Filter> = fc.record({
    field: fc.constantFrom("path", "properties.a&b", "country"),
    op: fc.constantFrom("is", "not_contains"),
    values: fc.array(value),
  }, { noNullPrototype: true });
  const choices = fc.record({
    range,
    filters: fc.array(filter),
    compare: fc.oneof(
      fc.constantFrom("none", "previous", "year", "segment:buyers"),
      dates.map((d) => JSON.stringify(d)),
    ),
    interval: fc.constantFrom("hour" as const, "month" as const, null),
    bots: fc.constantFrom("exclude" as const, "only" as const),
    segment: fc.constantFrom("buyers", "new-2", null),
  });
  fc.assert(fc.property(choices, choices, (first, second) => {
    const query = new URLSearchParams(after(after("view=goals", first), second));
    assert.deepEqual(readRange(query), second.range);
    assert.deepEqual(readFilters(query.get("filters")), second.filters);
    assert.equal(readCompare(query.get("compare"), compareDefault("goals")), second.compare);
    assert.equal(readSegment(query.get("segment")), second.segment);
    assert.equal(readInterval(query.get("interval")), second.interval);
    assert.equal(readBots(query.get("bots")), second.bots);
    assert.equal(query.get("view"), "goals");
  }));
});

Deno.test("filters: a further value joins the same field's, what is missing is a condition of its own", () => {
  const one = withFilter([], "country", "DE");
  assert.deepEqual(one, [{ field: "country", op: "is", values: ["DE"] }]);
  const two = withFilter(one, "country", "AT");
  assert.deepEqual(two, [{ field: "country", op: "is", values: ["DE", "AT"] }]);
  assert.deepEqual(withFilter(two, "country", "AT"), two);
  const none = withFilter(two, "campaign", null);
  assert.deepEqual(none.at(-1), { field: "campaign", op: "not_exists", values: [] });
  assert.deepEqual(withFilter(none, "campaign", null), none);
  const not: Filter[] = [{ field: "path", op: "is_not", values: ["/a"] }];
  assert.equal(withFilter(not, "path", "/b").length, 2);
});

Deno.test("filters: they read as sentences", () => {
  withLocale("en", () => {
    const text = (field: string, op: string, ...values: string[]) =>
      filterText({ field, op, values });
    assert.equal(text("country", "is", "DE", "AT"), "Country is Germany or Austria");
    assert.equal(text("path", "is_not", "/a", "/b"), "Page is not /a and /b");
    assert.equal(text("properties.plan", "exists"), "plan is set");
    assert.equal(valueLabel("source", null), "Direct");
    assert.equal(valueLabel("campaign", null), "(none)");
  });
});

const bucket = (hour: number, complete: boolean, visitors: number) => ({
  start: `2026-01-01T${String(hour).padStart(2, "0")}:00:00.000Z`,
  label: `2026-01-01 ${hour}:00`,
  complete,
  visitors,
});

Deno.test("chart: unfinished buckets are joined by the dashed line, and the future is no zero", () => {
  const buckets = [
    bucket(9, true, 5),
    bucket(10, true, 6),
    bucket(11, false, 2),
    bucket(12, false, 0),
  ];
  const points = pointsOf(buckets, ({ visitors }) => visitors, "2026-01-01T11:30:00.000Z");
  assert.deepEqual(points.map(({ value }) => value), [5, 6, 2, null]);
  const earlier = { name: "before", points: points.slice(0, 2), isComparison: true };
  assert.deepEqual(chartData([{ name: "now", points }, earlier]), [
    [0, 1, 2, 3],
    [5, 6, null, null],
    [null, 6, 2, null],
    [5, 6, null, null],
  ]);
});

Deno.test("chart: the first and the last bucket are labelled, however narrow it is", () => {
  assert.deepEqual(labelledBuckets(30, 300), [0, 7, 15, 22, 29]);
  assert.deepEqual(labelledBuckets(8, 60), [0, 7]);
  assert.deepEqual(labelledBuckets(3, 1000), [0, 1, 2]);
  assert.deepEqual([labelledBuckets(1, 300), labelledBuckets(0, 300)], [[0], []]);
  for (let count = 2; count < 400; count += 7) {
    for (const widthPx of [200, 300, 700, 1300]) {
      const labels = labelledBuckets(count, widthPx);
      assert.deepEqual([labels[0], labels.at(-1)], [0, count - 1]);
      const nearest = Math.min(...labels.slice(1).map((label, i) => label - labels[i]!));
      assert.ok(
        nearest * widthPx / (count - 1) >= 72 || labels.length === 2,
        `${count} ${widthPx}`,
      );
    }
  }
});

Deno.test("sse: events come whole, however the stream is cut", async () => {
  const text =
    ': hello\n\nid: 1\nevent: live\nretry: 5\ndata: {"a":"b: c"}\n\ndata: x\ndata: y\n\n';
  const expected = [{ event: "live", data: '{"a":"b: c"}' }, { event: "message", data: "x\ny" }];
  assert.deepEqual(takeEvents(`${text}data: half`), { events: expected, rest: "data: half" });
  for (const size of [1, 2, 7, text.length]) {
    const bytes = new TextEncoder().encode(text);
    const chunks = Array.from(
      { length: Math.ceil(bytes.length / size) },
      (_, i) => bytes.slice(i * size, (i + 1) * size),
    );
    const found = [];
    for await (const event of eventsOf(ReadableStream.from(chunks))) found.push(event);
    assert.deepEqual(found, expected, `${size} bytes at a time`);
  }
});
