import assert from "node:assert/strict";
import { join } from "node:path";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { IMPORT_LINE_BYTES_MAX } from "../../src/ingest/import_limits.ts";
import type { ImportLine } from "../../src/cli/import_lines.ts";
import { linesAfter, openFile } from "../../src/cli/line_file.ts";

const START = { number: 0, end: 0 };
const bytesOf = (text: string) => new TextEncoder().encode(text);

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "footfall-lines-" });
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function read(path: string, place = START): Promise<ImportLine[]> {
  const lines: ImportLine[] = [];
  for await (const chunk of linesAfter(await openFile(path), place)) lines.push(...chunk);
  return lines;
}

const textsOf = (lines: readonly ImportLine[]) =>
  lines.map(({ number, bytes }) => `${number} ${new TextDecoder().decode(bytes)}`);

const TEXT = '\ufeff{"a":1}\r\n\n  \t\n{"b":"ä"}\n{"c":3}';
const LINES = ['1 {"a":1}', '4 {"b":"ä"}', '5 {"c":3}'];

Deno.test("lines of a file: as it is, gzip or zstd, whatever it is called", () =>
  inFolder(async (folder) => {
    const plain = bytesOf(TEXT);
    const half = plain.length >> 1;
    const files: Record<string, Uint8Array> = {
      "plain.gz": plain,
      "gzip.ndjson": gzipSync(plain),
      "zstd.txt": zstdCompressSync(plain),
      // Two frames, one of them with a checksum, and an empty one behind them.
      "frames.zst": Uint8Array.from([
        ...zstdCompressSync(plain.subarray(0, half)),
        ...zstdCompressSync(plain.subarray(half), {
          params: { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_compressionLevel]: 19 },
        }),
        ...[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3],
      ]),
      // As `cat a.gz b.gz` makes them.
      "two.gz": Uint8Array.from([
        ...gzipSync(plain.subarray(0, half)),
        ...gzipSync(plain.subarray(half)),
      ]),
    };
    for (const [name, bytes] of Object.entries(files)) {
      const path = join(folder, name);
      await Deno.writeFile(path, bytes);
      const lines = await read(path);
      assert.deepEqual(textsOf(lines), LINES, name);
      assert.deepEqual(lines.map(({ isUnended }) => isUnended), [undefined, undefined, true]);
      assert.equal(lines.at(-1)!.end, plain.length);
      const behind = await read(path, lines[1]!);
      assert.deepEqual(textsOf(behind), LINES.slice(2), `${name}: behind the second line`);
    }
    const file = join(folder, "empty");
    await Deno.writeFile(file, new Uint8Array());
    assert.deepEqual(await read(file), []);
  }));

Deno.test("lines of a file: cut anywhere, every byte of every line comes once", () =>
  inFolder(async (folder) => {
    const path = join(folder, "many");
    const lines = Array.from(
      { length: 40_000 },
      (_, i) => `{"n":${i},"t":"${"x".repeat(i % 97)}"}`,
    );
    await Deno.writeTextFile(path, lines.join("\n") + "\n");
    assert.deepEqual(textsOf(await read(path)), lines.map((line, i) => `${i + 1} ${line}`));
  }));

Deno.test("lines of a file: what cannot be read is said in a sentence", () =>
  inFolder(async (folder) => {
    const packed = gzipSync(bytesOf(`${TEXT}\n`.repeat(5_000)));
    const squeezed = zstdCompressSync(bytesOf(`${TEXT}\n`.repeat(5_000)));
    const damaged = packed.slice();
    damaged.fill(0xff, damaged.length >> 1);
    const cases: readonly (readonly [string, Uint8Array, RegExp])[] = [
      [
        "cut.gz",
        packed.subarray(0, packed.length >> 1),
        /cut\.gz is cut off: its gzip can be read/,
      ],
      [
        "cut.zst",
        squeezed.subarray(0, squeezed.length - 9),
        /cut\.zst is cut off: its zstd/,
      ],
      [
        "cut2.zst",
        Uint8Array.from([...squeezed, ...squeezed.subarray(0, 3)]),
        /cut2\.zst is cut off/,
      ],
      ["bad.gz", damaged, /bad\.gz is (damaged|cut off): its gzip can be read up to byte \d+/],
      ["a.zip", bytesOf("PK\x03\x04rest"), /a\.zip is a zip archive: unpack it first/],
      ["a.parquet", bytesOf("PAR1rest"), /is a Parquet file/],
      ["wide.txt", new Uint8Array([0xff, 0xfe, 0x7b, 0]), /is UTF-16: save it as UTF-8/],
    ];
    for (const [name, bytes, sentence] of cases) {
      const path = join(folder, name);
      await Deno.writeFile(path, bytes);
      await assert.rejects(read(path), { name: "UnreadableFile", message: sentence }, name);
    }
    await assert.rejects(openFile(folder), /is a folder: name one file/);
    await assert.rejects(openFile(join(folder, "none")), /There is no file .*none\./);
  }));

Deno.test("lines of a file: a line that does not end takes no memory, and is refused", () =>
  inFolder(async (folder) => {
    const path = join(folder, "endless");
    const good = '{"a":1}\n';
    await Deno.writeTextFile(path, good);
    // A third of a gigabyte of nothing, which a disk need not hold.
    const size = 320 * 1024 * 1024;
    await Deno.truncate(path, size);
    await Deno.writeTextFile(path, `\n${good}`, { append: true });
    const before = Deno.memoryUsage().rss;
    const lines = await read(path);
    assert.deepEqual(lines.map(({ number, refused }) => [number, refused?.code]), [
      [1, undefined],
      [2, "event_too_large"],
      [3, undefined],
    ]);
    assert.ok(lines[1]!.bytes.length <= IMPORT_LINE_BYTES_MAX);
    const grown = Deno.memoryUsage().rss - before;
    assert.ok(grown < 256 * 1024 * 1024, `${grown >> 20} MiB more`);
  }));

Deno.test("lines of a file: as long as a line may be, and one byte more", () =>
  inFolder(async (folder) => {
    const path = join(folder, "long");
    const longest = "x".repeat(IMPORT_LINE_BYTES_MAX);
    await Deno.writeTextFile(path, `${longest}\n${longest}y\n`);
    const lines = await read(path);
    assert.deepEqual(lines.map(({ refused }) => refused?.code), [undefined, "event_too_large"]);
    assert.equal(lines[0]!.bytes.length, IMPORT_LINE_BYTES_MAX);
  }));
