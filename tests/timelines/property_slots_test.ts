import assert from "node:assert/strict";
import fc from "fast-check";
import { buildSegment, type EncodedSegment } from "../../src/store/segment_builder.ts";
import { decodeHead, slotOf } from "../../src/store/segment_head.ts";
import type { SegmentEvent } from "../../src/store/segment_event.ts";
import { PROPERTY_SLOT_EVENTS_MIN, PROPERTY_SLOTS_MAX } from "../../src/store/store_limits.ts";
import { readEvents } from "../../src/store/whole_events.ts";
import { PropertyReader } from "../../src/timelines/property_reader.ts";
import { newRow } from "../support/event_rows.ts";
import { readerOf, segmentOf } from "../store/segment_world.ts";
import { ABSENT_KEYS, KEYS, properties, valuesOf } from "./property_world.ts";

/** Events with these properties, in the order of the segment. */
function eventsOf(texts: readonly (string | null)[], first = 0): SegmentEvent[] {
  return texts.map((text, i) => {
    const id = new Uint8Array(16);
    new DataView(id.buffer).setUint32(12, first + i);
    const numbers = { name: 1, path: 0, context: 1, traffic: 1, title: 0, referrer: 0 };
    const ms = 1_700_000_000_000;
    return { ...numbers, identity: 1, ms, id, row: newRow({ properties: text }) };
  });
}

const slotKeysOf = ({ head }: EncodedSegment) => decodeHead(head).slotKeys;

const textsOf = (segment: EncodedSegment) =>
  readEvents(readerOf(segment), 1).map(({ row }) => row.properties);

/** A property by event, as JSON. */
async function propertyOf(segment: EncodedSegment, key: string): Promise<Map<number, string>> {
  return valuesOf(await new PropertyReader(readerOf(segment), null).column(key));
}

const merge = async (segments: readonly EncodedSegment[], slotEventsMin?: number) =>
  (await buildSegment(
    segments.map((one) => readerOf(one)),
    () => true,
    async () => {},
    slotEventsMin,
  ))!;

Deno.test("property slots: a property is what it is without slots, merged or not", async () => {
  const texts = fc.array(properties, { minLength: 1, maxLength: 30 });
  const min = fc.constantFrom(1, 3);
  await fc.assert(fc.asyncProperty(texts, texts, min, min, async (some, others, one, other) => {
    const whole = await segmentOf(eventsOf([...some, ...others]));
    assert.deepEqual(slotKeysOf(whole), []);
    const parts = [
      await segmentOf(eventsOf(some), one),
      await segmentOf(eventsOf(others, some.length), other),
    ];
    const all = [
      await segmentOf(eventsOf([...some, ...others]), one),
      await merge(parts, other),
      await merge(parts),
    ];
    const odd = Uint32Array.from(
      { length: (some.length + others.length) >> 1 },
      (_, i) => 2 * i + 1,
    );
    for (const key of [...KEYS, ...ABSENT_KEYS]) {
      const expected = await propertyOf(whole, key);
      for (const segment of all) {
        assert.deepEqual(await propertyOf(segment, key), expected, key);
        const some = await new PropertyReader(readerOf(segment), odd).column(key);
        const picked = expected.entries().filter(([at]) => at % 2 === 1).map(([at, value]) =>
          [(at - 1) / 2, value] as const
        );
        assert.deepEqual(valuesOf(some.picked(odd)), new Map(picked), key);
      }
    }
    for (const segment of all) assert.deepEqual(textsOf(segment), [...some, ...others]);
  }));
});

