import fc from "fast-check";
import assert from "node:assert/strict";
import type { LoadedSegment } from "../../src/timelines/loaded_segment.ts";
import type { Sql } from "../../src/db/sql.ts";
import { lookUpIds } from "../../src/timelines/event_ids.ts";
import { BOT_BIT, nameBit, pathBit } from "../../src/timelines/run_bits.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import {
  EVENT_FIELDS,
  type EventMatch,
  type Field,
  type Filter,
  type FilterValue,
  SESSION_FIELDS,
} from "../../src/query/filters.ts";
import { type BotChoice, matchFilters, type Scope } from "../../src/query/selection.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { EventTest } from "../../src/scans/event_test.ts";
import { passesOf } from "../support/event_passes.ts";
import { eventPasses, eventPassesOf } from "../../src/scans/event_tests.ts";
import { FilterBits, isByBits } from "../../src/scans/filter_bits.ts";
import type { FilteredTimelines } from "../../src/scans/filtered_timelines.ts";
import { type Filter as ReferenceFilter, holds, passesBots } from "../reference/filters.ts";
import { historyOf, type World } from "../reference/world.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { eventTestOf, segmentsOf, timelinesOf } from "../support/read_timelines.ts";

const HELD: readonly Field[] = EVENT_FIELDS.filter((field) => !isByBits(field));
/** Keys as they come, and some that every object of JavaScript seems to have. */
const KEYS = ["plan", 'a "b"', "__proto__", "constructor"] as const;
const PROPERTIES = KEYS.map((key): Field => `properties.${key}`);

/** Values of all JSON types, and texts that look like JSON. */
const SENT: readonly unknown[] = [
  ...["pro", "Pro", "", "5", "5.0", "1e1", "true", "null", "{}", "a%_b\\c", "ä", '"'],
  ...[5, 0, -0, -3, 5.5, 10, 0.1 + 0.2, 1e21, 1e-7, 123456789012345680000, true, false, null],
  ...[{}, [], [5, "5"], { plan: "pro" }, { b: 1, "10": 2, "9": { a: null } }],
];

const someone = fc.constantFrom<Partial<EventRow>>(
  { user_id: "Ann", anonymous_id: "a1" },
  { anonymous_id: "a1" },
  { user_id: "bob" },
  { anonymous_id: "a2" },
  {},
);
const something = fc.record({
  name: fc.constantFrom("page_view", "click", "scroll", "signup", "/a"),
  path: fc.constantFrom("/", "/a", "/a_b", "signup", null),
  host: fc.constantFrom("shop.test", "blog.test", null),
  country: fc.constantFrom("DE", "US", null),
  region: fc.constantFrom("BE", null),
  city: fc.constantFrom("Berlin", null),
  browser: fc.constantFrom("Chrome", "Firefox", null),
  os: fc.constantFrom("Linux", null),
  device: fc.constantFrom<EventRow["device"]>("d", "m", null),
  bot: fc.constantFrom(false, null, true),
  properties: fc.option(
    fc.array(fc.tuple(fc.constantFrom(...KEYS, "other"), fc.constantFrom(...SENT)), {
      maxLength: 4,
    }).map((members) => JSON.stringify(Object.fromEntries(members))),
    { freq: 6 },
  ),
});
const rows = fc.array(
  fc.tuple(fc.uuid(), someone, something)
    .map(([event_id, who, what]) => newRow({ event_id, ...who, ...what })),
  { minLength: 60, maxLength: 60 },
);

