import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import type { RowGroup } from "hyparquet";
import { FileProblem } from "./file_problem.ts";
import {
  PARQUET_GROUP_BYTES_MAX,
  PARQUET_GROUP_ROWS_MAX,
  ROWS_AT_ONCE,
} from "./importer_limits.ts";
import { type InputFile, readBytes } from "./input_file.ts";
import type { Members } from "./json_rows.ts";
import type { BytesRead } from "./unpacked.ts";
import type { SourceRow } from "./source.ts";

type Unpack = (packed: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;

/** Returns a function that unpacks a page, at most to the size that it states, so that memory is bounded. */
const bounded = (unpack: Unpack) => (packed: Uint8Array, bytes: number): Uint8Array => {
  if (bytes > PARQUET_GROUP_BYTES_MAX) throw new Error("A page is larger than a group may be");
  return new Uint8Array(unpack(packed, { maxOutputLength: Math.max(1, bytes) }));
};

/** The codecs that the Parquet reader does not bring along. Deno has no LZ4. */
const CODECS = {
  GZIP: bounded(gunzipSync),
  BROTLI: bounded(brotliDecompressSync),
  ZSTD: bounded(zstdDecompressSync),
};

const UNREADABLE =
  "it cannot be read as Parquet: it is cut off, damaged, or packed in a way that " +
  "is not read (Snappy, ZSTD, gzip and Brotli are).";

/** Returns a whole number beyond 2^53 as text, as exports in JSON do. */
function plainCell(cell: unknown): unknown {
  return typeof cell === "bigint"
    ? Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell)
    : cell;
}

/** Whether a group of rows fits into memory, by what the file states. */
function fitsMemory({ total_byte_size, num_rows, columns }: RowGroup): boolean {
  const counts = [num_rows, ...columns.map(({ meta_data }) => meta_data?.num_values ?? 0n)];
  return Number(total_byte_size) <= PARQUET_GROUP_BYTES_MAX &&
    counts.every((count) => count >= 0n && count <= BigInt(PARQUET_GROUP_ROWS_MAX));
}

/**
 * Yields the rows of a Parquet file, with one group of rows in memory at a time. `line` is the row's number.
 * Only for files of the person who runs the program: the reader trusts what pages state, so that a forged one
 * can take all of the memory, or never end.
 *
 * @throws FileProblem if the file cannot be read
 */
export async function* parquetRows(
  file: InputFile,
  read: BytesRead,
): AsyncGenerator<SourceRow[]> {
  const { parquetMetadataAsync, parquetReadObjects } = await import("hyparquet");
  const buffer = {
    byteLength: file.size,
    slice: async (start: number, end = file.size) => {
      const bytes = await readBytes(file, start, end);
      read(bytes.length);
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    },
  };
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch {
      throw new FileProblem(file.name, UNREADABLE);
    }
  };
  const metadata = await guarded(() => parquetMetadataAsync(buffer));
  let first = 0;
  for (const group of metadata.row_groups) {
    if (!fitsMemory(group)) {
      throw new FileProblem(
        file.name,
        "its groups of rows are too large: export it as JSON lines.",
      );
    }
    const rowStart = first;
    const rowEnd = first + Number(group.num_rows);
    first = rowEnd;
    const found = await guarded(() =>
      parquetReadObjects({ file: buffer, metadata, rowStart, rowEnd, compressors: CODECS })
    );
    for (let at = 0; at < found.length; at += ROWS_AT_ONCE) {
      yield found.slice(at, at + ROWS_AT_ONCE).map((row, i) => ({
        file: file.name,
        line: rowStart + at + i + 1,
        value: Object.fromEntries(
          Object.entries(row as Members).map(([name, cell]) => [name, plainCell(cell)]),
        ),
      }));
    }
  }
}
