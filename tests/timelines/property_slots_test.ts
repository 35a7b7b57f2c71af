import assert from "node:assert/strict";
import fc from "fast-check";
import { buildSegment, type EncodedSegment } from "../../src/store/segment_builder.ts";
import { decodeHead, slotOf } from "../../src/store/segment_head.ts";
import { type SlotRules, slotRules } from "../../src/store/property_keys.ts";
import {
  PROPERTY_KEYS_COUNTED_MAX,
  PROPERTY_SLOT_EVENTS_MIN,
  PROPERTY_SLOT_KEY_BYTES_MAX,
  PROPERTY_SLOTS_MAX,
  SLOTTED_EVENTS_MIN,
} from "../../src/store/store_limits.ts";
import { PropertyReader } from "../../src/timelines/property_reader.ts";
import { newRow } from "../support/event_rows.ts";
import { readEvents, type SegmentEvent } from "../support/segment_events.ts";
import { readerOf, segmentOf, smallRules } from "../store/segment_world.ts";
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

const textsOf = async (segment: EncodedSegment) =>
  (await readEvents(readerOf(segment), 1)).map(({ row }) => row.properties);

/** A property by event, as JSON. */
async function propertyOf(segment: EncodedSegment, key: string): Promise<Map<number, string>> {
  return valuesOf(await new PropertyReader(readerOf(segment), null).column(key));
}

const merge = async (segments: readonly EncodedSegment[], rules: SlotRules = slotRules()) =>
  (await buildSegment(segments.map((one) => readerOf(one)), () => true, async () => {}, rules))!;