const VALUES = [
  ...["page_view", "click", "signup", "nothing", "/a", "_", "a", "shop.test", "DE", "US", "BE"],
  ...["Berlin", "Chrome", "Linux", "desktop", "mobile", "Ann", "bob", "a1"],
];
const filter: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({
    field: fc.constantFrom(...HELD),
    op: fc.constantFrom("is", "is", "is_not", "contains", "not_contains", "starts_with"),
    values: fc.array(fc.constantFrom(...VALUES), { minLength: 1, maxLength: 6 }),
  }),
  fc.record({
    field: fc.constantFrom(...HELD),
    op: fc.constant("matches"),
    values: fc.constantFrom(["a"], ["^.{2}$", "e"], ["(?i)ANN|^/$"]),
  }),
  fc.record({
    field: fc.constantFrom(...HELD),
    op: fc.constantFrom("exists", "not_exists"),
    values: fc.constant([]),
  }),
);
const ASKED: readonly FilterValue[] = [
  ...["pro", "", "5", "5.0", "1e1", "null", "{}", "[5", "%", "_", "\\", "e", "1", "ä", '"b"'],
  ...[5, 0, -3, 5.5, 10, 0.3, 0.1 + 0.2, 1e21, 1e-7, 123456789012345680000, true, false],
];
const property = fc.constantFrom(...PROPERTIES);
const propertyFilter: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({
    field: property,
    op: fc.constantFrom("is", "is", "is_not", "contains", "not_contains", "starts_with"),
    values: fc.array(fc.constantFrom(...ASKED), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    field: property,
    op: fc.constant("matches"),
    values: fc.constantFrom(["^5$"], ["^.{2}$", "null"], ["(?i)^PRO"], ["^\\{.*[0-9]"]),
  }),
  fc.record({
    field: property,
    op: fc.constantFrom("gt", "gte", "lt", "lte"),
    values: fc.constantFrom([5], [-3, 10], ["5.5"], ["1e21"], [0.30000000000000004]),
  }),
  fc.record({
    field: property,
    op: fc.constantFrom("exists", "not_exists"),
    values: fc.constant([]),
  }),
);
const filters = fc.array(fc.oneof(filter, propertyFilter), { maxLength: 3 });
const bots = fc.constantFrom<BotChoice>("exclude", "include", "only");
const match: fc.Arbitrary<EventMatch> = fc.record({
  name: fc.constantFrom("page_view", "signup", "nothing", "/a", null),
  filters,
});

/** All that timelines hold of an event. */
interface Told {
  readonly eventId: string;
  readonly name: number;
  readonly path: number;
  readonly context: number;
  readonly actor: number;
  readonly eventBits: number;
}

/** `next` finds what `passes` does, run by run, from wherever it looks. */
function assertNext(test: EventTest, segment: LoadedSegment, actorOf: Int32Array): void {
  const { identities, starts, ends, names, paths, contexts, filterBits } = segment;
  for (const [run, identity] of identities.entries()) {
    const [end, actor] = [ends[run]!, actorOf[identity]!];
    let next = end;
    for (let at = end - 1; at >= starts[run]!; at--) {
      if (test.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) next = at;
      assert.equal(test.next(segment, at, end, actor), next);
    }
  }
}

/** All events of timelines. */
async function toldBy(
  sql: Sql,
  timelines: FilteredTimelines,
): Promise<Told[]> {
  const { projectId, actorOf } = timelines;
  const segments = await segmentsOf(timelines);
  const told: Told[] = [];
  for (const { segmentId, identities, starts, names, paths, contexts, filterBits } of segments) {
    const places = Array.from(names, (_, at) => at);
    const ids = await lookUpIds(sql, projectId, places.map(() => segmentId), places);
    for (const [i, identity] of identities.entries()) {
      for (let at = starts[i]!; at < starts[i + 1]!; at++) {
        told.push({
          eventId: ids.subarray(16 * at, 16 * at + 16).toHex(),
          name: names[at]!,
          path: paths[at]!,
          context: contexts[at]!,
          actor: actorOf[identity]!,
          eventBits: filterBits[at]!,
        });
      }
    }
  }
  return told;
}

const idsOf = (told: readonly Told[]) => told.map(({ eventId }) => eventId).sort();
const EVER = { fromMs: 0, toMs: Date.parse("2100-01-01T00:00:00Z") };

/** The events that the reference selects. */
function selected({ bots, filters }: Scope, world: World, only?: EventMatch): string[] {
  const all = [...only === undefined ? [] : matchFilters(only), ...filters] as ReferenceFilter[];
  return historyOf(world).facts
    .filter((fact) => passesBots(fact, bots) && all.every((one) => holds(fact, one, world)))
    .map(({ row }) => row.event_id.replaceAll("-", "")).sort();
}

Deno.test("event tests: filter bits tell what the columns of all reads do not", () => {
  assert.deepEqual(HELD, [
    ...["name", "path", "host", "country", "region", "city", "browser", "os", "device", "userId"],
  ]);
  assert.ok([...SESSION_FIELDS, "properties.plan" as const].every(isByBits));
});

