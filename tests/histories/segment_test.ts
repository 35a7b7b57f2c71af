import assert from "node:assert/strict";
import fc from "fast-check";
import { type Column, columnOf, columnText, narrowed } from "../../src/histories/column.ts";
import {
  compareIds,
  type HistoryEvent,
  ID_BYTES,
  mergeSegments,
  type Segment,
  segmentOf,
} from "../../src/histories/segment.ts";

const WIDTHS: readonly [new (numbers: number[]) => Column, fc.Arbitrary<number>][] = [
  [Uint8Array, fc.integer({ min: 0, max: 255 })],
  [Uint16Array, fc.integer({ min: 0, max: 65_535 })],
  [Int8Array, fc.integer({ min: -128, max: 127 })],
  [Int16Array, fc.integer({ min: -32_768, max: 32_767 })],
  [Int32Array, fc.integer()],
  [Uint32Array, fc.integer({ min: 0, max: 4_294_967_295 })],
  [Float64Array, fc.double()],
];

/** As PostgreSQL breaks it. */
function inLines(base64: string): string {
  return base64.replace(/.{76}(?=.)/g, "$&\n");
}

Deno.test("column: what is stored comes back, of every width and length", () => {
  for (const [Class, number] of WIDTHS) {
    fc.assert(fc.property(fc.array(number, { maxLength: 200 }), (numbers) => {
      const column = new Class(numbers);
      const text = columnText(column);
      assert.deepEqual(columnOf(text), column);
      assert.deepEqual(columnOf(inLines(text)), column);
    }));
  }
});

Deno.test("column: a part of a longer one is stored alone, and an empty one stays empty", () => {
  const part = Int32Array.of(1, 2, 3, 4).subarray(1, 3);
  assert.deepEqual(columnOf(columnText(part)), Int32Array.of(2, 3));
  for (const [Class] of WIDTHS) {
    assert.deepEqual(columnOf(columnText(new Class([]))), new Class([]));
  }
});

Deno.test("column: how it is stored does not change", () => {
  const texts = WIDTHS.map(([Class]) => columnText(new Class([1])));
  assert.deepEqual(texts, [
    "AAAAAAAAAAAB",
    "AQAAAAAAAAABAA==",
    "AgAAAAAAAAAB",
    "AwAAAAAAAAABAA==",
    "BAAAAAAAAAABAAAA",
    "BQAAAAAAAAABAAAA",
    "BgAAAAAAAAAAAAAAAADwPw==",
  ]);
});

Deno.test("column: an unknown kind is refused", () => {
  assert.throws(() => columnOf(new Uint8Array(8).fill(7).toBase64()), /unknown kind/);
});

Deno.test("column: as narrow as its numbers allow, and no narrower", () => {
  const kinds: [number[], string][] = [
    [[], "Uint8Array"],
    [[0, 255], "Uint8Array"],
    [[256], "Uint16Array"],
    [[65_535], "Uint16Array"],
    [[65_536], "Int32Array"],
    [[-1, 127], "Int8Array"],
    [[-128], "Int8Array"],
    [[-1, 128], "Int16Array"],
    [[-129], "Int16Array"],
    [[-32_768, 32_767], "Int16Array"],
    [[-1, 32_768], "Int32Array"],
    [[-32_769], "Int32Array"],
  ];
  for (const [numbers, kind] of kinds) {
    const column = narrowed(Int32Array.from(numbers));
    assert.deepEqual([column.constructor.name, ...column], [kind, ...numbers]);
  }
  const anywhere = fc.oneof(
    fc.integer({ min: -300, max: 300 }),
    fc.integer({ min: -70_000, max: 70_000 }),
    fc.integer(),
  );
  fc.assert(fc.property(fc.array(anywhere), (numbers) => {
    assert.deepEqual([...narrowed(Int32Array.from(numbers))], numbers);
  }));
});

const encoder = new TextEncoder();
/** None, too long to be held, and JSON whose characters are of one to four bytes. */
const PROPERTIES: fc.Arbitrary<Uint8Array | null> = fc.oneof(
  fc.constant(null),
  fc.constant(new Uint8Array(0)),
  fc.constant(encoder.encode("{}")),
  fc.dictionary(fc.string({ maxLength: 5 }), fc.string({ unit: "grapheme", maxLength: 9 }), {
    maxKeys: 3,
  }).map((properties) => encoder.encode(JSON.stringify(properties))),
);

/** Few identities, moments and ids' beginnings, so that much of it is equal. */
const EVENT: fc.Arbitrary<HistoryEvent> = fc.record({
  identity: fc.integer({ min: 1, max: 5 }),
  ms: fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }),
  ),
  id: fc.uint8Array({ minLength: ID_BYTES, maxLength: ID_BYTES }),
  name: fc.integer({ min: 1, max: 4 }),
  path: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 100_000 })),
  context: fc.integer({ min: -200, max: 200 }),
  traffic: fc.integer({ min: 0, max: 300 }),
  title: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 100_000 })),
  referrer: fc.integer({ min: 0, max: 300 }),
  depth: fc.constant(NaN),
  properties: PROPERTIES,
}).chain((event) => {
  const depth = event.name === 3 ? fc.constantFrom(NaN, 0, 0.25, 1) : fc.constant(NaN);
  return depth.map((deep) => ({ ...event, depth: deep }));
});
const EVENTS = fc.uniqueArray(EVENT, {
  selector: ({ id }) => id.toHex(),
  maxLength: 60,
  size: "max",
});

