import fc from "fast-check";
import assert from "node:assert/strict";
import type { Database } from "../../../src/db/sql.ts";
import type { LoadedSegment } from "../../../src/timelines/loaded_segment.ts";
import { PropertyColumn } from "../../../src/timelines/property_columns.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { TREND_VALUES_MAX } from "../../../src/limits.ts";
import { TRENDS } from "../../../src/reports/trends/trends.ts";
import { type Field, SESSION_FIELDS } from "../../../src/query/filters.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import type {
  FilteredPart,
  FilteredTimelines,
  PreparePart,
} from "../../../src/scans/filtered_timelines.ts";
import { idsFrom } from "../../../src/scans/value_ids.ts";
import { MemoryScope, SharedMemory } from "../../../src/timelines/shared_memory.ts";
import { propertyValueIds } from "../../../src/scans/property_value_ids.ts";
import { propertyText } from "../../../src/scans/value_texts.ts";
import { answerAsked } from "../../support/asked_read.ts";
import { onBothEngines, type TestDatabase } from "../../support/databases.ts";
import { casesOn } from "../../support/engine_cases.ts";
import { openWithProjects } from "../../support/event_rows.ts";
import { differenceOf } from "../../reads/answers.ts";
import { readOf } from "../insights/insight_world.ts";
import {
  openWithHistory,
  randomFilter,
  randomHistory,
  TOLD_FIELDS,
  WORLD_DAYS,
  WORLD_FROM_MS,
} from "../session_world.ts";
import { event, expectedOf, type Line, linesOf } from "./trend_world.ts";

const HOUR_MS = 3_600_000;

/** Asks for lines of a project. */
function asking(database: Database, asOf: string) {
  return async (parameters: Readonly<Record<string, unknown>>): Promise<Line[]> => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
      query.set(name, typeof value === "string" ? value : JSON.stringify(value));
    }
    const read = readOf(database, query, asOf, { siteUrl: null });
    const { result } = await answerAsked(TRENDS, read);
    return result.series as Line[];
  };
}

async function openWith(db: TestDatabase, rows: readonly EventRow[]): Promise<Database> {
  const database = await openWithProjects(db);
  await insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
  await createProjection(database).catchUp(1);
  return database;
}

/** Visits that begin before the range, or end behind it, and events of none. */
const VISITS: readonly EventRow[] = [
  event("ann", "01 23:50", "page_view", null, { path: "/landing", utm_source: "news" }),
  event("ann", "02 00:05", "page_view", null, { path: "/x", utm_source: "other" }),
  event("ann", "02 00:20", "buy", { price: 10 }, { path: "/cart" }),
  event("bob", "03 23:50", "page_view", null, { path: "/last", utm_source: "shop" }),
  event("bob", "03 23:55", "buy", { price: 5 }, { path: "/cart" }),
  event("bob", "04 00:10", "page_view", null, { path: "/late" }),
  // In no session, before one.
  event("cat", "02 12:00", "buy", { price: 1 }, { path: "/api", in_session: false }),
  event("cat", "02 12:10", "page_view", null, { path: "/x" }),
  event("dan", "02 13:00", "buy", { price: 2 }),
];

/** A property of many kinds, in February: several of them show as the same text. */
const NESTED = { b: 1, a: { c: [1, 2] } };
const TAGGED: readonly EventRow[] = [
  ...[{ v: 1 }, { v: "1" }, { v: true }, { v: "true" }, { v: null }, { other: 1 }, null],
  ...[{ v: NESTED }, { v: '{"a": {"c": [1, 2]}, "b": 1}' }],
  ...[{ v: 1e21 }, { deep: {}, v: 1e21 }, { v: "" }, { v: 'ä\n"' }],
].map((properties, i) =>
  event("eve", "01 00:00", "tag", properties, {
    occurred_at: `2026-02-10T09:${10 + i}:00.000Z`,
  })
);

/**
 * More values than have lines, in January, most of two events each. What three sources have in
 * common has more, though each of them has fewer; the same with a number and text alike.
 */
