import assert from "node:assert/strict";
import fc from "fast-check";
import { EventColumns, type FlagMember, type TextMember } from "../../src/store/event_columns.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { InstantReader } from "../../src/store/instant_text.ts";
import { encodeBlock } from "../../src/store/journal_block.ts";
import { decodeBlock, decodeColumns } from "../../src/store/journal_events.ts";
import {
  FLAG_CODES,
  FLAG_COLUMNS,
  NUMBER_COLUMNS,
  TEXT_COLUMNS,
} from "../../src/store/segment_columns.ts";
import { blockTexts } from "../../src/store/text_count.ts";
import { newRow } from "../support/event_rows.ts";
import { EVENTS } from "./segment_world.ts";

const PROJECT = 1;

/** Blocks of events, some of which are taken, and the rows that those are. */
function taken(blocks: readonly (readonly EventRow[])[], isTaken: (i: number) => boolean) {
  const columns = new EventColumns(PROJECT);
  const rows: EventRow[] = [];
  let number = 0;
  for (const block of blocks) {
    const encoded = encodeBlock(block);
    const decoded = decodeBlock(encoded, PROJECT);
    const places = [...block.keys()].filter(() => isTaken(number++));
    columns.add(decodeColumns(encoded), Int32Array.from(places));
    rows.push(...places.map((place) => decoded[place]!));
  }
  return { columns, rows };
}

const BLOCKS = fc.array(EVENTS.map((events) => events.map(({ row }) => row)), {
  minLength: 1,
  maxLength: 4,
});

Deno.test("event columns: what the rows of the same blocks say", () => {
  fc.assert(fc.property(BLOCKS, fc.array(fc.boolean()), (blocks, shares) => {
    const { columns, rows } = taken(blocks, (i) => shares[i % (shares.length || 1)] ?? true);
    assert.equal(columns.length, rows.length);
    for (const name of [...TEXT_COLUMNS, "received_at", "sent_at"] as TextMember[]) {
      const { codes, values } = columns.texts(name);
      const texts = Array.from(codes, (code) => code === 0 ? null : values[code - 1]);
      assert.deepEqual(texts, rows.map((row) => row[name]), name);
      assert.deepEqual(new Set(values), new Set(texts.filter((text) => text !== null)), name);
      assert.equal(new Set(values).size, values.length, name);
    }
    for (const name of NUMBER_COLUMNS) {
      if (name === "received_at" || name === "sent_at") continue;
      assert.deepEqual([...columns.numbers(name)], rows.map((row) => row[name] ?? NaN), name);
    }
    const codeOf = (flag: boolean | null) =>
      flag === null ? FLAG_CODES.none : flag ? FLAG_CODES.yes : FLAG_CODES.no;
    for (const name of FLAG_COLUMNS) {
      assert.deepEqual([...columns.flags(name)], rows.map((row) => codeOf(row[name])), name);
    }
    assert.deepEqual(columns.eventIds(), rows.map((row) => row.event_id));
    assert.equal(
      columns.ids().toHex(),
      rows.map((row) => row.event_id.replaceAll("-", "")).join(""),
    );
    assert.deepEqual([...columns.moments()], rows.map((row) => Date.parse(row.occurred_at)));
    const count = columns.textCount();
    const known = new Set<string>();
    for (const [i, row] of rows.entries()) assert.equal(count.add(i), charactersOf(row, known));
  }));
});

/** The characters of a row's texts but the known ones, which they are then. */
function charactersOf(row: EventRow, known: Set<string>): number {
  let characters = 0;
  for (const name of TEXT_COLUMNS) {
    const text = row[name];
    if (text === null || known.has(`${name} ${text}`)) continue;
    known.add(`${name} ${text}`);
    characters += text.length;
  }
  return characters;
}

Deno.test("text count: what a block holds of its texts, from any event on, and again from the beginning", () => {
  const long = "x".repeat(2_000);
  const rows = Array.from({ length: 40 }, (_, i) =>
    newRow({
      title: `${i % 3} ${long}`,
      selector: `${i} ${long}`,
      url_rest: i < 20 ? long : null,
      session_id: long,
    }));
  const texts = blockTexts(decodeColumns(encodeBlock(rows)));
  for (const from of [0, 7, 25]) {
    const known = new Set<string>();
    for (let i = from; i < rows.length; i++) {
      assert.equal(texts.add(i), charactersOf(rows[i]!, known), `${i} from ${from}`);
    }
    texts.clear();
  }
});

const TUPLE: readonly (TextMember | FlagMember)[] = [
  ...["bot", "host", "country", "browser", "os", "device", "path", "in_session"] as const,
];

function assertTuples(columns: EventColumns, rows: readonly EventRow[]): void {
  const { codes, firsts } = columns.tuples(TUPLE);
  const said = rows.map((row) => TUPLE.map((name) => row[name]));
  const keys = said.map((values) => JSON.stringify(values));
  assert.equal(firsts.length, new Set(keys).size);
  for (const [i, code] of codes.entries()) {
    assert.equal(keys[firsts[code]!], keys[i]);
    assert.deepEqual(
      Object.values(columns.membersAt(TUPLE, i)),
      said[i],
    );
  }
}

Deno.test("event columns: events of one tuple say the same, of others something else", () => {
  fc.assert(fc.property(BLOCKS, (blocks) => {
    const { columns, rows } = taken(blocks, () => true);
    assertTuples(columns, rows);
  }));
});

Deno.test("event columns: tuples of more values than a number can count", () => {
  // 3,000 values in each of seven columns: 2 * 10^24 combinations.
  const [row] = fc.sample(EVENTS, 1)[0]!.map(({ row }) => row);
  const texts = (i: number) =>
    Object.fromEntries(
      TUPLE.filter((name) => typeof row![name] !== "boolean").map((name, k) => [
        name,
        `${(i * (k + 1)) % 3_000}`,
      ]),
    );
  const rows = Array.from({ length: 6_000 }, (_, i) => ({
    ...row!,
    ...texts(i),
    bot: i % 2 === 0,
    in_session: i % 3 === 0,
  }));
  const { columns } = taken([rows], () => true);
  assertTuples(columns, rows);
});

Deno.test("instants: read as Date reads them", () => {
  const ms = fc.oneof(
    fc.integer({ min: 1_700_000_000_000, max: 1_700_000_200_000 }),
    fc.integer({ min: -62_135_596_800_000, max: 253_402_300_800_000 }),
  );
  fc.assert(fc.property(fc.array(ms, { minLength: 1 }), (instants) => {
    const reader = new InstantReader();
    assert.deepEqual(instants.map((ms) => reader.msOf(new Date(ms).toISOString())), instants);
  }));
  assert.equal(
    new InstantReader().msOf("2026-03-01T17:00:00Z"),
    Date.parse("2026-03-01T17:00:00Z"),
  );
});