onBothEngines("event tests: what passes is what the reference selects", async (_t, db) => {
  const database = await openWithProjects(db);
  const [events] = fc.sample(rows, { numRuns: 1 });
  const other = newRow({
    project_id: 2,
    name: "signup",
    country: "DE",
    path: "/a",
    properties: '{"plan":"pro"}',
  });
  const projection = createProjection(database);
  // Later events get segments of their own.
  await insertEvents(database, [...events!.slice(0, 40), other]);
  await projection.catchUp(2);
  await projection.catchUp(1);
  await insertEvents(database, events!.slice(40));
  await projection.catchUp(1);

  const world: World = { project: { timezone: "UTC", siteUrl: null }, events: events!, asOfMs: 0 };
  const load = timelinesOf(database);
  let passed = 0;
  let marked = 0;
  const asked = fc.asyncProperty(filters, bots, match, async (filters, bots, match) => {
    const scope: Scope = { projectId: 1, siteHost: null, bots, filters };
    const filtering = [...filters, ...match.filters];
    const timelines = await load(EVER, filtering);
    assert.ok((await segmentsOf(timelines)).length > 1);
    const told = await toldBy(database, timelines);
    assert.equal(told.length, new Set(events!.map((row) => row.event_id)).size);
    const passing = (test: EventTest) =>
      told.filter(({ name, path, context, actor, eventBits }) =>
        test.passes(name, path, context, actor, eventBits)
      );
    const test = await eventTestOf(database, scope, bots, filters, timelines);
    for (const segment of await segmentsOf(timelines)) assertNext(test, segment, timelines.actorOf);
    const ids = idsOf(passing(test));
    assert.deepEqual(ids, selected(scope, world));
    passed += ids.length;
    if (!test.needsNoBits && ids.length > 0 && ids.length < told.length) marked++;

    const lists = [matchFilters(match), [...filters, ...matchFilters(match)]];
    const [matched, both] = (await eventPasses(database, scope, bots, lists, timelines.bits))
      .map((one) => new EventTest(one, []));
    for (const { name, path, context, actor, eventBits } of told) {
      const passes = [test, matched!].every((one) =>
        one.passes(name, path, context, actor, eventBits)
      );
      assert.equal(both!.passes(name, path, context, actor, eventBits), passes);
      const isNamed = matched!.names === null || matched!.names[name] === 1;
      const beyond = matched!.passesBeyondName(path, context, actor, eventBits);
      assert.equal(matched!.passes(name, path, context, actor, eventBits), isNamed && beyond);
      if (matched!.isOfName && bots === "include") assert.equal(beyond, true);
    }
    assert.deepEqual(idsOf(passing(both!)), selected(scope, world, match));
  });
  await fc.assert(asked, { numRuns: 100 });
  assert.ok(passed > 0);
  assert.ok(marked > 0);
});

onBothEngines(
  "event tests: of a project without events, and of fields without bits",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const scope = { projectId: 1, siteHost: null };
    const onPath: Filter = { field: "path", op: "is", values: ["/a"] };
    const nothing = new EventTest(
      await eventPassesOf(database, scope, "exclude", [onPath], new FilterBits([])),
      [],
    );
    assert.equal(nothing.termMax, 0);
    assert.equal(nothing.passes(0, 0, 0, 0, 0), false);
    for (
      const [field, refusal] of [
        ["title", /without bits/],
        ["channel", /without bits/],
        ["properties.x", /without bits/],
        ["properties.plan", /without bits/],
      ] as const
    ) {
      await assert.rejects(
        eventPassesOf(
          database,
          scope,
          "exclude",
          [{ field, op: "exists", values: [] }],
          new FilterBits([]),
        ),
        refusal,
      );
    }
  },
);

Deno.test("event tests: bots are looked for only in runs that have some, and where they matter", () => {
  const all = { names: null, paths: null, contexts: null, actors: null };
  const may = (bots: BotChoice, runBits: number) =>
    new EventTest(passesOf(bots, all), []).mayFailByBots(runBits);
  const [human, bot] = [nameBit(1) | nameBit(15) | pathBit(31), nameBit(1) | BOT_BIT];
  assert.deepEqual([human & BOT_BIT, nameBit(15), nameBit(16)], [0, 2, nameBit(1)]);
  assert.deepEqual([may("exclude", human), may("exclude", bot), may("exclude", -1)], [
    false,
    true,
    true,
  ]);
  assert.deepEqual([may("include", human), may("include", bot)], [false, false]);
  assert.deepEqual([may("only", human), may("only", bot)], [true, true]);
});

Deno.test("event tests: names and paths have bits of their own, shared by several", () => {
  const numbers = Array.from({ length: 100 }, (_, number) => number);
  const all = (bitOf: (number: number) => number) =>
    numbers.reduce((bits, number) => bits | bitOf(number), 0);
  assert.deepEqual([all(nameBit), all(pathBit)], [0xfffe, ~0xffff]);
  assert.equal(pathBit(16), pathBit(0));
});
