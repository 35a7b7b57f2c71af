import assert from "node:assert/strict";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { PARQUET_GROUP_ROWS_MAX } from "../../src/importers/importer_limits.ts";
import { memoryFile } from "../../src/importers/input_file.ts";
import { parquetRows } from "../../src/importers/parquet_rows.ts";
import { POSTHOG } from "../../src/importers/posthog/source.ts";
import { convertedFiles, eventsOf, jsonLines } from "./rows.ts";
import { posthogEvent } from "./source_rows.ts";
import { id } from "./umami_export.ts";

const ROWS = Array.from(
  { length: 1_200 },
  (_, i) => posthogEvent({ uuid: id(i + 1), event: i % 2 === 0 ? "$pageview" : "bought" }),
);

const COMPRESSORS = {
  GZIP: (page: Uint8Array) => new Uint8Array(gzipSync(page)),
  BROTLI: (page: Uint8Array) => new Uint8Array(brotliCompressSync(page)),
  ZSTD: (page: Uint8Array) => new Uint8Array(zstdCompressSync(page)),
};

/** A batch export in Parquet: JSON stands in columns of text. */
function parquet(
  codec: "SNAPPY" | "UNCOMPRESSED" | keyof typeof COMPRESSORS,
  compressors: Readonly<Record<string, (page: Uint8Array) => Uint8Array>> = COMPRESSORS,
): Uint8Array {
  const column = (
    name: string,
    type: "STRING" | "TIMESTAMP",
    value: (row: typeof ROWS[0]) => unknown,
  ) => ({
    name,
    type,
    data: ROWS.map(value),
  });
  const text = (name: string) => column(name, "STRING", (row) => row[name]);
  return new Uint8Array(parquetWriteBuffer({
    codec,
    compressors,
    rowGroupSize: 500,
    columnData: [
      text("uuid"),
      text("event"),
      text("distinct_id"),
      column("properties", "STRING", (row) => JSON.stringify(row.properties)),
      column("timestamp", "TIMESTAMP", () => new Date("2026-05-01T10:00:00.123Z")),
    ],
  }));
}

Deno.test("PostHog: a Parquet file gives the same events as JSON lines", async () => {
  const lines = eventsOf(await convertedFiles(POSTHOG, [jsonLines("e.jsonl", ROWS)]))
    .map((event) => ({ ...event, timestamp: "2026-05-01T10:00:00.123Z" }));
  for (const codec of ["SNAPPY", "UNCOMPRESSED", "GZIP", "BROTLI", "ZSTD"] as const) {
    const all = await convertedFiles(POSTHOG, [memoryFile("e.parquet", parquet(codec))]);
    assert.deepEqual(eventsOf(all), lines);
    assert.deepEqual([all[0]?.line, all.at(-1)?.line], [1, ROWS.length]);
  }
});

Deno.test("PostHog: the error for a Parquet file that is cut off is a sentence", async () => {
  const whole = parquet("SNAPPY");
  await assert.rejects(
    convertedFiles(POSTHOG, [memoryFile("e.parquet", whole.subarray(0, whole.length - 100))]),
    /e\.parquet: it cannot be read as Parquet: it is cut off, damaged/,
  );
});

Deno.test("PostHog: a page of Parquet that becomes more than it says is refused", async () => {
  const more = { GZIP: (page: Uint8Array) => gzipSync(new Uint8Array(page.length + 1)) };
  await assert.rejects(
    convertedFiles(POSTHOG, [memoryFile("e.parquet", parquet("GZIP", more))]),
    /e\.parquet: it cannot be read as Parquet/,
  );
});

Deno.test("Parquet: a group has as many rows as memory has room for, and no more", async () => {
  const count = async (rows: number) => {
    const columnData = [{ name: "n", type: "INT32" as const, data: new Int32Array(rows) }];
    const bytes = new Uint8Array(parquetWriteBuffer({ rowGroupSize: rows, columnData }));
    assert.ok(bytes.length < 64 * 1024, `${bytes.length} bytes`);
    let found = 0;
    for await (const batch of parquetRows(memoryFile("n.parquet", bytes), () => {})) {
      found += batch.length;
    }
    return found;
  };
  assert.equal(await count(PARQUET_GROUP_ROWS_MAX), PARQUET_GROUP_ROWS_MAX);
  await assert.rejects(
    count(PARQUET_GROUP_ROWS_MAX + 1),
    /n\.parquet: its groups of rows are too large: export it as JSON lines/,
  );
});
