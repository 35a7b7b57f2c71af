import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { EVENT_COLUMN_TYPES, type EventRow } from "../../src/store/event_row.ts";
import { blockSpan, encodeBlock, UnreadableBlock } from "../../src/store/journal_block.ts";
import { decodeBlock, decodeKept, journalEvents } from "../../src/store/journal_events.ts";
import { newRow } from "../support/event_rows.ts";

const NUMBER_TYPES = new Set(["int4", "float8"]);
const TEXTS = ["", "null", "{}", "a\u0000b", "\ud800", "ünï😀", "__proto__", '"\\'];

/** Values of a column's type, few of them or many. */
function valuesOf(type: string): fc.Arbitrary<unknown> {
  // JSON has no sign of zero; PostgreSQL's text has none of an event either.
  const positive = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  if (type === "bool") return fc.boolean();
  if (NUMBER_TYPES.has(type)) return type === "int4" ? fc.integer() : positive;
  return fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: "binary", maxLength: 20 }));
}

const COLUMNS = Object.entries(EVENT_COLUMN_TYPES).filter(([name]) =>
  name !== "project_id" && name !== "event_id"
);
const rowArbitrary = fc.record(Object.fromEntries(
  COLUMNS.map(([name, type]) => [name, fc.option(valuesOf(type), { freq: 2 })]),
)).chain((row) =>
  fc.uuid().map((event_id) => ({ ...row, project_id: 7, event_id }) as unknown as EventRow)
);

