import assert from "node:assert/strict";
import fc from "fast-check";
import { ByteReader, ByteWriter } from "../../src/store/byte_stream.ts";
import {
  ID_BYTES,
  readIds,
  sortByTime,
  uuidBytes,
  uuidOf,
  writeIds,
} from "../../src/store/id_codec.ts";
import {
  columnFor,
  joinIntegers,
  readIntegers,
  writeIntegers,
} from "../../src/store/integer_codec.ts";
import { readNumbers, writeNumbers } from "../../src/store/number_codec.ts";
import { readSqueezed, squeeze } from "../../src/store/squeezed.ts";
import { readTexts, type TextColumn, writeTexts } from "../../src/store/text_codec.ts";
import { TextGatherer } from "../../src/store/text_gatherer.ts";
import { textAt } from "../../src/store/whole_properties.ts";

function written(write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter();
  write(writer);
  return writer.end();
}

const INT4 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const INTEGERS = fc.oneof(
  fc.array(INT4),
  fc.array(fc.integer({ min: -3, max: 300 }), { maxLength: 300, size: "max" }),
  fc.array(fc.constantFrom(0, 1), { maxLength: 300, size: "max" }),
  fc.array(fc.nat(70_000), { maxLength: 300, size: "max" })
    .map((steps) => steps.map((_, i) => steps.slice(0, i + 1).reduce((a, b) => a + b, 0))),
).map((values) => Int32Array.from(values));

/** Reads what is written, and keeps what it decodes. */
function keptReader(write: (writer: ByteWriter) => void): ByteReader {
  return new ByteReader(written(write), { bytes: 0 });
}

/** Places among so many, in any order, by any numbers. */
function somePlaces(length: number, numbers: readonly number[]): Uint32Array {
  return Uint32Array.from(length === 0 ? [] : numbers, (number) => number % length);
}

Deno.test("codecs: numbers stored as steps are the same whatever was looked up before", () => {
  const steps = fc.array(fc.nat(70_000), { minLength: 1, maxLength: 9 });
  const asked = fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 6 }), { maxLength: 6 });
  const length = fc.constantFrom(511, 512, 513, 1_024, 5_000);
  fc.assert(fc.property(steps, length, asked, (steps, length, asked) => {
    const numbers = new Int32Array(length);
    for (let i = 1; i < length; i++) numbers[i] = numbers[i - 1]! + steps[i % steps.length]!;
    const stored = readIntegers(keptReader((to) => writeIntegers(to, numbers)));
    for (const some of [...asked, [length - 1], [511, 512, 0]]) {
      const places = somePlaces(length, some);
      assert.deepEqual(stored.at(places), Int32Array.from(places, (place) => numbers[place]!));
    }
  }));
});

Deno.test("codecs: some of the numbers, ids and texts are those of all at their places", () => {
  const number = fc.oneof(fc.constant(NaN), fc.nat(10_000).map((n) => n / 10_000), fc.double());
  const id = fc.uint8Array({ minLength: 16, maxLength: 16 });
  const event = fc.tuple(fc.nat(300), number, fc.nat(2 ** 41), fc.option(fc.string()), id);
  const kinds = [fc.array(INTEGERS), fc.array(event), fc.boolean(), fc.array(fc.nat())] as const;
  fc.assert(fc.property(...kinds, (pieces, events, isTimed, asked) => {
    for (const piece of pieces) {
      const places = somePlaces(piece.length, asked);
      const stored = readIntegers(new ByteReader(written((to) => writeIntegers(to, piece))));
      assert.deepEqual(stored.at(places), Int32Array.from(places, (place) => piece[place]!));
    }
    const places = somePlaces(events.length, asked);
    const numbers = Float64Array.from(events, ([, value]) => value);
    const some = new Float64Array(places.length);
    readNumbers(keptReader((to) => writeNumbers(to, numbers)))(places, some);
    assert.deepEqual(some, Float64Array.from(places, (place) => numbers[place]!));
    const ms = Float64Array.from(events, ([, , time]) => time);
    const ids = new Uint8Array(events.flatMap(([, , time, , bytes]) => {
      const first = Uint8Array.fromHex(time.toString(16).padStart(12, "0"));
      return isTimed ? [...first, ...bytes.subarray(6)] : [...bytes];
    }));
    const storedIds = readIds(keptReader((to) => writeIds(to, ids, ms)), events.length);
    assert.deepEqual(
      [...storedIds(places, Float64Array.from(places, (place) => ms[place]!))],
      [...places].flatMap((place) => [...ids.subarray(16 * place, 16 * place + 16)]),
    );
    const keys = Int32Array.from(events, ([key]) => key);
    const told = events.map(([key, , , text]) =>
      isTimed ? events.find(([first]) => first === key)![3] : text
    );
    const column = columnOf(told);
    for (const known of [null, keys]) {
      const own = known === null ? null : Int32Array.from(places, (place) => known[place]!);
      const stored = readTexts(keptReader((to) => writeTexts(to, column, known)));
      // The second time it is what is kept.
      for (const _ of [1, 2]) {
        assert.deepEqual(
          textsIn(stored(places, own)),
          Array.from(places, (place) => told[place]),
        );
      }
    }
  }));
});

