import assert from "node:assert/strict";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import type { ActorCondition } from "../../../src/query/actor_condition.ts";
import type { Range } from "../../../src/query/range.ts";
import { ofSegment } from "../../../src/reports/answer/asked_segment.ts";
import {
  loadFilteredTimelines,
  type LoadTimelines,
} from "../../../src/scans/filtered_timelines.ts";
import { SegmentCache } from "../../../src/timelines/segment_cache.ts";
import type { SharedMemory } from "../../../src/timelines/shared_memory.ts";
import { onBothEngines } from "../../support/databases.ts";
import { newRow, openWithProjects } from "../../support/event_rows.ts";
import { IN_PLACE } from "../../support/in_place.ts";

const FROM_MS = Date.parse("2026-03-02T00:00:00Z");
const HOUR_MS = 3_600_000;
/** One byte for each is enough for memory to be recycled. */
const PEOPLE = 4_200;
/** The first few people do more than look. */
const BUSY = 60;

const dateAt = (hour: number) => new Date(FROM_MS + hour * HOUR_MS);
const rangeOf = (from: number, to: number): Range => ({
  ...{ from: dateAt(from), to: dateAt(to), timezone: "UTC", fromDate: null, toDate: null },
});
/** Each range has other people. */
const RANGES = [rangeOf(0, 100), rangeOf(0, 50), rangeOf(40, 100), rangeOf(0, 50)];

const did = (name: string, atLeast = 1): ActorCondition => ({
  ...{ did: { name, filters: [] }, atLeast },
});
const EARLY: ActorCondition = {
  firstSeen: { from: dateAt(0).toISOString(), to: dateAt(10).toISOString() },
};
const ACTORS: ActorCondition = {
  all: [{ any: [EARLY, did("buy", 2)] }, { not: did("leave") }, did("buy")],
};

/** When a person does what. */
const hoursOf = (person: number) => ({
  page_view: [person % 2 === 0 ? 1 : 20],
  buy: person >= BUSY ? [] : [30, 31, 60].filter((_, i) => person % (i + 3) === 0),
  leave: person < BUSY && person % 7 === 0 ? [70] : [],
});

/** Whether the condition holds for a person in a range. */
function holds(person: number, { from, to }: Range): boolean {
  const { page_view: [first], buy, leave } = hoursOf(person);
  const within = (hours: readonly number[]) =>
    hours.filter((hour) => dateAt(hour) >= from && dateAt(hour) < to).length;
  return (first! < 10 || within(buy) >= 2) && within(leave) === 0 && within(buy) >= 1;
}

async function storePeople(database: Database): Promise<void> {
  const rows = Array.from(
    { length: PEOPLE },
    (_, person) =>
      Object.entries(hoursOf(person)).flatMap(([name, hours]) =>
        hours.map((hour) =>
          newRow({ anonymous_id: `${person}`, name, occurred_at: dateAt(hour).toISOString() })
        )
      ),
  ).flat();
  await insertEvents(database, rows.sort((a, b) => a.event_id < b.event_id ? -1 : 1));
  await createProjection(database).catchUp(1);
}

/** Overwrites memory as it is given back, as its next user would. */
function overwriteGiven(memory: SharedMemory): void {
  const give = memory.give.bind(memory);
  memory.give = (buffer) => {
    new Uint8Array(buffer).fill(255);
    give(buffer);
  };
}

/** Returns copies of the people of the first range, of those of each range, and of those of any. */
async function chosenPeople(sql: Database, segments: SegmentCache) {
  const scope = { projectId: 1, siteHost: null, bots: "exclude", filters: [] } as const;
  const use = segments.memory.enter();
  const chosen: Uint8Array[] = [];
  const load: LoadTimelines = (span, filters, columns, actors, only) => {
    if (actors) chosen.push(actors.slice());
    const access = { sql, scope, segments, pool: IN_PLACE, use };
    return loadFilteredTimelines(access, span, filters, columns, actors, only);
  };
  const segment = { slug: "buyers", title: "Buyers", filters: [], actors: ACTORS };
  try {
    const loading = { load, memory: use, segments };
    const read = ofSegment(loading, { sql, scope }, segment, RANGES[0]!);
    const span = { fromMs: FROM_MS, toMs: FROM_MS + HOUR_MS };
    await read.timelines(span, []);
    const among = (await read.amongRanges!(RANGES))!;
    await among.timelines(span, []);
    return { own: chosen[0], ofRanges: among.people.slice(), anybody: chosen[1] };
  } finally {
    await use.end();
  }
}

onBothEngines(
  "segments: people are chosen in memory that other reads have written",
  async (_, db) => {
    const database = await openWithProjects(db);
    await storePeople(database);
    const rows = await database.query<{ id: number; value: string }>(
      "SELECT identity_id AS id, value FROM identities WHERE project_id = 1 AND kind <> 'h'",
    );
    assert.equal(rows.length, PEOPLE);
    const expected = new Uint8Array(rows.reduce((max, { id }) => Math.max(max, id), 0) + 1);
    for (const { id, value } of rows) {
      expected[id] = RANGES.reduce((bits, range, i) => bits | +holds(+value, range) << i, 0);
    }
    assert.deepEqual(Uint8Array.from(new Set(expected)).sort(), Uint8Array.of(0, 1, 5, 10, 11, 15));
    const segments = new SegmentCache(1_000_000);
    overwriteGiven(segments.memory);
    const taken = [];
    for (let read = 0; read < 3; read++) {
      const { own, ofRanges, anybody } = await chosenPeople(database, segments);
      assert.deepEqual(own, expected.map((bits) => bits & 1));
      assert.deepEqual(ofRanges, expected);
      assert.deepEqual(anybody, expected.map((bits) => +(bits > 0)));
      taken.push(segments.memory.bytes);
    }
    assert.equal(taken[2], taken[1]);
  },
);
