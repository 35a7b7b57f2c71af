import fc from "fast-check";
import assert from "node:assert/strict";
import type { Database, Sql } from "../../src/db/sql.ts";
import type { MsSpan, WantedBlocks } from "../../src/store/stored_segments.ts";
import type { DecodedBlocks } from "../../src/timelines/block_decoding.ts";
import { OpenBlocks } from "../../src/timelines/open_blocks.ts";
import { loadTimelines, type Timelines } from "../../src/timelines/timelines.ts";
import { RunTimelines } from "../../src/timelines/timeline_table.ts";
import { rangeStarts, spreadActors } from "../../src/timelines/scan_parts.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { MemoryScope, SharedMemory } from "../../src/timelines/shared_memory.ts";
import { blocksWithAny, type SegmentHead } from "../../src/store/segment_head.ts";
import { onBothEngines } from "../support/databases.ts";
import { loadingInPlace, segmentsOf, storeSegment, told, visitActors } from "./timeline_world.ts";

const headOf = (firstIdentities: number[], lastIdentity: number, events: number) =>
  ({
    firstIdentities: Int32Array.from(firstIdentities),
    lastIdentity,
    events,
    blockEvents: Math.ceil(events / firstIdentities.length),
  }) as SegmentHead;

Deno.test("rangeStarts: ranges have about the wanted number of events, and no identity is in two", () => {
  assert.deepEqual(rangeStarts([], 10), [0]);
  assert.deepEqual(rangeStarts([headOf([1, 5, 9], 12, 30)], 100), [0]);
  assert.deepEqual(rangeStarts([headOf([1, 5, 9], 12, 30)], 10), [0, 5, 9]);
  // Blocks of several segments are cut finer: together they are not to be too many.
  const two = [headOf([1, 5, 9], 12, 30), headOf([3], 3, 10)];
  assert.deepEqual(rangeStarts(two, 10), [0, 3, 4, 8, 12]);
  // A block is cut where it holds more, but not an identity.
  assert.deepEqual(rangeStarts([headOf([1], 4, 40)], 10), [0, 2, 3, 4]);
  assert.deepEqual(rangeStarts([headOf([7], 7, 40)], 10), [0]);
  // Heavier events count as more of them.
  const light = headOf([1, 5, 9], 12, 30);
  assert.deepEqual(rangeStarts([light], 10, () => 1 / 3), [0]);
  const heavy = rangeStarts([light, headOf([20], 29, 30)], 10, (head) => head === light ? 1 : 2);
  assert.deepEqual(heavy.filter((start) => start > 12), [20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
});

Deno.test("spreadActors: those whose identities are in several ranges", () => {
  const actorOf = Int32Array.of(0, 1, 1, 3, 1, 3, 6);
  assert.deepEqual([...spreadActors(actorOf, [0, 3])], [0, 1, 0, 0, 0, 0, 0]);
  assert.deepEqual([...spreadActors(actorOf, [0, 4])], [0, 1, 0, 1, 0, 0, 0]);
  assert.deepEqual([...spreadActors(actorOf, [0])], [0, 0, 0, 0, 0, 0, 0]);
});

Deno.test("blocksWithAny: blocks that may have any of some identities, adjacent ones together", () => {
  const head = headOf([1, 5, 9, 20], 25, 40);
  const blocks = (...identities: number[]) => blocksWithAny(head, Int32Array.from(identities));
  assert.deepEqual(blocks(), []);
  assert.deepEqual(blocks(6, 7, 22), [{ first: 1, end: 2 }, { first: 3, end: 4 }]);
  // The last of a block may go on in the next one.
  assert.deepEqual(blocks(9), [{ first: 1, end: 3 }]);
  assert.deepEqual(blocks(26), []);
});

const loadWith = (sql: Sql, cache: SegmentCache, projectId: number, span: MsSpan) =>
  loadTimelines(loadingInPlace(sql, cache), projectId, span);

/** What is visited of each actor, in order, and how many parts there were. */
async function visitsOf(database: Database, timelines: Timelines) {
  const visits = new Map<number, number[]>();
  await visitActors(database, timelines, (actor, timeline) => {
    const { segments, segmentOf, starts, ends } = timeline;
    assert.ok(!visits.has(actor), `${actor} is visited once`);
    const numbers: number[] = [];
    for (let i = timeline.first; i < timeline.end; i++) {
      numbers.push(...segments[segmentOf[i]!]!.names.subarray(starts[i]!, ends[i]!));
    }
    visits.set(actor, numbers);
  });
  const runs: string[] = [];
  for await (const { segments, readOn } of timelines.parts()) {
    readOn();
    // Answered after what the next part asks first: this one stays as it is.
    await database.query("SELECT 1");
    for (const segment of segments) {
      const runsOf = new RunTimelines(segment, timelines.actorOf);
      for (let run = 0; run < segment.identities.length && runsOf.goTo(run); run++) {
        const own = segment.names.subarray(runsOf.starts[run]!, runsOf.ends[run]!);
        for (const name of own) runs.push(`${runsOf.actorAt(run)} ${name}`);
      }
    }
  }
  let [parts, largest] = [0, 0];
  for await (const { segments } of timelines.parts()) {
    parts += Number(segments.length > 0);
    const events = segments.flatMap(({ starts, ends }) =>
      [...ends].map((end, i) => end - starts[i]!)
    );
    largest = Math.max(largest, events.reduce((sum, count) => sum + count, 0));
  }
  return { visits: [...visits].sort(([a], [b]) => a - b), runs: runs.sort(), parts, largest };
}

onBothEngines("timelines: parts have the same events as the whole", async (_t, db) => {
  const database = await db.open();
  const place = fc.record({
    identity: fc.integer({ min: 1, max: 40 }),
    ms: fc.integer({ min: 0, max: 30 }),
    group: fc.nat({ max: 4 }),
  });
  const worlds = fc.array(place, { minLength: 1, maxLength: 120, size: "max" });
  const links = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 })),
  );
  let project = 0;
  const seen = { parts: 0, gathered: 0 };
  const property = fc.asyncProperty(worlds, links, async (places, links) => {
    const projectId = ++project;
    const events = places.map(({ identity, ms }, i) => told(identity, ms, i + 1));
    const groups = [0, 1, 2, 3, 4].map((group) =>
      events.filter((_, i) => places[i]!.group === group)
    );
    for (const segment of segmentsOf(groups)) await storeSegment(database, projectId, segment);
    await database.query(
      "INSERT INTO projections (project_id) VALUES ($1::int)",
      [projectId],
    );
    const linked = new Map(links.filter(([from, to]) => from !== to));
    for (const [from, to] of linked) {
      if (linked.has(to)) continue;
      seen.gathered++;
      await database.query(
        `INSERT INTO identities (project_id, identity_id, actor_id, kind, value)
        VALUES ($1::int, $2::int, $3::int, 'a', $2::text)`,
        [projectId, from, to],
      );
    }
    const span = { fromMs: 0, toMs: 31 };
    const load = (cacheBytes: number, partBytes: number) =>
      loadWith(database, new SegmentCache(cacheBytes, partBytes), projectId, span);
    const whole = await visitsOf(database, await load(1_000_000, 0));
    assert.equal(whole.parts, 1);
    for (const partBytes of [1, 400, 1_000_000]) {
      const { visits, runs, parts } = await visitsOf(database, await load(0, partBytes));
      assert.deepEqual({ visits, runs }, { visits: whole.visits, runs: whole.runs });
      seen.parts = Math.max(seen.parts, parts);
    }
  });
  await fc.assert(property, { numRuns: 25 });
  assert.ok(seen.parts > 10 && seen.gathered > 10, JSON.stringify(seen));
});

