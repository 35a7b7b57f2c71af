import assert from "node:assert/strict";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { readCsv } from "../../src/importers/csv_rows.ts";
import { foreignEventId } from "../../src/event_id.ts";
import { EventIds } from "../../src/importers/event_ids.ts";
import { FileProblem } from "../../src/importers/file_problem.ts";
import { ROW_BYTES_MAX, ROW_LEVELS_MAX } from "../../src/importers/importer_limits.ts";
import { type ByteSource, memoryFile } from "../../src/importers/input_file.ts";
import { jsonRows, type Row } from "../../src/importers/json_rows.ts";
import { utf8Bytes } from "../../src/importers/text_lines.ts";
import { plainFiles } from "../../src/importers/unpacked.ts";
import { zipOf } from "./zip_writer.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** Bytes in chunks of so many. */
async function* chunks(bytes: Uint8Array, size: number): ByteSource {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function flat(rows: AsyncIterable<Row[]>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const batch of rows) {
    for (const row of batch) {
      all.push("value" in row ? [row.line, { ...row.value }] : [row.line, row.refused.code]);
    }
  }
  return all;
}

const json = (text: string, size = 7, bytesMax = 100) =>
  flat(jsonRows(chunks(encode(text), size), bytesMax));

for (const size of [1, 3, 1000]) {
  Deno.test(`JSON lines in chunks of ${size}: each row has its line, a bad one spoils no other`, async () => {
    assert.deepEqual(await json('{"a":1}\n\n  \r\n{"b":"ü🦊"}\r\nno\n[1]\n{"c":3}', size), [
      [1, { a: 1 }],
      [4, { b: "ü🦊" }],
      [5, "invalid_json"],
      [6, "invalid_row"],
      [7, { c: 3 }],
    ]);
  });

  Deno.test(`JSON arrays in chunks of ${size}: elements, whatever stands in their texts`, async () => {
    const text = '\n[\n {"a":"],[{\\"\\\\"},\n\n {"b":[1,[2]]}, 5\n]\n[{"c":{}}]\n[]';
    assert.deepEqual(await json(text, size), [
      [3, { a: '],[{"\\' }],
      [5, { b: [1, [2]] }],
      [5, "invalid_row"],
      [7, { c: {} }],
    ]);
  });

  Deno.test(`JSON in chunks of ${size}: blank lines before the first row are counted`, async () => {
    const blank = " \n".repeat(20);
    assert.deepEqual(await json(`${blank}{"a":1}`, size), [[21, { a: 1 }]]);
    assert.deepEqual(await json(`${blank}[{"a":1},\n{"b":2}]`, size), [[21, { a: 1 }], [22, {
      b: 2,
    }]]);
    assert.deepEqual(await json(blank, size), []);
  });

  Deno.test(`JSON in chunks of ${size}: a row at the limit is read, one beyond it is not kept`, async () => {
    const fits = `{"a":"${"x".repeat(100 - 8)}"}`;
    assert.equal(fits.length, 100);
    const over = `{"a":"${"x".repeat(101 - 8)}"}`;
    assert.deepEqual(await json(`${over}\n${fits}\n${"y".repeat(5000)}\n{"z":1}`, size), [
      [1, "row_too_long"],
      [2, JSON.parse(fits)],
      [3, "row_too_long"],
      [4, { z: 1 }],
    ]);
    assert.deepEqual(await json(`[${over},${fits},{"z":1}]`, size), [
      [1, "row_too_long"],
      [1, JSON.parse(fits)],
      [1, { z: 1 }],
    ]);
  });

  Deno.test(`CSV in chunks of ${size}: quotes, line breaks in cells, rows of another width`, async () => {
    const text = 'a,b\r\n1,"x, ""y""\nz"\r\n\r\n2\n"","3"\n4,5"6';
    const table = await readCsv("f.csv", chunks(encode(text), size), 100);
    assert.deepEqual(table.columns, ["a", "b"]);
    assert.deepEqual(await flat(table.rows), [
      [2, { a: "1", b: 'x, "y"\nz' }],
      [5, "invalid_row"],
      [6, { a: "", b: "3" }],
      [7, { a: "4", b: '5"6' }],
    ]);
  });
}

Deno.test("JSON: an array that is cut off says so after the rows before", async () => {
  assert.deepEqual(await json('[{"a":1},{"b":'), [[1, { a: 1 }], [1, "cut_off"]]);
});