Deno.test("codecs: numbers of the stream come back, whatever their size", () => {
  fc.assert(fc.property(fc.array(fc.nat(2 ** 32 - 1)), (values) => {
    const bytes = written((writer) => {
      for (const value of values) {
        writer.varint(value);
        writer.u32(value);
        writer.f64(value / 3);
      }
    });
    const reader = new ByteReader(bytes);
    for (const value of values) {
      assert.deepEqual([reader.varint(), reader.u32(), reader.f64()], [value, value, value / 3]);
    }
    assert.throws(() => reader.u8(), RangeError);
    assert.throws(() => reader.bytes(1), RangeError);
  }));
});

Deno.test("codecs: bytes are squeezed, never by much larger", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 500, size: "max" }), (bytes) => {
    const stored = written((writer) => squeeze(writer, bytes));
    assert.ok(stored.length <= bytes.length + 4);
    assert.deepEqual(
      new Uint8Array(readSqueezed(new ByteReader(stored), bytes.length).bytes()),
      bytes,
    );
  }));
  const zeros = written((writer) => squeeze(writer, new Uint8Array(100_000)));
  assert.equal(zeros.length, 2);
  const words = new TextEncoder().encode("of a few words ".repeat(1_000));
  assert.ok(written((writer) => squeeze(writer, words)).length < 200);
  assert.throws(() => readSqueezed(new ByteReader(Uint8Array.of(9, 0)), 1), /Unknown encoding/);
});

Deno.test("codecs: whole numbers, as narrow as they all allow", () => {
  fc.assert(fc.property(fc.array(INTEGERS, { minLength: 1, maxLength: 3 }), (pieces) => {
    const all = pieces.flatMap((piece) => [...piece]);
    const bytes = written((writer) => pieces.forEach((piece) => writeIntegers(writer, piece)));
    const reader = new ByteReader(bytes);
    const column = joinIntegers(pieces.map(() => readIntegers(reader)));
    assert.deepEqual([...column], all);
    const [min, max] = [Math.min(0, ...all), Math.max(0, ...all)];
    assert.equal(column.constructor, columnFor(min, max, 0).constructor);
  }));
  assert.throws(() => readIntegers(new ByteReader(Uint8Array.of(9))), /Unknown encoding/);
});

Deno.test("codecs: columns are no wider than their numbers", () => {
  const kinds: [min: number, max: number, kind: string][] = [
    [0, 255, "Uint8Array"],
    [0, 256, "Uint16Array"],
    [0, 65_535, "Uint16Array"],
    [0, 65_536, "Int32Array"],
    [-1, 127, "Int8Array"],
    [-128, 0, "Int8Array"],
    [-1, 128, "Int16Array"],
    [-129, 0, "Int16Array"],
    [-32_768, 32_767, "Int16Array"],
    [-1, 32_768, "Int32Array"],
    [-32_769, 0, "Int32Array"],
  ];
  for (const [min, max, kind] of kinds) assert.equal(columnFor(min, max, 1).constructor.name, kind);
});

