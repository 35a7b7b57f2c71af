import fc from "fast-check";
import assert from "node:assert/strict";
import type { Database, Sql } from "../../src/db/sql.ts";
import { loadTimelines, type Timelines } from "../../src/timelines/timelines.ts";
import { LoadedSegment } from "../../src/timelines/loaded_segment.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { buildTimelines } from "../../src/timelines/timeline_build.ts";
import { CUT_EVENTS } from "../../src/timelines/timeline_table.ts";
import { TIMELINE_IDS_LOOKED_UP } from "../../src/limits.ts";
import { segmentsOf as loadedSegmentsOf } from "../support/read_timelines.ts";
import { onBothEngines } from "../support/databases.ts";
import {
  expected,
  idOf,
  IdTable,
  loadedSegment,
  loadingInPlace,
  numbersOf,
  partsOf,
  type Segment,
  segmentOfTold,
  segmentsOf,
  storeSegment,
  takeNew,
  timelinesOf,
  type Told,
  told,
  visitActors,
} from "./timeline_world.ts";

interface Visit {
  readonly actor: number;
  readonly numbers: number[];
  readonly slices: number;
}

async function visitsOf(sql: Sql, timelines: Timelines): Promise<Visit[]> {
  const visits: Visit[] = [];
  await visitActors(sql, timelines, (actor, timeline) => {
    visits.push({ actor, numbers: numbersOf(timeline), slices: timeline.end - timeline.first });
  });
  return visits;
}

async function walked(segments: readonly Segment[], links = new Map<number, number>()) {
  const table = new IdTable(segments);
  return { visits: await visitsOf(table, timelinesOf(segments, links)), lookUps: table.lookUps };
}