Deno.test("JSON: no deeper than the limit, and no flood of containers", async () => {
  const deep = (levels: number) =>
    `{"pad":"${"x".repeat(5000)}","a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
  const rows = await json(
    `${deep(ROW_LEVELS_MAX)}\n${deep(ROW_LEVELS_MAX + 1)}\n{"a":[${"[],".repeat(200_000)}0]}`,
    65_536,
    ROW_BYTES_MAX,
  ) as [number, unknown][];
  assert.deepEqual(rows.map(([, row]) => typeof row === "string" ? row : "read"), [
    "read",
    "too_deep",
    "too_deep",
  ]);
});

Deno.test("rows that are not UTF-8 are refused, files of UTF-16 or of no text at all are not read", async () => {
  const latin = new Uint8Array([...encode('{"a":1}\n{"b":"'), 0xe4, ...encode('"}\n{"c":3}')]);
  assert.deepEqual(await flat(jsonRows(chunks(latin, 5), 100)), [
    [1, { a: 1 }],
    [2, "invalid_encoding"],
    [3, { c: 3 }],
  ]);
  const marked = new Uint8Array([0xef, 0xbb, 0xbf, ...encode('{"a":1}')]);
  assert.deepEqual(await flat(jsonRows(utf8Bytes("f", chunks(marked, 100)), 100)), [[1, { a: 1 }]]);
  for (const bytes of [[0xff, 0xfe, 0x7b, 0], [0x7b, 0, 1, 2]]) {
    await assert.rejects(
      flat(jsonRows(utf8Bytes("f", chunks(new Uint8Array(bytes), 100)), 100)),
      (error) => error instanceof FileProblem && /^f: it is (UTF-16|no text)/.test(error.message),
    );
  }
});

Deno.test("CSV: the error for a quote that never ends names the line on which it begins", async () => {
  const table = await readCsv("f.csv", chunks(encode('a,b\n1,2\n3,"4\n5,6\n'), 4), 100);
  await assert.rejects(flat(table.rows), /f\.csv, line 3: the quoted cell does not end/);
});

Deno.test("CSV: lines that end with CR alone are no header without rows", async () => {
  await assert.rejects(
    readCsv("f.csv", chunks(encode("a,b\r1,2\r"), 4), 100),
    /f\.csv, line 1: its lines end with CR alone/,
  );
});

Deno.test("CSV: semicolons or tabs in place of commas are told", async () => {
  const cases = [
    ["a;b\n1;2\n", "semicolons"],
    ['"a"\t"b"\r\n', "tabs"],
    ['a;"b, c";d\n', "semicolons"],
    ['"a, b"\tc, d\te\n', "tabs"],
  ] as const;
  for (const [text, expected] of cases) {
    await assert.rejects(
      readCsv("f.csv", chunks(encode(text), 4), 100),
      new RegExp(`f\\.csv, line 1: ${expected} separate its cells; save it with commas`),
    );
  }
  for (const [text, expected] of [['a,"b;c;d"\n', ["a", "b;c;d"]], ['"a;b"\n', ["a;b"]]] as const) {
    const { columns } = await readCsv("f.csv", chunks(encode(text), 4), 100);
    assert.deepEqual(columns, expected);
  }
});

Deno.test("CSV: an empty file has no header", async () => {
  await assert.rejects(readCsv("f.csv", chunks(encode(""), 4), 100), /f\.csv: it is empty/);
});

async function contents(bytes: Uint8Array, name = "file"): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for await (const plain of plainFiles(memoryFile(name, bytes), () => {})) {
    let text = "";
    for await (const chunk of plain.bytes()) text += new TextDecoder().decode(chunk);
    found.push([plain.name, text]);
  }
  return found;
}

Deno.test("packed files are read by their first bytes, in zips too", async () => {
  const text = "hello ".repeat(1000);
  assert.deepEqual(await contents(encode("a")), [["file", "a"]]);
  assert.deepEqual(await contents(encode("")), [["file", ""]]);
  assert.deepEqual(await contents(new Uint8Array(gzipSync(text))), [["file", text]]);
  assert.deepEqual(await contents(new Uint8Array(zstdCompressSync(encode(text)))), [[
    "file",
    text,
  ]]);
  const two = new Uint8Array([...gzipSync("one "), ...gzipSync("two")]);
  assert.deepEqual(await contents(two), [["file", "one two"]]);
  const zip = zipOf([
    { name: "a/", bytes: new Uint8Array(), method: 0 },
    { name: "a/plain.json", bytes: encode(text) },
    { name: "a/stored.json", bytes: encode("stored"), method: 0 },
    { name: "a/packed.json.gz", bytes: new Uint8Array(gzipSync("inner")), method: 0 },
    { name: "__MACOSX/a/._plain.json", bytes: encode("litter") },
  ]);
  assert.deepEqual(await contents(zip, "x.zip"), [
    ["x.zip › a/plain.json", text],
    ["x.zip › a/stored.json", "stored"],
    ["x.zip › a/packed.json.gz", "inner"],
  ]);
});

Deno.test("the error for a damaged archive is a sentence", async () => {
  const text = encode("hello ".repeat(10_000));
  const gzip = new Uint8Array(gzipSync(text));
  const zip = zipOf([{ name: "a.json", bytes: text }]);
  const cases: [Uint8Array, RegExp][] = [
    [gzip.subarray(0, gzip.length - 20), /^file: it is cut off or damaged/],
    [zip.subarray(0, zip.length - 30), /^file: the zip's table of contents .* is missing/],
    [zipOf([{ name: "a", bytes: text, crc: 1 }]), /^file › a: its checksum is wrong/],
    [zipOf([{ name: "a", bytes: text, flags: 1 }]), /^file › a: it needs a password/],
    [zipOf([{ name: "a", bytes: text, method: 12 }]), /^file › a: it is packed in a way/],
    [
      zipOf([{ name: "a", bytes: text }, { name: "b", bytes: text, at: 0 }]),
      /^file: files lie in each other in the zip/,
    ],
    [
      zipOf([{ name: "a", bytes: text, method: 0 }, { name: "b", bytes: text, at: 60_000 }]),
      /^file: files lie in each other in the zip/,
    ],
  ];
  for (const [bytes, message] of cases) {
    await assert.rejects(contents(bytes), (error) => {
      assert.ok(error instanceof FileProblem);
      assert.match(error.message, message);
      return true;
    });
  }
});

Deno.test("a bomb is not unpacked to its end", async () => {
  const bomb = new Uint8Array(gzipSync(new Uint8Array(200 * 1024 * 1024)));
  let unpacked = 0;
  await assert.rejects(async () => {
    for await (const plain of plainFiles(memoryFile("bomb.gz", bomb), () => {})) {
      for await (const chunk of plain.bytes()) unpacked += chunk.length;
    }
  }, /bomb\.gz: it becomes more than 400 times as large/);
  assert.ok(unpacked < 100 * 1024 * 1024, String(unpacked));
});

Deno.test("ids: theirs where it is a UUID, else of source, project and theirs", () => {
  const ids = new EventIds("amplitude", "prj_a");
  const uuid = "0197A8E2-7C3B-7D1E-9F42-5B6C7D8E9F01";
  assert.equal(ids.fromTheirs(uuid), uuid.toLowerCase());
  const nil = "00000000-0000-0000-0000-000000000000";
  assert.equal(ids.fromTheirs(nil), nil);
  const made = ids.fromTheirs("evt_1");
  assert.match(made, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(made, new EventIds("amplitude", "prj_a").fromTheirs("evt_1"));
  assert.notEqual(made, new EventIds("amplitude", "prj_b").fromTheirs("evt_1"));
  assert.notEqual(made, new EventIds("posthog", "prj_a").fromTheirs("evt_1"));
  assert.equal(
    made,
    foreignEventId("amplitude", "prj_a", "evt_1"),
    "as that product's client has it",
  );
});

Deno.test("ids of rows without one: equal rows are numbered, anew in each file", () => {
  const ids = new EventIds("goatcounter", "prj_a");
  const first = [ids.fromRow(["a"]), ids.fromRow(["b"]), ids.fromRow(["a"])];
  assert.equal(new Set(first).size, 3);
  ids.newFile();
  // A later export of the same rows and some more.
  const again = [ids.fromRow(["a"]), ids.fromRow(["b"]), ids.fromRow(["a"]), ids.fromRow(["a"])];
  assert.deepEqual(again.slice(0, 3), first);
  assert.equal(new Set(again).size, 4);
});