Deno.test("codecs: numbers of any kind come back exactly, and where there is none", () => {
  const number = fc.oneof(
    fc.constant(NaN),
    fc.constantFrom(0, -0, 0.1 + 0.2, 1e300, 5e-324, 2 ** 53, -(2 ** 31), 2 ** 31),
    fc.nat(10_000).map((n) => n / 10_000),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const plain = fc.oneof(fc.constant(NaN), fc.nat(10_000).map((n) => n / 10_000));
  fc.assert(fc.property(fc.oneof(fc.array(number), fc.array(plain)), (numbers) => {
    const values = Float64Array.from(numbers);
    const bytes = written((writer) => writeNumbers(writer, values));
    const all = new Float64Array(values.length);
    readNumbers(new ByteReader(bytes))(null, all);
    assert.deepEqual(all, values);
  }));
});

Deno.test("codecs: ids come back, those by time in fewer bytes", () => {
  const id = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(fc.property(fc.array(fc.tuple(id, fc.nat(2 ** 41), fc.boolean())), (events) => {
    const ids = new Uint8Array(16 * events.length);
    const ms = Float64Array.from(events, ([, time]) => time);
    for (const [i, [bytes, time, isTimed]] of events.entries()) {
      ids.set(bytes, 16 * i);
      if (isTimed) ids.set(Uint8Array.fromHex(time.toString(16).padStart(12, "0")), 16 * i);
    }
    const bytes = written((writer) => writeIds(writer, ids, ms));
    assert.deepEqual(readIds(new ByteReader(bytes), events.length)(null, ms), ids);
  }));
  const count = 1_000;
  const ids = crypto.getRandomValues(new Uint8Array(16 * count));
  const ms = Float64Array.from({ length: count }, (_, i) => 1.7e12 + 1_000 * i);
  for (let i = 0; i < count; i++) {
    ids.set(Uint8Array.fromHex(ms[i]!.toString(16).padStart(12, "0")), 16 * i);
  }
  assert.ok(written((writer) => writeIds(writer, ids, ms)).length < 10.1 * count);
  assert.throws(() => readIds(new ByteReader(Uint8Array.of(9)), count), /Unknown encoding/);
});

const TEXTS = fc.array(fc.option(fc.string({ unit: "grapheme", maxLength: 6 })), { maxLength: 30 });

/** As a column whose texts stand there as often as they are told. */
function columnOf(texts: readonly (string | null)[]) {
  const values = texts.filter((text) => text !== null).map((text) =>
    new TextEncoder().encode(text)
  );
  let [code, end] = [0, 0];
  return {
    codes: Int32Array.from(texts, (text) => text === null ? 0 : ++code),
    ends: Uint32Array.from(values, ({ length }) => end += length),
    bytes: Uint8Array.from(values.flatMap((value) => [...value])),
  };
}

function textsIn(column: TextColumn) {
  return Array.from(
    column.codes,
    (code) => code === 0 ? null : textAt(column, code - 1),
  );
}

Deno.test("codecs: texts come back, by their own codes or by numbers that tell them", () => {
  // Numbers close together, and far apart.
  const steps = fc.constantFrom(1, -1, 500_000_000);
  const cases = [TEXTS, fc.array(fc.nat(3)), fc.boolean(), steps] as const;
  fc.assert(fc.property(...cases, (texts, shares, areTold, step) => {
    const share = (i: number) => shares[i] ?? 0;
    const keys = Int32Array.from(texts, (_, i) => step * share(i));
    const told = areTold ? texts.map((_, i) => texts[share(i)] ?? null) : texts;
    const column = columnOf(told);
    for (const known of [null, keys]) {
      const bytes = written((writer) => writeTexts(writer, column, known));
      assert.deepEqual(textsIn(readTexts(new ByteReader(bytes))(null, known)), told);
    }
  }));
  // Where a number tells them, they take next to nothing but themselves.
  const keys = Int32Array.from({ length: 5_000 }, (_, i) => Math.imul(i, 7_919) % 4);
  const words = { ends: Uint32Array.of(3, 6, 9), bytes: new TextEncoder().encode("onetwosix") };
  const told = written((writer) => writeTexts(writer, { codes: keys, ...words }, keys));
  assert.ok(told.length < 100, `${told.length} bytes`);
  assert.throws(() => readTexts(new ByteReader(told))(null, null), /no keys were given/);
});

Deno.test("codecs: texts of several columns are gathered, each once unless most are different", () => {
  fc.assert(fc.property(fc.array(TEXTS, { maxLength: 3 }), fc.array(fc.nat()), (columns, order) => {
    const all = columns.flat();
    const places = Uint32Array.from(order.slice(0, all.length), (n) => n % all.length);
    const gatherer = new TextGatherer(columns.map(columnOf));
    for (let block = 0; block < 2; block++) {
      const gathered = gatherer.gather(places);
      assert.deepEqual(textsIn(gathered), [...places].map((place) => all[place]));
      assert.ok(gathered.ends.length <= new Set(places).size);
    }
  }));
  const same = new TextGatherer([columnOf(["a", "b", null]), columnOf(["b", "a", null, "a"])]);
  assert.equal(same.gather(Uint32Array.of(0, 1, 2, 3, 4, 5, 6)).ends.length, 2);
});

Deno.test("codecs: ids are read from their texts, in any case", () => {
  const texts = fc.array(fc.tuple(fc.uuid(), fc.boolean()), { maxLength: 5 });
  fc.assert(fc.property(texts, (ids) => {
    const written = ids.map(([id, isUpper]) => isUpper ? id.toUpperCase() : id);
    const bytes = uuidBytes(written);
    assert.deepEqual(ids.map((_, i) => uuidOf(bytes, 16 * i)), ids.map(([id]) => id));
  }));
});

Deno.test("codecs: events are ordered by time, then by id, however many they are", () => {
  // Few times and few different bytes, so that the ids decide; up to 32 events are sorted by insertion.
  const bytes = fc.array(fc.nat(2), { minLength: ID_BYTES, maxLength: ID_BYTES });
  const events = fc.array(fc.tuple(fc.nat(2), bytes), { maxLength: 40, size: "max" });
  fc.assert(fc.property(events, (events) => {
    const moments = Float64Array.from(events, ([ms]) => ms);
    const ids = Uint8Array.from(events.flatMap(([, id]) => id));
    const places = Uint32Array.from(events.keys()).reverse();
    sortByTime(places, moments, ids);
    const textAt = (place: number) => `${moments[place]} ${events[place]![1].join("")}`;
    assert.deepEqual(Array.from(places, textAt), [...events.keys()].map(textAt).sort());
    assert.equal(new Set(places).size, events.length);
  }));
});