Deno.test("property slots: a key gets one with enough events, and keeps it", async () => {
  const min = PROPERTY_SLOT_EVENTS_MIN;
  const texts = (events: number, rest: string) =>
    Array.from({ length: events }, (_, i) => `{"number":${i}${rest}}`);
  const few = await segmentOf(eventsOf(texts(min - 1, "")));
  assert.deepEqual(slotKeysOf(few), []);
  const enough = await segmentOf(eventsOf(texts(min, "")));
  assert.deepEqual(slotKeysOf(enough), ['"number"']);
  const both = [...texts(min - 1, ',"other":"é"'), ...texts(1, ',"other":"é"')];
  const merged = await merge([
    await segmentOf(eventsOf(both.slice(0, min - 1))),
    await segmentOf(eventsOf(both.slice(min - 1), min - 1)),
  ]);
  assert.deepEqual(slotKeysOf(merged), ['"number"', '"other"']);
  assert.deepEqual(textsOf(merged), both);
  const left = await buildSegment(
    [readerOf(enough)],
    (identity) => identity === 1,
    async () => {},
    2 * min,
  );
  assert.deepEqual(slotKeysOf(left!), ['"number"']);
  assert.equal(slotOf({ slotKeys: slotKeysOf(left!) }, "number"), "property_0");
  assert.equal(slotOf({ slotKeys: slotKeysOf(left!) }, "numbe"), null);
});

Deno.test("property slots: where keys are too many, the most frequent have them, and no value is lost", async () => {
  const keys = Array.from({ length: PROPERTY_SLOTS_MAX + 1 }, (_, i) => `key ${i}`);
  const objectOf = (own: readonly string[]) =>
    JSON.stringify(Object.fromEntries(own.map((key) => [key, key])));
  const [all, some] = [objectOf(keys), objectOf(keys.slice(1))];
  const segment = await segmentOf(eventsOf([some, all, some]), 1);
  assert.deepEqual(
    new Set(slotKeysOf(segment)),
    new Set(keys.slice(1).map((key) => JSON.stringify(key))),
  );
  const others = keys.slice(1).map((key) => `${key} of others`);
  const two = [segment, await segmentOf(eventsOf([objectOf(others)], 3), 1)];
  const merged = await merge(two);
  assert.equal(slotKeysOf(merged).length, PROPERTY_SLOTS_MAX);
  assert.deepEqual(textsOf(merged), [some, all, some, objectOf(others)]);
  for (const key of keys) {
    assert.deepEqual(await propertyOf(merged, key), await propertyOf(segment, key));
  }
  for (const key of others) assert.deepEqual([...await propertyOf(merged, key)], [[3, `"${key}"`]]);
});

Deno.test("property slots: of events that are not kept no key is left", async () => {
  const of = (who: string) => `{"of ${who}":1,"of both":2}`;
  const events = [...eventsOf([of("one")]), ...eventsOf([of("another"), of("another")], 1)]
    .map((event, i) => ({ ...event, identity: 1 + i }));
  const whole = await segmentOf(events, 1);
  assert.equal(slotKeysOf(whole).length, 3);
  const kept = await buildSegment([readerOf(whole)], (who) => who !== 1, async () => {}, 1);
  assert.deepEqual(slotKeysOf(kept!).toSorted(), ["", '"of another"', '"of both"']);
  const merged = await merge([kept!, kept!], 1);
  assert.deepEqual(slotKeysOf(merged).toSorted(), ['"of another"', '"of both"']);
  for (const segment of [kept!, merged]) {
    assert.deepEqual(new Set(textsOf(segment)), new Set([of("another")]));
    for (const bytes of [segment.head, segment.body]) {
      assert.ok(!new TextDecoder("latin1").decode(bytes).includes("of one"));
    }
  }
});

Deno.test("property slots: a text that names a key twice, or is no object, stays as it is", async () => {
  const texts = ['{"a":1,"a":2}', "[1]", "of words", '{"a":1}', null, "{}"];
  const segment = await segmentOf(eventsOf(texts), 1);
  assert.deepEqual(slotKeysOf(segment), ['"a"']);
  assert.deepEqual(textsOf(segment), texts);
  assert.deepEqual(textsOf(await merge([segment, await segmentOf(eventsOf(texts, 6), 1)])), [
    ...texts,
    ...texts,
  ]);
});