Deno.test("buildTimelines: every actor once, with all events in order, in whatever runs they are", async () => {
  const place = fc.record({
    identity: fc.integer({ min: 1, max: 8 }),
    ms: fc.oneof(fc.integer({ min: -4, max: 4 }), fc.integer({ min: -1e9, max: 1e9 })),
    group: fc.nat({ max: 5 }),
  });
  const linked = fc.dictionary(fc.constantFrom("1", "2", "3"), fc.constantFrom(4, 5, 12));
  await fc.assert(
    fc.asyncProperty(
      fc.array(place, { maxLength: 80, size: "max" }),
      linked,
      async (places, owners) => {
        const links = new Map(Object.entries(owners).map(([id, actor]) => [Number(id), actor]));
        const events = places.map(({ identity, ms }, i) => told(identity, ms, i + 1));
        const groups = Array.from(
          { length: 6 },
          (_, group) => events.filter((_, i) => places[i]!.group === group),
        );
        const { visits } = await walked(segmentsOf(groups), links);
        const found = visits.map(({ actor, numbers }) => ({ actor, numbers }));
        assert.deepEqual(found.toSorted((a, b) => a.actor - b.actor), expected(events, links));
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("buildTimelines: one slice per run if runs follow each other, and no id is looked up", async () => {
  const groups = [
    [told(1, 100, 1), told(1, 100, 2), told(3, 50, 3)],
    [told(1, 101, 4), told(1, 300, 5), told(2, 200, 6)],
    [told(3, 400, 7), told(1, 301, 8)],
  ];
  const { visits, lookUps } = await walked(segmentsOf(groups));
  assert.deepEqual(visits.map(({ actor, slices }) => [actor, slices]), [
    [1, 3],
    [2, 1],
    [3, 2],
  ]);
  assert.equal(lookUps, 0);
});

Deno.test("buildTimelines: shorter slices where runs interleave, including those of one segment", async () => {
  const groups = [
    [told(1, 10, 1), told(1, 20, 2), told(1, 30, 3), told(2, 5, 4), told(2, 25, 5)],
    [told(2, 26, 6), told(2, 40, 7)],
  ];
  const { visits, lookUps } = await walked(segmentsOf(groups), new Map([[1, 2]]));
  assert.deepEqual(visits, [{ actor: 2, numbers: [4, 1, 2, 5, 6, 3, 7], slices: 6 }]);
  assert.equal(lookUps, 0);
});

Deno.test("buildTimelines: within a millisecond ids determine the order, whatever the links", async () => {
  const groups = [
    [told(1, 10, 1), told(1, 20, 2), told(1, 20, 3), told(2, 1, 4)],
    [told(1, 20, 5), told(1, 30, 6)],
  ];
  const { visits, lookUps } = await walked(segmentsOf(groups));
  const tied = [2, 3, 5].toSorted((a, b) => idOf(a).toHex() < idOf(b).toHex() ? -1 : 1);
  assert.deepEqual(visits.map(({ actor, numbers }) => [actor, numbers]), [
    [1, [1, ...tied, 6]],
    [2, [4]],
  ]);
  assert.equal(lookUps, 1);
});

Deno.test("buildTimelines: ids are looked up for many actors together, a bounded number at a time", async () => {
  const actors = 2 * TIMELINE_IDS_LOOKED_UP;
  const sides = [1, 2].map((side) =>
    Array.from({ length: actors }, (_, i) => told(i + 1, 7, side * 20_000 + i))
  );
  const table = new IdTable(segmentsOf(sides));
  const visits = await visitsOf(table, timelinesOf(table.segments, new Map()));
  assert.equal(visits.length, actors);
  assert.equal(table.lookUps, 4);
  const busy = [1, 2].map((side) =>
    Array.from({ length: TIMELINE_IDS_LOOKED_UP }, (_, i) => told(1, i, side * 20_000 + i))
  );
  const one = await walked(segmentsOf(busy));
  assert.equal(one.lookUps, 1);
  assert.deepEqual(one.visits[0]!.numbers, expected(busy.flat(), new Map())[0]!.numbers);
});

Deno.test("buildTimelines: an actor of thousands of runs, which all interleave", async () => {
  const [runs, segments] = [4_000, 4];
  const events = Array.from(
    { length: 5 * runs },
    (_, i) => told(1 + i % (runs / segments), Math.imul(i, 7_919) % (40 * runs), i + 1),
  );
  const groups = Array.from(
    { length: segments },
    (_, group) => events.filter((_, i) => Math.floor(i / 5) % segments === group),
  );
  const links = new Map(events.map(({ identity }) => [identity, 1_001]));
  const { visits } = await walked(segmentsOf(groups), links);
  assert.equal(visits.length, 1);
  assert.deepEqual(visits[0]!.numbers, expected(events, links)[0]!.numbers);
});

Deno.test("buildTimelines: no events", async () => {
  assert.deepEqual(await walked([]), { visits: [], lookUps: 0 });
});

Deno.test("buildTimelines: about as many events between any two cuts, and no cut within an actor", async () => {
  const events = Array.from({ length: 4 * CUT_EVENTS }, (_, i) => told(1 + i % 1_000, i, 1));
  const more = Array.from({ length: 2 * CUT_EVENTS }, (_, i) => told(1_500, 1e6 + i, 1));
  const { actorOf, parts } = timelinesOf(segmentsOf([events, more]), new Map());
  const [{ segments } = assert.fail()] = await Array.fromAsync(parts());
  const { cuts } = await buildTimelines(new IdTable([]), 1, segments, actorOf, takeNew);
  assert.equal(cuts[0], 1, "the first who did something");
  assert.equal(cuts.at(-1), actorOf.length);
  // Each actor has some 65 events: a cut is that far off at most; the last one has all of his.
  const eventsOf = (actor: number) => actor === 1_500 ? more.length : events.length / 1_000;
  const counts = Array.from(cuts.subarray(1), (to, i) => {
    let count = 0;
    for (let actor = Math.max(1, cuts[i]!); actor < to; actor++) {
      count += actor <= 1_000 || actor === 1_500 ? eventsOf(actor) : 0;
    }
    return count;
  });
  assert.equal(Math.round(counts.reduce((sum, count) => sum + count, 0)), 6 * CUT_EVENTS);
  assert.ok(counts.slice(0, 3).every((count) => Math.abs(count - CUT_EVENTS) < 140), counts.join());
  assert.ok(counts.some((count) => count >= more.length));
});

/** Projects that were projected, the third without an event. */
async function storedHistories(database: Database): Promise<Told[][]> {
  await database.query(
    "INSERT INTO projections (project_id) VALUES (1), (2), (3)",
  );
  await database.query(
    `INSERT INTO identities (project_id, identity_id, actor_id, kind, value)
    SELECT 1, i, CASE WHEN i = 2 THEN 300 WHEN i = 400 THEN 1 ELSE i END, 'a', i::text
    FROM generate_series(1, 400) i
    UNION ALL SELECT 2, 1, 2, 'a', 'another project'`,
  );
  const groups = [
    [told(1, -50, 1), told(2, -40, 2), told(2, 100, 3)],
    [told(2, 100, 4), told(2, 100, 5), told(3, 150, 6)],
    [told(3, 200, 7), told(1, 260, 8)],
  ];
  for (const segment of segmentsOf(groups)) await storeSegment(database, 1, segment);
  await storeSegment(database, 2, segmentOfTold([told(9, 100, 9)])!);
  return groups;
}

onBothEngines("timelines: stored segments are loaded and followed", async (t, db) => {
  const database = await db.open();
  const groups = await storedHistories(database);
  const cache = new SegmentCache(100_000);
  const load = (projectId: number, fromMs: number, toMs: number) =>
    database.transaction((sql) =>
      loadTimelines(loadingInPlace(sql, cache), projectId, { fromMs, toMs })
    );
  const numbers = async (timelines: Timelines) =>
    (await loadedSegmentsOf(timelines)).map(({ names }) => [...names].toSorted((a, b) => a - b));

  await t.step("whole segments with an event in [from, to)", async () => {
    const [first, second, third] = groups.map((group) => group.map(({ number }) => number));
    assert.deepEqual(await numbers(await load(1, -1000, 1000)), [first, second, third]);
    assert.deepEqual(await numbers(await load(1, 0, 50)), [first]);
    assert.deepEqual(await numbers(await load(1, 100, 101)), [first, second]);
    assert.deepEqual(await numbers(await load(1, 101, 200)), [second]);
    assert.deepEqual(await numbers(await load(1, 150, 201)), [second, third]);
    assert.deepEqual(await numbers(await load(1, 261, 999)), []);
    assert.deepEqual(await numbers(await load(1, -99, -50)), []);
  });

  await t.step("columns are what was stored", async () => {
    const [, second] = await loadedSegmentsOf(await load(1, -1000, 1000));
    const { segmentId } = second!;
    assert.deepEqual(second, loadedSegment(segmentOfTold(groups[1]!)!, segmentId));
  });

  await t.step("the actor of every identity that is linked, or did something", async () => {
    const { actorOf } = await load(1, 150, 201);
    assert.equal(actorOf.length, 401);
    assert.deepEqual([1, 2, 3, 300, 400].map((id) => actorOf[id]), [1, 300, 3, 300, 1]);
    assert.deepEqual([...(await load(3, 0, 9)).actorOf], [0]);
  });

  await t.step("those of the project, none where nothing was projected", async () => {
    assert.deepEqual(await numbers(await load(2, -1000, 1000)), [[9]]);
    assert.deepEqual(await numbers(await load(4, -1000, 1000)), []);
  });

  await t.step("ids of events in one millisecond are looked up", async () => {
    const timelines = await load(1, -1000, 1000);
    const visits = await visitsOf(database, timelines);
    const found = visits.map(({ actor, numbers }) => ({ actor, numbers }));
    assert.deepEqual(
      found.toSorted((a, b) => a.actor - b.actor),
      expected(groups.flat(), new Map([[2, 300]])),
    );
    assert.equal(visits.at(-1)!.actor, 300);
    const gone = timelinesOf(segmentsOf(groups), new Map([[2, 300]]));
    const elsewhere = (await loadedSegmentsOf(gone))
      .map((segment) => new LoadedSegment({ ...segment, segmentId: 999 }));
    await assert.rejects(
      visitsOf(database, { ...gone, parts: partsOf(elsewhere) }),
      /is gone/,
    );
  });
});