const MANY = [...Array(26).keys(), ...Array(30).keys()].map((n) => {
  const isAlike = n >= 26 && n <= 28;
  return {
    entryPath: `/${"aÄA"[n % 3]}${n}`,
    source: `s${n}`,
    term: isAlike ? "alike" : `t${n}`,
    n: isAlike ? [100, "100", "100"][n - 26]! : n,
  };
});
const MANY_ROWS: readonly EventRow[] = MANY.map(({ entryPath, source, term, n }, i) =>
  event(`m${i}`, "01 00:00", "many", { n }, {
    occurred_at: new Date(Date.UTC(2026, 0, 10, 9, i)).toISOString(),
    path: entryPath,
    utm_source: source,
    utm_term: term,
  })
);

/** Values and how often they are there: as many as have lines, most first, and the rest. */
function ranked(values: readonly string[]): [string, number][] {
  const counts = [...Map.groupBy(values, (value) => value)]
    .map(([value, { length }]): [string, number] => [value, length])
    .sort(([a, m], [b, n]) => n - m || Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const rest = counts.splice(TREND_VALUES_MAX).reduce((sum, [, count]) => sum + count, 0);
  return [...counts, ["$other", rest]];
}

onBothEngines(
  "trend lines: sessions that cross the range, events of none, values alike",
  async (t, db) => {
    const database = await openWith(db, [...VISITS, ...TAGGED, ...MANY_ROWS]);
    const ask = asking(database, "2026-03-05T12:00:00Z");
    const ofVisits = async (parameters: Record<string, unknown>) =>
      linesOf(await ask({ from: "2026-03-02", to: "2026-03-03", interval: "day", ...parameters }))
        .map(([, value, values]) => [value, values]);

    await t.step("the session's own values, however much of it is in the range", async () => {
      assert.deepEqual(await ofVisits({ by: "source" }), [
        [null, [3, 0]],
        ["news", [2, 0]],
        ["shop", [0, 2]],
      ]);
      assert.deepEqual(await ofVisits({ by: "entryPath" }), [
        ["/landing", [2, 0]],
        ["/last", [0, 2]],
        [null, [2, 0]],
        ["/x", [1, 0]],
      ]);
      assert.deepEqual(await ofVisits({ by: "exitPath" }), [
        ["/x", [3, 0]],
        ["/late", [0, 2]],
        [null, [2, 0]],
      ]);
    });

    await t.step("by visitors, and what a property comes to", async () => {
      assert.deepEqual(await ofVisits({ by: "exitPath", measure: "visitors" }), [
        ["/x", [2, 0]],
        ["/late", [0, 1]],
        [null, [2, 0]],
      ]);
      assert.deepEqual(await ofVisits({ by: "exitPath", measure: "perVisitor" }), [
        ["/x", [1.5, null]],
        ["/late", [null, 2]],
        [null, [1, null]],
      ]);
      const ofPrice = { event: "buy", by: "entryPath", measure: "sum:properties.price" };
      assert.deepEqual(await ofVisits(ofPrice), [
        [null, [3, 0]],
        ["/landing", [10, 0]],
        ["/last", [0, 5]],
      ]);
    });

    await t.step("values that show as the same text are one", async () => {
      const range = { from: "2026-02-10", to: "2026-02-10", interval: "day" };
      const series = await ask({ ...range, event: "tag", by: "properties.v" });
      assert.deepEqual(linesOf(series).map(([, value, values]) => [value, values]), [
        [null, [3]],
        ["1", [2]],
        ["1e+21", [2]],
        ["true", [2]],
        ['{"a": {"c": [1, 2]}, "b": 1}', [2]],
        ["", [1]],
        ['ä\n"', [1]],
      ]);
    });

    await t.step("more values than have lines, some of several ids", async () => {
      const range = { from: "2026-01-10", to: "2026-01-10", interval: "day" };
      for (const by of ["entryPath", "source", "term", "n"] as const) {
        const series = await ask({ ...range, event: "many", by: by === "n" ? "properties.n" : by });
        assert.deepEqual(
          linesOf(series).map(([, value, values]) => [value, values]),
          ranked(MANY.map((one) => String(one[by]))).map(([value, count]) => [value, [count]]),
          by,
        );
      }
    });

    await t.step("values of any length", async () => {
      const long = { v: "a".repeat(20_000) };
      await insertEvents(database, [event("eve", "02 10:00", "tag", long)]);
      await createProjection(database).catchUp(1);
      const range = { from: "2026-03-02", to: "2026-03-02", interval: "day" };
      const series = await ask({ ...range, event: "tag", by: "properties.v" });
      assert.deepEqual(linesOf(series), [["tag", long.v, [1]]]);
    });
  },
);

const match = fc.record({
  name: fc.constantFrom("page_view", "click", "signup", "buy", null),
  filters: fc.oneof(fc.constant([]), fc.array(randomFilter(TOLD_FIELDS), { maxLength: 1 })),
});
const FIGURES = ["sum", "avg", "min", "max", "p50", "p90"];
const asked = fc.record({
  event: fc.array(match, { minLength: 1, maxLength: 2 }),
  by: fc.constantFrom<Field>(
    ...SESSION_FIELDS,
    ...["properties.plan", "properties.total", "properties.none"] as const,
    ...["country", "path", "userId", "title", "referrer"] as const,
  ),
  measure: fc.oneof(
    fc.constantFrom("total", "visitors", "perVisitor"),
    fc.constantFrom(...FIGURES.map((figure) => `${figure}:properties.total`)),
  ),
  interval: fc.constantFrom("day", "week"),
  bots: fc.constantFrom("exclude", "include", "include", "only"),
  filters: fc.oneof(
    fc.constant([]),
    fc.array(randomFilter([...TOLD_FIELDS, ...SESSION_FIELDS]), { maxLength: 2 }),
  ),
  span: fc.tuple(fc.nat({ max: 30 * 24 }), fc.integer({ min: 24, max: 30 * 24 })),
});

onBothEngines("trend lines: by every field as the reference has them", async (_t, db) => {
  const events = randomHistory(150);
  const database = await openWithHistory(db, events);
  const asOfMs = WORLD_FROM_MS + (WORLD_DAYS + 2) * 24 * HOUR_MS;
  const ask = asking(database, new Date(asOfMs).toISOString());
  const told = new Set<string>();
  const property = fc.asyncProperty(asked, async ({ span: [after, hours], ...others }) => {
    // Not on the hour, so that sessions cross the edges in all places.
    const fromMs = WORLD_FROM_MS + after * HOUR_MS + 1;
    const parameters = {
      ...others,
      from: new Date(fromMs).toISOString(),
      to: new Date(fromMs + hours * HOUR_MS).toISOString(),
    };
    const series = await ask(parameters);
    const expected = expectedOf(events, asOfMs, parameters) as Line[];
    // The reference writes lists and objects without blanks.
    const shown = expected.map((line) =>
      /^[[{]/.test(line.value ?? "") ? { ...line, value: propertyText(line.value!) } : line
    );
    assert.equal(differenceOf(series, shown), null);
    if (series.some(({ value }) => value !== null)) told.add(parameters.by);
  });
  await fc.assert(property, { numRuns: casesOn(database, 150) });
  // Many a field may have no value by chance; hardly ever all but one.
  assert.ok(told.size > 1, [...told].join());
});

Deno.test("propertyValueIds: a number for each text, as wide as it needs to be", async () => {
  const segmentOf = (values: readonly string[]) => {
    // Every second event has it, the last value first.
    const column = new PropertyColumn(
      Uint32Array.from(values, (_, i) => 2 * i + 1),
      Uint32Array.from(values, (_, i) => values.length - 1 - i),
      values,
    );
    const times = new Uint32Array(2 * values.length + 1);
    const lazies = new Map();
    const made = (name: string) => lazies.get(name);
    return { times, lazies, property: () => column, column: made } as unknown as LoadedSegment;
  };
  const idsOf = async (lists: readonly (readonly string[])[]) => {
    const segments = lists.map(segmentOf);
    const preparing: PreparePart[] = [];
    const memory = new MemoryScope(new SharedMemory(0));
    const prepare = (one: PreparePart) => preparing.push(one);
    const { from } = propertyValueIds({ prepare } as unknown as FilteredTimelines, "key");
    for (const one of preparing) await one({ segments, memory } as unknown as FilteredPart);
    return segments.map((segment) => [...idsFrom(from)(segment)!]);
  };
  for (const count of [1, 255, 256, 65_535, 65_536]) {
    const values = Array.from({ length: count }, (_, i) => String(i));
    const found = await idsOf([values, ["0", `"${count - 1}"`, "null"]]);
    // The values of a column are numbered in its order.
    const written = values.flatMap((_, i) => [0, count - i]);
    assert.deepEqual(found, [[...written, 0], [0, 0, 0, count, 0, 1, 0]]);
  }
});