/** JSON as PostgreSQL writes it, with spaces. */
function spaced(json: string | null): string | null {
  if (json === null) return null;
  const write = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(write).join(", ")}]`;
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const members = Object.entries(value).map(([key, one]) =>
      `${JSON.stringify(key)}: ${write(one)}`
    );
    return `{${members.join(", ")}}`;
  };
  return write(JSON.parse(json));
}

Deno.test("property slots: properties are the same as without slots, merged or not", async () => {
  const written = fc.tuple(properties, fc.boolean()).map(([text, isSpaced]) =>
    isSpaced ? spaced(text) : text
  );
  const texts = fc.array(written, { minLength: 1, maxLength: 30 });
  const min = fc.constantFrom(1, 3).map((events) => smallRules(events));
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
    for (const segment of all) assert.deepEqual(await textsOf(segment), [...some, ...others]);
  }));
});

Deno.test("property slots: a key gets one in a segment with enough events, if enough have it, and keeps it", async () => {
  const texts = (events: number, count: number) =>
    Array.from({ length: events }, (_, i) => i < count ? `{"number":${i}}` : "{}");
  const [events, count] = [SLOTTED_EVENTS_MIN, PROPERTY_SLOT_EVENTS_MIN];
  const small = await segmentOf(eventsOf(texts(events - 1, count)));
  assert.deepEqual(slotKeysOf(small), []);
  const rare = await segmentOf(eventsOf(texts(events, count - 1)));
  assert.deepEqual(slotKeysOf(rare), []);
  const enough = await segmentOf(eventsOf(texts(events, count)));
  assert.deepEqual(slotKeysOf(enough), ['"number"']);
  assert.deepEqual(enough.slotKeys, ['"number"']);
  const merged = await merge([small, await segmentOf(eventsOf(['{"other":"é"}'], events))]);
  assert.deepEqual(slotKeysOf(merged), ['"number"']);
  assert.deepEqual(await textsOf(merged), [...texts(events - 1, count), '{"other":"é"}']);
  const keptFew = await buildSegment([readerOf(enough)], () => true, async () => {}, {
    ...slotRules(),
    segmentEventsMin: 2 * events,
    slotEventsMin: 2 * count,
  });
  assert.deepEqual(slotKeysOf(keptFew!), ['"number"']);
  assert.equal(slotOf({ slotKeys: slotKeysOf(keptFew!) }, "number"), "property_0");
  assert.equal(slotOf({ slotKeys: slotKeysOf(keptFew!) }, "numbe"), null);
});

Deno.test("property slots: a project has few keys with slots; those that have one keep it", async () => {
  const keys = Array.from({ length: PROPERTY_SLOTS_MAX + 1 }, (_, i) => `key ${i}`);
  const objectOf = (own: readonly string[]) =>
    JSON.stringify(Object.fromEntries(own.map((key) => [key, key])));
  const json = (own: readonly string[]) => own.map((key) => JSON.stringify(key)).toSorted();
  const [all, some] = [objectOf(keys), objectOf(keys.slice(1))];
  const segment = await segmentOf(eventsOf([some, all, some]), smallRules(1));
  assert.deepEqual(slotKeysOf(segment).toSorted(), json(keys.slice(1)));

  const known = smallRules(1, json(["known", ...keys.slice(2)]));
  const [kept, both] = [objectOf(["new"]), objectOf(["known", "new"])];
  const other = await segmentOf(eventsOf([kept, both, kept], 3), known);
  assert.deepEqual(slotKeysOf(other), ['"known"']);

  const merged = await merge([segment, other], known);
  assert.deepEqual(slotKeysOf(merged).toSorted(), json(["known", ...keys.slice(1)]));
  const further = await merge([
    merged,
    await segmentOf(eventsOf([objectOf(["a", "b"])], 6), smallRules(1)),
  ]);
  assert.equal(slotKeysOf(further).length, PROPERTY_SLOTS_MAX + 3);
  assert.deepEqual(await textsOf(further), [
    some,
    all,
    some,
    kept,
    both,
    kept,
    objectOf(["a", "b"]),
  ]);
  for (const key of keys) {
    assert.deepEqual(await propertyOf(further, key), await propertyOf(segment, key));
  }
  assert.deepEqual([...await propertyOf(further, "new")].map(([at]) => at), [3, 4, 5]);
  const long = "x".repeat(PROPERTY_SLOT_KEY_BYTES_MAX - 2);
  const two = await segmentOf(eventsOf([objectOf([long, `${long}x`])]), smallRules(1));
  assert.deepEqual(slotKeysOf(two), [JSON.stringify(long)]);
});

Deno.test("property slots: of ever more keys, the first ones are counted", async () => {
  const texts = Array.from(
    { length: PROPERTY_KEYS_COUNTED_MAX + 300 },
    (_, i) =>
      i < PROPERTY_KEYS_COUNTED_MAX ? `{"early":${i % 5},"key ${i}":1}` : '{"late":1,"early":2}',
  );
  const segment = await segmentOf(eventsOf(texts));
  assert.deepEqual(slotKeysOf(segment), ['"early"']);
  assert.deepEqual(await textsOf(segment), texts);
  const reader = new PropertyReader(readerOf(segment), null);
  assert.equal((await reader.column("late")).places.length, 300);
  assert.equal((await reader.column("early")).places.length, texts.length);
});

Deno.test("property slots: no key is left of events that are erased", async () => {
  const of = (who: string) => `{"of ${who}":1,"of both":2}`;
  const events = [...eventsOf([of("one")]), ...eventsOf([of("another"), of("another")], 1)]
    .map((event, i) => ({ ...event, identity: 1 + i }));
  const whole = await segmentOf(events, smallRules(1));
  assert.equal(slotKeysOf(whole).length, 3);
  const kept = await buildSegment(
    [readerOf(whole)],
    (who) => who !== 1,
    async () => {},
    smallRules(1),
  );
  assert.deepEqual(slotKeysOf(kept!).toSorted(), ["", '"of another"', '"of both"']);
  const merged = await merge([kept!, kept!], smallRules(1));
  assert.deepEqual(slotKeysOf(merged).toSorted(), ['"of another"', '"of both"']);
  for (const segment of [kept!, merged]) {
    assert.deepEqual(new Set(await textsOf(segment)), new Set([of("another")]));
    for (const bytes of [segment.head, segment.body]) {
      assert.ok(!new TextDecoder("latin1").decode(bytes).includes("of one"));
    }
  }
});

Deno.test("property slots: a text with a repeated key, or that is not an object, stays as it is", async () => {
  const texts = ['{"a":1,"a":2}', "[1]", "of words", '{"a":1}', null, "{}"];
  const segment = await segmentOf(eventsOf(texts), smallRules(1));
  assert.deepEqual(slotKeysOf(segment), ['"a"']);
  assert.deepEqual(await textsOf(segment), texts);
  assert.deepEqual(
    await textsOf(await merge([segment, await segmentOf(eventsOf(texts, 6), smallRules(1))])),
    [
      ...texts,
      ...texts,
    ],
  );
});