onBothEngines("timelines: a part has about as many events as it may", async (_t, db) => {
  const database = await db.open();
  // Two blocks each, of a thousand people, every tenth of whom is somebody of the other half.
  const groups = [0, 1].map((group) =>
    Array.from({ length: 20_000 }, (_, i) => told(1 + i * 7 % 1_000, i % 900, 20_000 * group + i))
  );
  for (const segment of segmentsOf(groups)) await storeSegment(database, 1, segment);
  await database.query("INSERT INTO projections (project_id) VALUES (1)");
  await database.query(
    `INSERT INTO identities (project_id, identity_id, actor_id, kind, value)
    SELECT 1, i, 1001 - i, 'a', i::text FROM generate_series(10, 500, 10) i`,
  );
  const load = (cacheBytes: number) =>
    loadWith(database, new SegmentCache(cacheBytes, 70_000), 1, { fromMs: 0, toMs: 900 });
  const whole = await visitsOf(database, await load(10_000_000));
  const { visits, runs, parts, largest } = await visitsOf(database, await load(0));
  assert.deepEqual({ visits, runs }, { visits: whole.visits, runs: whole.runs });
  // 70,000 bytes are 5,000 events of 14 bytes each; the blocks that they lie in are whole.
  assert.ok(parts >= 8 && largest <= 7_500, `${parts} parts of up to ${largest} events`);
});

