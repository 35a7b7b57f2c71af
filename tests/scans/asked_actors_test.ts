import fc from "fast-check";
import assert from "node:assert/strict";
import { ALL_ACTORS, type Asked, ASKED_ACTORS, narrowing } from "../../src/scans/asked_actors.ts";
import type { EventPasses } from "../../src/scans/event_test.ts";
import type { ScanOrder } from "../../src/scans/scan_task.ts";
import type { SessionPasses } from "../../src/scans/session_test.ts";
import type { LoadedSegment } from "../../src/timelines/loaded_segment.ts";
import { IN_PLACE } from "../support/in_place.ts";
import { loadedSegment, segmentOfTold, told } from "../timelines/timeline_world.ts";

/** More than there are bits in the bits of a run. */
const IDS = 20;
const ACTORS = 8;
const ANY_EVENT: EventPasses = {
  ...{ names: null, paths: null, contexts: null, actors: null },
  ...{ contextsFrom: 0, contextsTo: 1, contextMin: 0, contextMax: 1, termMax: IDS },
  bits: Int32Array.of(0),
};
const ANY_SESSION: SessionPasses = {
  ...{ traffics: null, entryPaths: null, exitPaths: null },
  passesNone: true,
};

/** An event with the ids of its name, its path and its traffic. */
interface Placed {
  readonly name: number;
  readonly identity: number;
  readonly group: number;
  readonly path: number;
  readonly traffic: number;
}

/** The events of a group as a segment. */
function segmentsOf(events: readonly Placed[]): LoadedSegment[] {
  return [...Map.groupBy(events, ({ group }) => group).values()].map((own, i) => {
    // In the order of the segment: by identity, then as they come.
    const inOrder = own.toSorted((a, b) => a.identity - b.identity);
    const segment = segmentOfTold(
      inOrder.map(({ identity, name }, at) => told(identity, at, name)),
    )!;
    const paths = Uint8Array.from(inOrder, ({ path }) => path);
    const traffics = Uint8Array.from(inOrder, ({ traffic }) => traffic);
    return loadedSegment({ ...segment, paths, traffics }, i + 1);
  });
}

async function found(segments: readonly LoadedSegment[], asked: Asked): Promise<number[][]> {
  const [withEvent, withSession] = [new Uint8Array(ACTORS), new Uint8Array(ACTORS)];
  const order: ScanOrder = {
    visitor: ASKED_ACTORS.name,
    inputs: {
      ...asked,
      withEvent: asked.events === null ? null : withEvent,
      withSession: asked.sessions === null ? null : withSession,
    },
    segments,
    words: [],
    timelines: null,
    // Two identities of an actor.
    actorOf: Int32Array.from({ length: 2 * ACTORS }, (_, id) => id % ACTORS),
    sessions: null,
    actors: [],
  };
  await IN_PLACE.run(ASKED_ACTORS, order);
  return [withEvent, withSession].map((column) =>
    [...column].flatMap((is, actor) => is === 1 ? [actor] : [])
  );
}

Deno.test("asked actors: those with an event that passes, and with one that may begin a passing session", async () => {
  const table = fc.uint8Array({ min: 0, max: 1, minLength: IDS + 1, maxLength: IDS + 1 });
  const id = fc.nat({ max: IDS });
  const event = fc.record({
    identity: fc.integer({ min: 1, max: 2 * ACTORS - 1 }),
    group: fc.nat({ max: 2 }),
    name: id,
    path: id,
    traffic: id,
  });
  const agrees = fc.asyncProperty(
    fc.array(event, { maxLength: 40 }),
    fc.option(table),
    table,
    table,
    fc.option(table),
    async (events, names, paths, traffics, entryPaths) => {
      const asked = {
        events: { ...ANY_EVENT, names, paths },
        sessions: { ...ANY_SESSION, traffics, entryPaths, passesNone: false },
      };
      const actorsOf = (passes: (event: Placed) => boolean) =>
        [...new Set(events.filter(passes).map(({ identity }) => identity % ACTORS))]
          .toSorted((a, b) => a - b);
      const byEvents = actorsOf(({ name, path }) =>
        (names === null || names[name] === 1) && paths[path] === 1
      );
      const bySessions = actorsOf(({ path, traffic }) =>
        traffic !== 0 && traffics[traffic] === 1 && (entryPaths === null || entryPaths[path] === 1)
      );
      const segments = segmentsOf(events);
      assert.deepEqual(await found(segments, asked), [byEvents, bySessions]);
      assert.deepEqual(await found(segments, { ...asked, events: null }), [[], bySessions]);
      assert.deepEqual(await found(segments, { ...asked, sessions: null }), [byEvents, []]);
    },
  );
  await fc.assert(agrees, { numRuns: 500 });
});

Deno.test("asked actors: what all have is not looked for", () => {
  const some = Uint8Array.of(0, 1, 0, 0, 0);
  const most = Uint8Array.of(1, 1, 1, 0, 0);
  const all = { ...ANY_EVENT, names: most, contextMin: 1 };
  assert.deepEqual(narrowing(ALL_ACTORS), ALL_ACTORS);
  assert.deepEqual(narrowing({ events: all, sessions: ANY_SESSION }), ALL_ACTORS);
  const asking: Partial<EventPasses>[] = [
    { names: some },
    { paths: most },
    { contexts: most },
    { actors: most },
    // Bots alone.
    { contextMin: -5, contextMax: -1 },
    { bits: Int32Array.of(0, 2) },
  ];
  for (const members of asking) {
    const events = { ...all, ...members };
    assert.deepEqual(narrowing({ events, sessions: null }), { events, sessions: null });
  }
  // A session passes by its last page, or events in no session do: any actor may have one.
  for (const members of [{ exitPaths: some }, { traffics: some, passesNone: true }]) {
    const sessions = { ...ANY_SESSION, passesNone: false, ...members };
    assert.deepEqual(narrowing({ events: null, sessions }), ALL_ACTORS);
  }
  for (const members of [{ traffics: some }, { entryPaths: some }]) {
    const sessions = { ...ANY_SESSION, passesNone: false, ...members };
    assert.deepEqual(narrowing({ events: null, sessions }), { events: null, sessions });
  }
});
