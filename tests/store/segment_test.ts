import assert from "node:assert/strict";
import fc from "fast-check";
import { EVENT_COLUMN_TYPES } from "../../src/store/event_row.ts";
import { slotRules } from "../../src/store/property_keys.ts";
import { buildSegment } from "../../src/store/segment_builder.ts";
import { COLUMNS, ROW_COLUMNS } from "../../src/store/segment_columns.ts";
import { blocksOf, decodeHead, spanOf } from "../../src/store/segment_head.ts";
import { BLOCK_EVENTS_MAX, BLOCK_TEXT_BYTES_AIM } from "../../src/store/store_limits.ts";
import { newRow } from "../support/event_rows.ts";
import { readEvents, type SegmentEvent } from "../support/segment_events.ts";
import { readRows } from "../../src/store/whole_events.ts";
import { uuidOf } from "../../src/store/id_codec.ts";
import stored from "./segment_version_1.json" with { type: "json" };
import { EVENTS, inOrder, readerOf, segmentOf, smallRules } from "./segment_world.ts";

const noPause = async () => {};
const PROJECT = 1;
const eventsIn = (segment: Parameters<typeof readerOf>[0]) =>
  readEvents(readerOf(segment), PROJECT);
/** Each property gets a slot, or none does. */
const SLOT_EVENTS_MIN = fc.constantFrom(1, 2, 256);

Deno.test("segment: every event comes back exactly as it was stored, in order", async () => {
  await fc.assert(fc.asyncProperty(EVENTS, SLOT_EVENTS_MIN, async (events, slotEventsMin) => {
    const segment = await segmentOf(events, smallRules(slotEventsMin));
    assert.deepEqual(await eventsIn(segment), inOrder(events));
    assert.equal(segment.events, events.length);
    assert.equal(segment.fromMs, Math.min(...events.map(({ ms }) => ms)));
    assert.equal(segment.toMs, Math.max(...events.map(({ ms }) => ms)));
  }));
});

Deno.test("segment: some events of it are what they are among all, in any order", async () => {
  const places = fc.array(fc.nat(39), { minLength: 1, maxLength: 8 });
  const property = fc.asyncProperty(
    EVENTS,
    places,
    SLOT_EVENTS_MIN,
    async (events, numbers, min) => {
      const reader = readerOf(await segmentOf(events, smallRules(min)));
      const picked = Uint32Array.from(numbers, (number) => number % events.length);
      const rowAt = await readRows(reader.pick(picked), PROJECT, noPause);
      const all = inOrder(events);
      assert.deepEqual(
        Array.from(picked, (_, i) => rowAt(i)),
        Array.from(picked, (place) => all[place]!.row),
      );
    },
  );
  await fc.assert(property);
});

Deno.test("segment: merged, it is as if all events had come at once; what is not kept is gone", async () => {
  await fc.assert(
    fc.asyncProperty(EVENTS, fc.array(fc.nat(2)), SLOT_EVENTS_MIN, async (events, shares, min) => {
      const parts = [0, 1, 2].map((part) => events.filter((_, i) => (shares[i] ?? 0) === part));
      const sources = await Promise.all(
        parts.filter(({ length }) => length > 0).map(async (part, i) =>
          readerOf(await segmentOf(part, i === 0 ? undefined : smallRules(min)))
        ),
      );
      const merged = await buildSegment(sources, () => true, noPause, smallRules(min));
      assert.deepEqual(await eventsIn(merged!), inOrder(events));
      const kept = events.filter(({ identity, ms }) => identity > 2 && ms % 2 === 0);
      const cut = await buildSegment(
        sources,
        (who, ms) => who > 2 && ms % 2 === 0,
        noPause,
        slotRules(),
      );
      if (kept.length === 0) assert.equal(cut, null);
      else assert.deepEqual(await eventsIn(cut!), inOrder(kept));
    }),
  );
});

const ROW = newRow({ received_at: "2026-01-02T03:04:05.678Z" });

