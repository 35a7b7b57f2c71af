import fc from "fast-check";
import assert from "node:assert/strict";
import type { Histories, HistoryPart } from "../../src/timelines/histories.ts";
import { LoadedSegment } from "../../src/timelines/loaded_segment.ts";
import { walkPartNamed } from "../../src/timelines/named_walk.ts";
import type { VisitRun } from "../../src/timelines/run_walk.ts";
import { historiesOf, partsOf, segmentsOf, type Told, told } from "./walk_world.ts";

interface Visit {
  readonly actor: number;
  readonly number: number;
}

/** 1 at each of these numbers, of names from 0 to `last`. */
function wantedNames(numbers: readonly number[], last: number): Uint8Array {
  const isWanted = new Uint8Array(last + 1);
  for (const number of numbers) isWanted[number] = 1;
  return isWanted;
}

/** What is visited, and whether that was all; each visit must be of one event, and its actor's. */
async function visitsOf(histories: Histories, isWanted: Uint8Array) {
  const visits: Visit[] = [];
  const [part] = await Array.fromAsync(histories.parts());
  const isDone = await walkPartNamed(histories, part!, isWanted, (actor, segment, start, end) => {
    assert.ok(part!.segments.includes(segment));
    assert.equal(end, start + 1);
    const run = segment.starts.findLastIndex((first) => first <= start);
    assert.equal(actor, histories.actorOf[segment.identities[run]!]);
    visits.push({ actor, number: segment.names[start]! });
  });
  return { isDone, visits };
}

const numbersOf = (list: readonly Visit[]): number[] =>
  list.map(({ number }) => number).sort((a, b) => a - b);

/** Fails unless the actor changes as often as there are actors. */
function assertSideBySide(visits: readonly Visit[]): void {
  const changes = visits.filter(({ actor }, i) => actor !== visits[i - 1]?.actor);
  assert.equal(changes.length, new Set(visits.map(({ actor }) => actor)).size);
}

Deno.test("walkPartNamed: events of the names, each once, all of an actor side by side, or none", async () => {
  const place = fc.record({
    identity: fc.integer({ min: 1, max: 8 }),
    ms: fc.integer({ min: -20, max: 20 }),
    group: fc.nat({ max: 5 }),
    luck: fc.integer({ min: 1, max: 20 }),
  });
  const linked = fc.dictionary(fc.constantFrom("1", "2", "3"), fc.constantFrom(4, 5, 12));
  const [places, luck] = [fc.array(place, { maxLength: 80, size: "max" }), fc.nat({ max: 8 })];
  const seen = { walked: 0, left: 0 };
  await fc.assert(
    fc.asyncProperty(places, linked, luck, async (places, owners, luckMax) => {
      const links = new Map(Object.entries(owners).map(([id, actor]) => [Number(id), actor]));
      const events = places.map(({ identity, ms }, i) => told(identity, ms, i + 1));
      const groups = Array.from(
        { length: 6 },
        (_, group) => events.filter((_, i) => places[i]!.group === group),
      );
      const wanted = events.filter((_, i) => places[i]!.luck <= luckMax)
        .map(({ number }) => number);
      const { isDone, visits } = await visitsOf(
        historiesOf(segmentsOf(groups), links),
        wantedNames(wanted, events.length),
      );
      assert.equal(isDone, 4 * wanted.length <= events.length);
      assert.deepEqual(numbersOf(visits), isDone ? wanted : []);
      assertSideBySide(visits);
      if (isDone) seen.walked += visits.length;
      else seen.left++;
    }),
    { numRuns: 500 },
  );
  assert.ok(seen.walked > 0 && seen.left > 0);
});

Deno.test("walkPartNamed: up to a quarter of all events, and not one more", async () => {
  const shares = [[0, 0], [0, 3], [1, 1], [1, 3], [1, 4], [2, 7], [2, 8], [25, 99], [25, 100]];
  const done = [true, true, false, false, true, false, true, false, true];
  for (const [i, [wanted = 0, all = 0]] of shares.entries()) {
    const events = Array.from({ length: all }, (_, i) => told(1 + i % 3, i, i + 1));
    const halves = [events.slice(0, all >> 1), events.slice(all >> 1)];
    const numbers = Array.from({ length: wanted }, (_, i) => all - i).reverse();
    const found = await visitsOf(
      historiesOf(segmentsOf(halves), new Map()),
      wantedNames(numbers, all),
    );
    assert.equal(found.isDone, done[i], `${wanted} of ${all}`);
    assert.deepEqual(numbersOf(found.visits), done[i] ? numbers : []);
  }
});