Deno.test("journal block: rows come back as they were", () => {
  fc.assert(
    fc.property(
      fc.array(rowArbitrary, { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      (rows, times) => {
        const all = Array.from({ length: times }, () => rows).flat();
        assert.deepEqual(decodeBlock(encodeBlock(all), 7), all);
      },
    ),
    { numRuns: 150 },
  );
});

Deno.test("journal block: it stays what it is while others are made, larger and smaller ones", () => {
  const groups = [3, 1, 40, 2].map((count, i) =>
    Array.from(
      { length: count },
      () => newRow({ title: `${i}`, properties: "x".repeat(i * 9_999) }),
    )
  );
  const blocks = groups.map((rows) => encodeBlock(rows));
  const projectId = groups[0]![0]!.project_id;
  assert.deepEqual(blocks.map((block) => decodeBlock(block, projectId)), groups);
});

Deno.test("journal block: what was stored before is no event of the row", () => {
  const rows = [newRow(), newRow(), newRow()];
  const row = { project_id: 1, block: encodeBlock(rows), known_ids: [rows[1]!.event_id] };
  assert.deepEqual(journalEvents(row), [rows[0], rows[2]]);
  assert.deepEqual(journalEvents({ ...row, known_ids: null }), rows);
});

Deno.test("journal block: no byte of it changes unnoticed, and a newer one is told as such", () => {
  const block = encodeBlock(Array.from({ length: 30 }, () => newRow()));
  for (let i = 0; i < block.length; i += 7) {
    const damaged = Uint8Array.from(block);
    damaged[i]! ^= 1 + i % 255;
    assert.throws(() => decodeBlock(damaged, 1), UnreadableBlock, `byte ${i}`);
  }
  assert.throws(() => decodeBlock(block.subarray(0, -1), 1), UnreadableBlock);
  assert.throws(() => decodeBlock(new Uint8Array(), 1), UnreadableBlock);
  block[0] = 3;
  assert.throws(() => decodeBlock(block, 1), /version 3; this program reads 2/);
});

/** Returns a block with other columns, and a right checksum: what an archive may bring. */
function withColumns(block: Uint8Array, change: (columns: string) => string): Uint8Array {
  const count = new DataView(block.buffer).getUint32(5);
  const [frameAt, columnsAt] = [9 + 10 * count, 6 * count];
  const content = zstdDecompressSync(block.subarray(frameAt));
  const columns = change(content.subarray(columnsAt).toString());
  const frame = zstdCompressSync(
    Buffer.concat([content.subarray(0, columnsAt), Buffer.from(columns)]),
  );
  const changed = Uint8Array.from(Buffer.concat([block.subarray(0, frameAt), frame]));
  new DataView(changed.buffer).setUint32(1, crc32(changed.subarray(5)));
  return changed;
}

Deno.test("journal block: columns that do not fit its events are refused, however long they say to be", () => {
  const names = ["a", "a", "b", "b", "b"];
  const block = encodeBlock(names.map((name) => newRow({ name })));
  const withRuns = (values: string[], lengths: number[]) =>
    withColumns(block, (columns) => {
      const { repeated: _, runs, ...others } = JSON.parse(columns);
      return JSON.stringify({
        ...others,
        repeated: {},
        runs: { ...runs, name: [values, lengths] },
      });
    });
  const read = decodeBlock(withRuns(["a", "b"], [2, 3]), 1);
  assert.deepEqual(read.map(({ name }) => name), names);
  const wrong: [string[], number[]][] = [
    [["a", "b"], [2, 2]],
    [["a", "b"], [2, 4]],
    [["a", "b"], [2, 1e15]],
    [["a", "b"], [-1, 6]],
    [["a", "b"], [1.5, 3.5]],
    [["a", "b"], [1.5, 3]],
    [["a"], []],
    [names.concat("c"), []],
  ];
  for (const [values, lengths] of wrong) {
    assert.throws(() => decodeBlock(withRuns(values, lengths), 1), UnreadableBlock, `${lengths}`);
  }
  assert.throws(() => decodeBlock(withColumns(block, () => "{"), 1), UnreadableBlock);
  const counting = Uint8Array.from(block);
  for (const count of [6, 100, 2 ** 32 - 1]) {
    new DataView(counting.buffer).setUint32(5, count);
    new DataView(counting.buffer).setUint32(1, crc32(counting.subarray(5)));
    assert.throws(() => decodeBlock(counting, 1), UnreadableBlock, `${count} events`);
  }
});

Deno.test("journal block: the weight of a kept one has its runs spread over all events", () => {
  const events = 4_000;
  const rows = Array.from(
    { length: events },
    (_, i) => newRow({ name: i < events / 2 ? "buy" : "search", title: i < 7 ? "a" : "b" }),
  );
  const { bytes, columns } = decodeKept(encodeBlock(rows));
  const { bytes: sameBytes, columns: sameColumns } = decodeKept(encodeBlock(
    rows.map((row) => ({ ...row, name: "buy", title: "a" })),
  ));
  const { coded: { name, title } } = columns;
  assert.deepEqual([name!.which!.length, title!.which!.length], [events, events]);
  assert.ok(sameColumns.coded.name === undefined && sameColumns.coded.title === undefined);
  const spreadBytes = name!.which!.byteLength + title!.which!.byteLength;
  assert.ok(bytes - sameBytes >= spreadBytes, `${bytes} of ${sameBytes} and ${spreadBytes}`);
});

Deno.test("journal block: an unknown column is refused, whichever way it is written", () => {
  const block = encodeBlock([newRow(), newRow()]);
  const ways: [string, (value: unknown) => unknown][] = [
    ["same", (value) => value],
    ["runs", (value) => [[value, null], []]],
    ["repeated", (value) => [[value], [0, 0], []]],
  ];
  for (const [way, written] of ways) {
    for (const [name, value] of [["project_id", 2], ["event_id", "x"], ["later", 1]] as const) {
      const other = withColumns(block, (text) => {
        const columns = JSON.parse(text);
        columns[way][name] = written(value);
        return JSON.stringify(columns);
      });
      assert.throws(() => decodeBlock(other, 1), UnreadableBlock, `${way} ${name}`);
    }
    const inherited = withColumns(
      block,
      (text) =>
        text.replace(`"${way}":{`, `"${way}":{"__proto__":${JSON.stringify(written({}))},`)
          .replace(",}", "}"),
    );
    assert.throws(() => decodeBlock(inherited, 1), UnreadableBlock, `${way} __proto__`);
  }
});

Deno.test("journal block: from when to when its events happened, in any order and of any year", () => {
  // Years past 9999 are longer texts.
  const ms = fc.oneof(
    fc.integer({ min: 1_700_000_000_000, max: 1_700_000_090_000 }),
    fc.integer({ min: -62_135_596_800_000, max: 8.64e15 }),
  );
  fc.assert(fc.property(fc.array(ms, { minLength: 1, maxLength: 8 }), (moments) => {
    const rows = moments.map((at) => newRow({ occurred_at: new Date(at).toISOString() }));
    const span = { fromMs: Math.min(...moments), toMs: Math.max(...moments) };
    assert.deepEqual(blockSpan(rows), span);
  }));
});
