import fc from "fast-check";
import assert from "node:assert/strict";
import { scanCuts, timelinesIn } from "../../src/timelines/picked_timelines.ts";
import { nameBit } from "../../src/timelines/run_bits.ts";
import { MemoryScope, SharedMemory } from "../../src/timelines/shared_memory.ts";
import { ANY_RUN, type RunBits } from "../../src/timelines/timeline.ts";
import { buildTimelines } from "../../src/timelines/timeline_build.ts";
import { touchedTimelines } from "../../src/timelines/touched_timelines.ts";
import {
  expected,
  IdTable,
  numbersOf,
  segmentsOf,
  takeNew,
  timelinesOf,
  told,
} from "./timeline_world.ts";

Deno.test("timelinesIn: every actor's events in some segments, in order, as if there were no others", async () => {
  const event = fc.record({
    identity: fc.integer({ min: 1, max: 8 }),
    ms: fc.oneof(fc.integer({ min: -4, max: 4 }), fc.integer({ min: -1e9, max: 1e9 })),
    group: fc.nat({ max: 5 }),
  });
  const events = fc.array(event, { maxLength: 80, size: "max" });
  const linked = fc.dictionary(fc.constantFrom("1", "2", "3"), fc.constantFrom(4, 5, 12));
  const kept = fc.uniqueArray(fc.nat({ max: 5 }));
  const agrees = fc.asyncProperty(events, linked, kept, async (places, owners, left) => {
    const links = new Map(Object.entries(owners).map(([id, actor]) => [Number(id), actor]));
    const all = places.map(({ identity, ms }, i) => told(identity, ms, i + 1));
    const segments = segmentsOf(
      Array.from({ length: 6 }, (_, group) => all.filter((_, i) => places[i]!.group === group)),
    );
    const { actorOf, parts } = timelinesOf(segments, links);
    for await (const part of parts()) {
      const columns = await buildTimelines(
        new IdTable(segments),
        1,
        part.segments,
        actorOf,
        takeNew,
      );
      const own = part.segments.filter((_, place) => left.includes(place));
      const placeOf = Int32Array.from(part.segments, (segment) => own.indexOf(segment));
      const timelines = timelinesIn(own, { columns, placeOf, touched: null });
      const found = [];
      const next = (from: number) => timelines.next(from, actorOf.length, ANY_RUN);
      for (let actor = next(0); actor < actorOf.length; actor = next(actor + 1)) {
        assert.ok(timelines.goTo(actor));
        found.push({ actor: timelines.actorAt(actor), numbers: numbersOf(timelines) });
      }
      const meant = own.flatMap(({ segmentId }) => segments[segmentId - 1]!.told);
      assert.deepEqual(found, expected(meant, links));
    }
  });
  await fc.assert(agrees, { numRuns: 300 });
});

Deno.test("timelinesIn: every actor's events in some cached and some further segments, in order", async () => {
  const event = fc.record({
    identity: fc.integer({ min: 1, max: 12 }),
    ms: fc.oneof(fc.integer({ min: -4, max: 4 }), fc.integer({ min: -1e9, max: 1e9 })),
    group: fc.nat({ max: 5 }),
  });
  const events = fc.array(event, { maxLength: 80, size: "max" });
  const linked = fc.dictionary(fc.constantFrom("1", "2", "3"), fc.constantFrom(4, 5, 12));
  const some = fc.uniqueArray(fc.nat({ max: 5 }));
  // Of three actors one is left out; 3: none is.
  const out = fc.nat({ max: 3 });
  const drawn = [events, linked, some, some, out] as const;
  const agrees = fc.asyncProperty(...drawn, async (places, owners, kept, own, left) => {
    const isLeft = (actor: number) => left < 3 && actor % 3 === left;
    const links = new Map(Object.entries(owners).map(([id, actor]) => [Number(id), actor]));
    const all = places.map(({ identity, ms }, i) => told(identity, ms, i + 1));
    const segments = segmentsOf(
      Array.from({ length: 6 }, (_, group) => all.filter((_, i) => places[i]!.group === group)),
    );
    const table = new IdTable(segments);
    const { actorOf, parts } = timelinesOf(segments, links);
    for await (const part of parts()) {
      const before = part.segments.filter((_, place) => kept.includes(place));
      // Who came later was not known when the columns were built.
      const last = before.reduce((max, { identities }) => Math.max(max, identities.at(-1)!), 0);
      const known = actorOf.slice(0, Math.max(last, ...actorOf.slice(0, last + 1)) + 1);
      const columns = await buildTimelines(table, 1, before, known, takeNew);
      const scanned = part.segments.filter((_, place) => own.includes(place));
      const placeOf = Int32Array.from(before, (segment) => scanned.indexOf(segment));
      const further = [...scanned.keys()].filter((place) => !before.includes(scanned[place]!));
      const keptColumns = { columns, placeOf };
      const memory = new MemoryScope(new SharedMemory(1_000_000));
      const touched = await touchedTimelines(
        table,
        1,
        scanned,
        further,
        keptColumns,
        actorOf,
        memory,
      );
      const buffers = new Set(Object.values(touched).map(({ buffer }) => buffer));
      const bytes = buffers.values().reduce((sum, { byteLength }) => sum + byteLength, 0);
      assert.equal(memory.memory.bytes, bytes);
      const visited = Uint8Array.from(actorOf, (_, actor) => Number(!isLeft(actor)));
      const timelines = timelinesIn(scanned, { columns, placeOf, touched }, [visited]);
      const cuts = scanCuts({ columns, placeOf, touched });
      const found = [];
      for (let i = 1; i < cuts.length; i++) {
        assert.ok(cuts[i - 1]! < cuts[i]!);
        const next = (actor: number) => timelines.next(actor, cuts[i]!, ANY_RUN);
        for (let actor = next(cuts[i - 1]!); actor < cuts[i]!; actor = next(actor + 1)) {
          assert.ok(timelines.goTo(actor));
          found.push({ actor, numbers: numbersOf(timelines) });
        }
      }
      const meant = scanned.flatMap(({ segmentId }) => segments[segmentId - 1]!.told);
      assert.deepEqual(found, expected(meant, links).filter(({ actor }) => !isLeft(actor)));
    }
  });
  await fc.assert(agrees, { numRuns: 1000 });
});