/** Events of as few members as can be: `each` of every identity. */
function manyEvents(count: number, each: number, properties: string | null = null) {
  return Array.from({ length: count }, (_, i): SegmentEvent => {
    const id = new Uint8Array(16);
    new DataView(id.buffer).setUint32(12, i);
    const numbers = {
      name: 1 + i % 3,
      path: i % 50,
      context: 1,
      traffic: 1,
      title: 0,
      referrer: 0,
    };
    const row = properties === null ? ROW : { ...ROW, properties: `${properties}${i}` };
    return { ...numbers, identity: 1 + Math.floor(i / each), ms: 1_000 * i, id, row };
  });
}

Deno.test("segment: merged of however many, each event has its own texts", async () => {
  const textsOf = (events: readonly SegmentEvent[]) => events.map(({ row }) => row.properties);
  for (const count of [256, 257, 600]) {
    const events = manyEvents(2 * count, 2, "of event ");
    const sources = [];
    for (let i = 0; i < count; i++) {
      sources.push(readerOf(await segmentOf([events[i]!, events[i + count]!])));
    }
    const merged = await buildSegment(sources, () => true, noPause, slotRules());
    assert.deepEqual(textsOf(await eventsIn(merged!)), textsOf(inOrder(events)));
  }
});

Deno.test("segment: blocks are read alone, and hold all events of the identities that they are asked for", async () => {
  const each = 1_000;
  const events = manyEvents(2 * BLOCK_EVENTS_MAX + 1, each);
  const segment = await segmentOf(events);
  const head = decodeHead(segment.head);
  assert.equal(head.blockEvents, BLOCK_EVENTS_MAX);
  assert.deepEqual([...head.firstIdentities], [1, 17, 33]);
  assert.equal(head.lastIdentity, 33);
  const cases: [from: number, to: number, first: number, end: number][] = [
    [1, 16, 0, 1],
    // Events of 17 lie in two blocks.
    [17, 17, 0, 2],
    [18, 32, 1, 2],
    [33, 99, 1, 3],
    [34, 99, 3, 3],
    [0, 0, 0, 0],
    [1, 99, 0, 3],
  ];
  for (const [from, to, first, end] of cases) {
    const blocks = blocksOf(head, from, to);
    assert.deepEqual(blocks, { first, end }, `${from} to ${to}`);
    const reader = readerOf(segment, blocks);
    const { identities, starts } = reader.runs();
    assert.equal(starts.at(-1), reader.events);
    const found = [...identities].flatMap((identity, run) =>
      identity < from || identity > to ? [] : Array(starts[run + 1]! - starts[run]!).fill(identity)
    );
    const own = events.filter(({ identity }) => identity >= from && identity <= to);
    assert.deepEqual(found, own.map(({ identity }) => identity));
    const paths = reader.integers("paths");
    const expected = events.slice(reader.firstPlace, reader.firstPlace + reader.events);
    assert.deepEqual([...paths], expected.map(({ path }) => path));
    assert.deepEqual([...reader.moments()], expected.map(({ ms }) => ms));
    assert.deepEqual([...reader.ids()], expected.flatMap(({ id }) => [...id]));
  }
});

Deno.test("segment: long texts make blocks shorter", async () => {
  const long = "x".repeat(BLOCK_TEXT_BYTES_AIM / 4);
  const segment = await segmentOf(manyEvents(9, 1, long));
  assert.equal(decodeHead(segment.head).blockEvents, 3);
  const texts = readerOf(segment).texts("properties");
  assert.equal(texts.codes.length, 9);
  assert.equal(texts.ends.length, 9);
  const clicks = manyEvents(9, 1).map((event, i) => ({
    ...event,
    row: { ...event.row, selector: `${i}`.padEnd(long.length) },
  }));
  assert.equal(decodeHead((await segmentOf(clicks)).head).blockEvents, 3);
});