Deno.test("walkPartNamed: what one actor's identities did, in whatever segments, is visited together", async () => {
  const others = Array.from({ length: 12 }, (_, i) => told(9, i, 10 + i));
  const groups: Told[][] = [
    [told(1, 0, 1), told(2, 1, 2), told(3, 2, 3), ...others],
    [told(2, 3, 4), told(3, 4, 5)],
  ];
  const histories = historiesOf(segmentsOf(groups), new Map([[1, 3]]));
  const { visits } = await visitsOf(histories, wantedNames([1, 2, 3, 4], 30));
  assertSideBySide(visits);
  const byActor = Map.groupBy(visits, ({ actor }) => actor);
  assert.deepEqual([...byActor.keys()].sort(), [2, 3]);
  assert.deepEqual(numbersOf(byActor.get(2)!), [2, 4]);
  assert.deepEqual(numbersOf(byActor.get(3)!), [1, 3]);
});

/** `walkPartNamed`, of the only part. */
async function named(histories: Histories, isWanted: Uint8Array, visit: VisitRun) {
  const [part] = await Array.fromAsync(histories.parts());
  return await walkPartNamed(histories, part!, isWanted, visit);
}

/** One actor's events of names 0 and 1, of the latter so many. */
function longHistories(wanted: number): Histories {
  const length = 4 * wanted;
  const bare = new Uint8Array(length);
  const names = bare.map((_, at) => Number(at % 4 === 0));
  const segment = new LoadedSegment({
    ...{ segmentId: 1, fromMs: 0, toMs: 0, names },
    ...{ paths: bare, contexts: bare, traffics: bare, depths: new Float64Array(0) },
    scrolls: new Uint32Array(0),
    nameBits: Int32Array.of(-1),
    identities: Int32Array.of(1),
    starts: Uint32Array.of(0, length),
    times: new Uint32Array(length),
  });
  return { projectId: 1, actorOf: Int32Array.of(0, 1), parts: partsOf([segment]) };
}

Deno.test("walkPartNamed: on some paths alone, of whose events the share decides", async () => {
  const { parts, ...rest } = longHistories(8);
  const [{ segments: [whole] }] = await Array.fromAsync(parts()) as [HistoryPart];
  const names = new Uint8Array(whole!.names.length).fill(1);
  const paths = names.map((_, at) => at % 8);
  const part: HistoryPart = {
    segments: [new LoadedSegment({ ...whole!, names, paths })],
    runs: (find) => find(),
  };
  const isWanted = Uint8Array.of(0, 1);
  for (const [numbers, isDone] of [[[], true], [[3], true], [[3, 5], true], [[3, 5, 6], false]]) {
    const onPath = wantedNames(numbers as number[], 7);
    const places: number[] = [];
    const visit: VisitRun = (_, __, start) => void places.push(start);
    assert.equal(await walkPartNamed(rest, part, isWanted, visit, onPath), isDone);
    assert.deepEqual(places, isDone ? [...paths.keys()].filter((at) => onPath[paths[at]!]) : []);
  }
});

Deno.test("walkPartNamed: others have their turn meanwhile", async () => {
  let turns = 0;
  let visits = 0;
  const timer = setInterval(() => turns++, 0);
  await named(longHistories(100_000), Uint8Array.of(0, 1), () => {
    if (visits++ % 20_000 !== 0) return;
    const untilMs = performance.now() + 20;
    while (performance.now() < untilMs);
  });
  clearInterval(timer);
  assert.equal(visits, 100_000);
  assert.ok(turns >= 3, `${turns} turns`);
});

Deno.test("walkPartNamed: a visit that fails ends the walk", async () => {
  let visits = 0;
  const walk = named(longHistories(3), Uint8Array.of(0, 1), () => {
    visits++;
    throw new Error("seen enough");
  });
  await assert.rejects(walk, /seen enough/);
  assert.equal(visits, 1);
});