onBothEngines("timelines: what was read ahead and not used is given back", async (_t, db) => {
  const database = await db.open();
  const events = Array.from({ length: 2_000 }, (_, i) => told(1 + i % 500, i % 900, i));
  for (const segment of segmentsOf([events])) await storeSegment(database, 1, segment);
  await database.query("INSERT INTO projections (project_id) VALUES (1)");
  const cache = new SegmentCache(0, 10_000);
  const timelines = await loadWith(database, cache, 1, { fromMs: 0, toMs: 900 });
  const bytesAfterPart = async () => {
    for await (const { readOn } of timelines.parts()) {
      readOn();
      break;
    }
    return cache.memory.bytes;
  };
  // What is given back is taken again; else it would become more.
  const bytes = await bytesAfterPart();
  assert.equal(await bytesAfterPart(), bytes);
  // A next part that fails is told of when it is asked for, and not before.
  const failing = timelines.parts()[Symbol.asyncIterator]();
  const { value: first } = await failing.next();
  await database.query("DELETE FROM segments WHERE project_id = 1");
  first!.readOn();
  await database.query("SELECT 1");
  await assert.rejects(() => failing.next());
  assert.equal(cache.memory.bytes, bytes);
});

const BLOCK_BYTES = 98_304;

Deno.test("OpenBlocks: kept for the next range while there is room, and given back once", () => {
  const memory = new SharedMemory(0);
  const [kept, part, next] = [0, 1, 2].map(() => new MemoryScope(memory));
  const decodedOf = (segmentId: number, first: number, events: number, scope: MemoryScope) =>
    ({
      wanted: { segmentId, blocks: { first, end: first + 1 } },
      columns: { times: new Uint32Array(scope.take(BLOCK_BYTES), 0, events) },
    }) as DecodedBlocks;
  const open = new OpenBlocks(30, kept!);
  const found = (segmentId: number, block: number) =>
    open.find({ segmentId, blocks: { first: block, end: block + 2 } } as WantedBlocks);
  const first = decodedOf(1, 4, 20, part!);
  const [second, third] = [decodedOf(2, 0, 10, part!), decodedOf(3, 7, 1, part!)];
  const closed = decodedOf(4, 0, 1, part!);
  open.settle([closed, first, second, third], ({ segmentId }) => segmentId !== 4, part!);
  assert.equal(found(3, 7), null, "there was no room");
  assert.equal(found(4, 0), null, "it does not go on");
  assert.equal(found(2, 1), null, "another block");
  assert.equal(found(1, 4), first);
  part!.release();
  assert.equal(memory.bytes, 2 * BLOCK_BYTES, "what is kept outlives the range");
  // The next range goes on with one of them, and reads one of its own.
  const fourth = decodedOf(5, 0, 10, next!);
  open.settle([first, fourth], () => true, next!);
  assert.deepEqual([found(1, 4), found(2, 0), found(5, 0)], [first, null, fourth]);
  next!.release();
  assert.equal(memory.bytes, 2 * BLOCK_BYTES);
  kept!.release();
  assert.equal(memory.bytes, 0);
});