Deno.test("segment: halves of a character in two texts leave the other texts as they are", async () => {
  const titles = ["a\ud83d", "\ude00b", "ä", "last"];
  const events = manyEvents(titles.length, 1)
    .map((event, i) => ({ ...event, row: { ...event.row, title: titles[i]! } }));
  const read = (await eventsIn(await segmentOf(events))).map(({ row }) => row.title);
  assert.deepEqual(read, inOrder(events).map(({ row }) => row.title!.toWellFormed()));
});

Deno.test("segment: what was damaged is told, and what a later version wrote", async () => {
  const events = manyEvents(50, 7).map((event, i) => ({
    ...event,
    row: { ...ROW, properties: `{"of words":${i}}` },
  }));
  const segment = await segmentOf(events, smallRules(1));
  const damaged = (bytes: Uint8Array, at: number) =>
    bytes.map((byte, i) => i === at ? byte ^ 1 : byte);
  const head = decodeHead(segment.head);
  assert.equal(head.slotKeys.length, 1);
  for (const name of COLUMNS) {
    const { from, bytes } = spanOf(head, name, { first: 0, end: 1 });
    if (bytes === 0) continue;
    const broken = readerOf({ ...segment, body: damaged(segment.body, from + (bytes >> 1)) });
    const told = {
      name: "SegmentUnreadable",
      message: `A segment is damaged: block 0 of its ${name} has a wrong checksum`,
    };
    await assert.rejects(readEvents(broken, PROJECT), told);
    // Whoever passes over damaged blocks knows before the first row is read.
    if ((ROW_COLUMNS as readonly string[]).includes(name)) {
      await assert.rejects(readRows(broken, PROJECT, noPause), told);
    }
  }
  for (let at = 1; at < segment.head.length; at++) {
    assert.throws(() => decodeHead(damaged(segment.head, at)), /directory is damaged/);
  }
  assert.throws(() => decodeHead(segment.head.with(0, 3)), /is of version 3; .* reads up to 2/);
});

/** An event with a value of every member, or of few; all told by its number. */
function exampleEvent(number: number): SegmentEvent {
  const id = new Uint8Array(16).fill(number);
  const ms = Date.parse("2026-01-02T03:04:05.678Z") + 1_001 * number;
  const few = {
    ...newRow({ name: `name ${number % 3}`, event_id: uuidOf(id) }),
    occurred_at: new Date(ms).toISOString(),
    received_at: new Date(ms + number).toISOString(),
  };
  const all = Object.entries(EVENT_COLUMN_TYPES).map(([name, type]) => {
    if (type === "text") return [name, `${name} ${number % 5} é`];
    if (type === "int4") return [name, number * 100];
    if (type === "float8") return [name, number / 7];
    if (type === "bool") return [name, number % 2 === 0];
    return [name, { jsonb: `{"n":${number}}`, inet: "192.0.2.7", '"char"': "c" }[type]];
  });
  const { project_id, event_id, occurred_at, received_at, visitor_hash } = few;
  // These came later.
  const { sent_at, interactive } = few;
  const whole = {
    project_id,
    event_id,
    occurred_at,
    received_at,
    visitor_hash,
    sent_at,
    interactive,
  };
  const row = number % 4 === 0 ? few : { ...few, ...Object.fromEntries(all), ...whole };
  return {
    ...{ identity: 1 + number % 3, ms, id, name: 1 + number % 3, path: number % 5 },
    ...{ context: number % 2 === 0 ? 4 : -5, traffic: number % 4, title: 7, referrer: 0, row },
  };
}

Deno.test("segment: what version 1 wrote is read", async () => {
  const events = Array.from({ length: 24 }, (_, i) => exampleEvent(i));
  const [head, body] = [stored.head, stored.body].map((text) => Uint8Array.fromBase64(text));
  const segment = { ...await segmentOf(events), head: head!, body: body! };
  assert.deepEqual(await eventsIn(segment), inOrder(events));
});
