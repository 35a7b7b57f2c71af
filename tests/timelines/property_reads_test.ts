import assert from "node:assert/strict";
import fc from "fast-check";
import { SharedMemory } from "../../src/timelines/shared_memory.ts";
import { createLazyCache } from "../../src/timelines/lazy_loader.ts";
import { SegmentTable } from "../store/segment_table.ts";
import { segmentOf } from "../store/segment_world.ts";
import { newRow } from "../support/event_rows.ts";
import { loadProperty, START_MS, valuesOf } from "./property_world.ts";

/** Segments of a text each of some events. */
function tableOf(texts: ReadonlyMap<number, readonly string[]>): SegmentTable {
  const row = newRow();
  const encoded = [...texts].map(([segmentId, own]) => {
    const events = [...own, null].flatMap((properties, i) =>
      [null, properties].map((one, more) => {
        const id = new Uint8Array(16);
        new DataView(id.buffer).setUint32(12, 2 * i + more);
        const numbers = {
          identity: 1,
          name: 1,
          path: 0,
          context: 1,
          traffic: 1,
          title: 0,
          referrer: 0,
        };
        return { ...numbers, ms: START_MS, id, row: { ...row, properties: one } };
      })
    );
    return [segmentId, segmentOf(events)] as const;
  });
  return new SegmentTable(new Map(encoded));
}

const segments = (...segmentIds: number[]) => segmentIds.map((segmentId) => ({ segmentId }));

Deno.test("loadProperty: what was read is cached by segment and key", async () => {
  const sql = tableOf(
    new Map([
      [1, ['{"a": 1, "b": 2}']],
      [2, ['{"b": 3, "2 b": 4}']],
      [12, ["{}"]],
    ]),
  );
  const cache = createLazyCache(1_000, new SharedMemory(0));
  const load = async (key: string, ...segmentIds: number[]) => {
    const columns = await loadProperty(sql, cache, 1, segments(...segmentIds), key);
    return columns!.map(({ values }) => values[0]);
  };
  assert.deepEqual(await load("b", 2, 1, 12), ["3", "2", undefined]);
  assert.deepEqual(await load("b", 12, 1), [undefined, "2"]);
  assert.deepEqual(sql.asked.flat(), [2, 1, 12]);
  assert.deepEqual(await load("a", 1, 2), ["1", undefined]);
  assert.deepEqual(await load("2 b", 1, 2), [undefined, "4"]);
  assert.deepEqual(sql.asked.flat(), [2, 1, 12, 1, 2, 1, 2]);
  assert.deepEqual(await load("a", 2), [undefined]);
  assert.equal(sql.asked.flat().length, 7);
  const forgetful = createLazyCache(0, new SharedMemory(0));
  for (const times of [1, 2]) {
    assert.equal((await loadProperty(sql, forgetful, 1, segments(1), "a"))!.length, 1);
    assert.equal(sql.asked.flat().length, 7 + times);
  }
});

Deno.test("loadProperty: a segment that is gone is an error", async () => {
  const cache = createLazyCache(1_000, new SharedMemory(0));
  await assert.rejects(
    loadProperty(tableOf(new Map()), cache, 1, segments(7), "k"),
    /Segment 7 is gone/,
  );
});

/** JSON as PostgreSQL writes it, whatever the order of keys. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${textOf(member)}`);
  return `{${members.join(", ")}}`;
}

/** The values of a key, by the number of the text. */
async function found(texts: readonly string[], key: string): Promise<Map<number, unknown>> {
  const sql = tableOf(new Map([[1, texts]]));
  const columns = await loadProperty(
    sql,
    createLazyCache(1_000_000, new SharedMemory(0)),
    1,
    segments(1),
    key,
  );
  const values = [...valuesOf(columns![0]!)];
  return new Map(values.map(([place, value]) => [(place - 1) / 2, JSON.parse(value)]));
}

Deno.test("loadProperty: keys and values that look like what is between them", async () => {
  const cases: readonly (readonly [key: string, value: unknown, texts: readonly string[]])[] = [
    [": ", undefined, ['{"x": ":5"}']],
    [", ", undefined, ['{"x": "y", ":5": 1}']],
    ["], ", undefined, ['{"a": ["b"], ":true": 1}']],
    ["}{", undefined, ['{"a": "b"}', '{":5": 1}']],
    [": ", 7, ['{": ": 7, "x": ":5"}']],
    ["", undefined, ['{"a": "", "b": 1}']],
    ["k", undefined, ['{"a": {"k": 1}}']],
    ["k", 2, ['{"a": {"k": 1}, "k": 2}']],
    ["k", undefined, [String.raw`{"a": "\"k\": 1"}`]],
    ["k", undefined, [String.raw`{"a\"k": 1}`]],
    ['a"b', 1, [String.raw`{"a\"b": 1}`]],
    ["k", "1}", ['{"k": "1}"}']],
    ["__proto__", 1, ['{"a": 0, "__proto__": 1}']],
    ["__proto__", undefined, ['{"a": {"__proto__": 1}}']],
    // Read after an object with the key `\\` in the same place.
    ["there\\", 0, [String.raw`{"here": [], "there\\": 0}`]],
    ['there"', 2, [String.raw`{"here": 1, "there\"": 2}`]],
    ["there\n", 2, [String.raw`{"here": 1, "there\n": 2}`]],
  ];
  for (const [key, value, texts] of cases) {
    const expected = value === undefined ? [] : [[0, value]];
    assert.deepEqual([...await found(texts, key)], expected, `${key} in ${texts}`);
  }
});

Deno.test("loadProperty: agrees with parsing each text, whatever the texts are", async () => {
  const piece = fc.constantFrom(...'k":,{}[]5 \\\nж\u{1f600}', "true", ": ", ", ", '"k": 1');
  const word = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
  const key = fc.oneof(fc.constantFrom("k", "", ": ", ", ", "__proto__"), word);
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      word,
      fc.constantFrom(null, true, false, 0, -1, 5, 0.25, -1.5e-9, 1e21),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.array(fc.tuple(key, tie("value")), { maxLength: 2 }).map(Object.fromEntries),
    ),
  }));
  const object = fc.array(fc.tuple(key, value), { maxLength: 4, size: "max" })
    .map((entries) => Object.fromEntries(entries) as Record<string, unknown>);
  let hits = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(object, { maxLength: 8, size: "max" }), key, async (objects, key) => {
      const values = await found(objects.map(textOf), key);
      for (const [i, object] of objects.entries()) {
        assert.equal(values.has(i), Object.hasOwn(object, key), `${key} in ${textOf(object)}`);
        if (values.has(i)) assert.deepEqual(values.get(i), object[key]);
      }
      hits += values.size;
    }),
    { numRuns: 2_500 },
  );
  assert.ok(hits > 1_000, `${hits} values`);
});