Deno.test("scanCuts: actors newer than the columns are in ranges of their own", () => {
  const none = { segmentOf: new Int32Array(0), starts: new Int32Array(0), ends: new Int32Array(0) };
  const columns = {
    ...{ ...none, runBits: new Int32Array(0) },
    offsets: new Int32Array(101),
    cuts: Int32Array.of(10, 50, 100),
  };
  const cutsWith = (actors: readonly number[]) =>
    scanCuts({
      ...{ columns, placeOf: new Int32Array(0) },
      touched: {
        ...{ ...none, runBits: new Int32Array(0) },
        actors: Int32Array.from(actors),
        offsets: new Int32Array(actors.length + 1),
      },
    });
  assert.deepEqual(cutsWith([]), [10, 50, 100]);
  assert.deepEqual(cutsWith([20, 99]), [10, 50, 100]);
  assert.deepEqual(cutsWith([3, 20, 100, 120]), [3, 10, 50, 100, 121]);
  const many = Array.from({ length: 3_000 }, (_, i) => 200 + i);
  assert.deepEqual(cutsWith(many), [10, 50, 100, 200, 1_224, 2_248, 3_200]);
});

Deno.test("timelinesIn: ranges of many actors, and those of them with certain names", async () => {
  const actors = 20_000;
  const identities = Array.from({ length: actors }, (_, i) => i + 1);
  const groups = [2, 3].map((every, group) =>
    identities.filter((id) => id % every === 0).map((id) => told(id, 100 * group + 1, id % 32))
  );
  const { actorOf, parts } = timelinesOf(segmentsOf(groups), new Map());
  for await (const { segments } of parts()) {
    const columns = await buildTimelines(new IdTable([]), 1, segments, actorOf, takeNew);
    const placeOf = Int32Array.of(-1, 0);
    const timelines = timelinesIn(segments.slice(1), { columns, placeOf, touched: null });
    const found = (from: number, to: number, bits: RunBits) => {
      const visited = [];
      const next = (actor: number) => timelines.next(actor, to, bits);
      for (let actor = next(from); actor < to; actor = next(actor + 1)) visited.push(actor);
      return visited;
    };
    const thirds = identities.filter((id) => id % 3 === 0);
    const within = (from: number, to: number) => thirds.filter((id) => id >= from && id < to);
    for (const [from, to] of [[0, actors + 1], [4_000, 9_000], [9_000, 9_001], [700, 4_900]]) {
      assert.deepEqual(found(from!, to!, ANY_RUN), within(from!, to!));
    }
    const ofName = found(0, actors + 1, { names: nameBit(6), paths: -1 });
    // Several names share a bit.
    const named = thirds.filter((id) => [6, 21].includes(id % 32));
    assert.deepEqual(ofName, named);
    for (const id of [ofName.at(-1)!, 2, 19_998, 3]) {
      assert.equal(timelines.goTo(id), id % 3 === 0);
      if (id % 3 === 0) assert.deepEqual(numbersOf(timelines), [id % 32]);
    }
  }
});
