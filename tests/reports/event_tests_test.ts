import assert from "node:assert/strict";
import fc from "fast-check";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/ingest/event_row.ts";
import {
  eventTest,
  eventTests,
  isHeldByHistories,
  isKnownToHistories,
} from "../../src/reports/event_tests.ts";
import {
  EVENT_FIELDS,
  type EventMatch,
  type Field,
  type Filter,
  SESSION_FIELDS,
} from "../../src/reports/filters.ts";
import {
  type BotChoice,
  factConditions,
  matchFilters,
  type Scope,
} from "../../src/reports/selection.ts";
import { SqlParams } from "../../src/reports/sql_params.ts";
import { createFold } from "../../src/sessions/fold.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";

const ALL: readonly Field[] = [...EVENT_FIELDS, ...SESSION_FIELDS, "properties.plan"];
const HELD = ALL.filter(isHeldByHistories);

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
const filters = fc.array(filter, { maxLength: 3 });
const bots = fc.constantFrom<BotChoice>("exclude", "include", "only");
const match: fc.Arbitrary<EventMatch> = fc.record({
  name: fc.constantFrom("page_view", "signup", "nothing", "/a", null),
  filters,
});

interface Numbers extends Record<string, unknown> {
  readonly event_id: string;
  readonly name: number;
  readonly path: number;
  readonly context: number;
  readonly actor: number;
}

const NUMBERS = `
SELECT event_id, name_id AS name, coalesce(path_id, 0) AS path, context_id AS context, actor_id AS actor
FROM facts WHERE project_id = 1`;

/** The events that SQL selects among the facts. */
async function selected(database: Database, scope: Scope, only?: EventMatch): Promise<string[]> {
  const params = new SqlParams();
  const where = factConditions(params, scope, null, only);
  const found = await database.query<{ event_id: string }>(
    `SELECT f.event_id FROM facts f WHERE ${where} ORDER BY 1`,
    params.values,
  );
  return found.map(({ event_id }) => event_id);
}

Deno.test("event tests: histories hold what an event's own numbers tell", () => {
  assert.deepEqual(HELD, [
    ...["name", "path", "host", "country", "region", "city", "browser", "os", "device", "userId"],
  ]);
  const of = (...fields: Field[]) =>
    isKnownToHistories(fields.map((field) => ({ field, op: "exists", values: [] })));
  assert.equal(of(), true);
  assert.equal(of("path", "userId"), true);
  for (const field of ["title", "referrer", "channel", "properties.path"] as const) {
    assert.equal(of("path", field), false, field);
  }
});

onBothEngines("event tests: what passes is what SQL selects", async (_t, db) => {
  const database = await openWithProjects(db);
  const [events] = fc.sample(rows, { numRuns: 1 });
  const other = newRow({ project_id: 2, name: "signup", country: "DE", path: "/a" });
  await insertEvents(database, [...events!, other]);
  const fold = createFold(database);
  await fold.catchUp(2);
  await fold.catchUp(1);
  const facts = await database.query<Numbers>(NUMBERS);
  assert.equal(facts.length, new Set(events!.map((row) => row.event_id)).size);

  let passed = 0;
  const asked = fc.asyncProperty(filters, bots, match, async (filters, bots, match) => {
    const scope: Scope = { projectId: 1, siteHost: null, bots, filters };
    const test = await eventTest(database, scope, bots, filters);
    const ids = facts.filter(({ name, path, context, actor }) =>
      test.passes(name, path, context, actor)
    ).map((fact) => fact.event_id).sort();
    assert.deepEqual(ids, await selected(database, scope));
    passed += ids.length;

    const lists = [matchFilters(match), [...filters, ...matchFilters(match)]];
    const [matched, both] = await eventTests(database, scope, bots, lists);
    for (const { name, path, context, actor } of facts) {
      const passes = [test, matched!].every((one) => one.passes(name, path, context, actor));
      assert.equal(both!.passes(name, path, context, actor), passes);
      const isNamed = matched!.names === null || matched!.names[name] === 1;
      const beyond = matched!.passesBeyondName(path, context, actor);
      assert.equal(matched!.passes(name, path, context, actor), isNamed && beyond);
      if (matched!.isOfName && bots === "include") assert.equal(beyond, true);
    }
    const wanted = await selected(database, scope, match);
    assert.deepEqual(
      facts.filter(({ name, path, context, actor }) => both!.passes(name, path, context, actor))
        .map((fact) => fact.event_id).sort(),
      wanted,
    );
  });
  await fc.assert(asked, { numRuns: 60 });
  assert.ok(passed > 0);
});

onBothEngines(
  "event tests: of a project without events, and of fields that histories lack",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const scope = { projectId: 1 };
    const nothing = await eventTest(database, scope, "exclude", [
      { field: "path", op: "is", values: ["/a"] },
    ]);
    assert.equal(nothing.termMax, 0);
    assert.equal(nothing.passes(0, 0, 0, 0), false);
    await assert.rejects(
      eventTest(database, scope, "exclude", [{ field: "title", op: "exists", values: [] }]),
      /do not hold/,
    );
  },
);