function inOrder(events: readonly HistoryEvent[]): HistoryEvent[] {
  return events.toSorted((a, b) =>
    a.identity - b.identity || a.ms - b.ms || (a.id.toHex() < b.id.toHex() ? -1 : 1)
  );
}

/** What a segment says, read event by event. */
function eventsIn(segment: Segment): HistoryEvent[] {
  const depths = segment.depths.values();
  const { propertied, textEnds, texts } = segment;
  const events: HistoryEvent[] = [];
  let [text, textFrom] = [0, 0];
  for (const [place, identity] of segment.identities.entries()) {
    for (let at = segment.starts[place]!; at < segment.starts[place + 1]!; at++) {
      const name = segment.names[at]!;
      const textTo = propertied[text] === at ? textEnds[text++]! : null;
      events.push({
        identity,
        ms: segment.fromMs + segment.times[at]!,
        id: segment.ids.slice(at * ID_BYTES, (at + 1) * ID_BYTES),
        name,
        path: segment.paths[at]!,
        context: segment.contexts[at]!,
        traffic: segment.traffics[at]!,
        title: segment.titles[at]!,
        referrer: segment.referrers[at]!,
        depth: name === 3 ? depths.next().value! : NaN,
        properties: textTo === null ? null : texts.slice(textFrom, textTo),
      });
      textFrom = textTo ?? textFrom;
    }
  }
  assert.equal(depths.next().done, true);
  assert.deepEqual([text, text, textFrom], [propertied.length, textEnds.length, texts.length]);
  return events;
}

Deno.test("segment: says what its events are, between its first and its last moment", () => {
  fc.assert(fc.property(EVENTS, (unordered) => {
    const events = inOrder(unordered);
    const segment = segmentOf(events);
    if (segment === null) return assert.equal(events.length, 0);
    assert.deepEqual(eventsIn(segment), events);
    const ms = events.map((event) => event.ms);
    assert.deepEqual([segment.fromMs, segment.toMs], [Math.min(...ms), Math.max(...ms)]);
    assert.deepEqual([...new Set(segment.identities)], [...segment.identities]);
    assert.equal(segment.ids.length, events.length * ID_BYTES);
  }));
});

/** Merges neighbours until one segment is left: which ones, the choices say. */
async function mergedInTurn(
  segments: (Segment | null)[],
  choices: readonly number[],
): Promise<Segment | null> {
  const left = segments.filter((segment) => segment !== null);
  for (const choice of choices) {
    if (left.length < 2) break;
    const from = choice % (left.length - 1);
    left.splice(from, 2, (await mergeSegments(left.slice(from, from + 2)))!);
  }
  return await mergeSegments(left);
}

Deno.test("segment: however events are grouped and merged, the same segment comes of them", async () => {
  await fc.assert(fc.asyncProperty(
    EVENTS,
    fc.array(fc.nat({ max: 7 }), { minLength: 60, maxLength: 60 }),
    fc.array(fc.nat(), { maxLength: 8 }),
    async (events, groups, choices) => {
      const grouped = Array.from(
        { length: 8 },
        (_, group) => segmentOf(inOrder(events.filter((_, i) => groups[i] === group))),
      );
      assert.deepEqual(await mergedInTurn(grouped, choices), segmentOf(inOrder(events)));
    },
  ));
});

Deno.test("segment: merging keeps what is to be kept, and of nothing makes nothing", async () => {
  await fc.assert(fc.asyncProperty(EVENTS, EVENTS, async (some, others) => {
    const known = new Set(some.map(({ id }) => id.toHex()));
    const events = [...some, ...others.filter(({ id }) => !known.has(id.toHex()))];
    const parts = [segmentOf(inOrder(some)), segmentOf(inOrder(events.slice(some.length)))]
      .filter((segment) => segment !== null);
    const keeps = (identity: number, ms: number) => identity !== 2 && ms >= -1;
    const kept = events.filter(({ identity, ms }) => keeps(identity, ms));
    assert.deepEqual(await mergeSegments(parts, keeps), segmentOf(inOrder(kept)));
    assert.equal(await mergeSegments(parts, () => false), null);
  }));
  assert.equal(await mergeSegments([]), null);
});

function at(ms: number, firstByte: number, lastByte: number): HistoryEvent {
  const id = new Uint8Array(ID_BYTES);
  id[0] = firstByte;
  id[15] = lastByte;
  const what = { name: 1, path: 0, context: 1, traffic: 1, title: 0, referrer: 0 };
  return { identity: 1, ms, id, ...what, depth: NaN, properties: null };
}

Deno.test("segment: events of one millisecond stand in the order of their ids, all bytes of them", async () => {
  const parts = [[at(5, 1, 9), at(5, 200, 0)], [at(5, 1, 3), at(6, 0, 0)], [at(5, 100, 0)]];
  const merged = (await mergeSegments(parts.map((part) => segmentOf(part)!)))!;
  const ends = eventsIn(merged).map(({ ms, id }) => [ms, id[0], id[15]]);
  assert.deepEqual(ends, [[5, 1, 3], [5, 1, 9], [5, 100, 0], [5, 200, 0], [6, 0, 0]]);
});

Deno.test("segment: ids are compared where they lie", () => {
  const [{ id: low }, { id: high }] = [at(0, 1, 2), at(0, 1, 3)];
  const ids = new Uint8Array([...high, ...low]);
  assert.ok(compareIds(ids, 0, ids, ID_BYTES) > 0);
  assert.ok(compareIds(ids, ID_BYTES, ids, 0) < 0);
  assert.equal(compareIds(ids, ID_BYTES, low, 0), 0);
});
