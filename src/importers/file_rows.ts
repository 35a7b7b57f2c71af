import { FileProblem } from "./file_problem.ts";
import { ROW_BYTES_MAX } from "./importer_limits.ts";
import { jsonRows } from "./json_rows.ts";
import type { ImportSource, SourceRow } from "./source.ts";
import { utf8Bytes } from "./text_lines.ts";
import { type BytesRead, type PlainFile, plainFiles } from "./unpacked.ts";

const PARQUET = [0x50, 0x41, 0x52, 0x31];

/** Whether a file is Parquet, by its first bytes; false if it is packed or in an archive. */
export async function isParquet({ whole }: Pick<PlainFile, "whole">): Promise<boolean> {
  if (whole === null) return false;
  for await (const chunk of whole.read(0, PARQUET.length)) {
    return PARQUET.every((byte, i) => chunk[i] === byte);
  }
  return false;
}

/** Yields the rows of one plain file of JSON. */
export async function* plainJsonRows(
  plain: PlainFile,
  bytesMax: number,
): AsyncGenerator<SourceRow[]> {
  if (await isParquet(plain)) {
    throw new FileProblem(plain.name, "it is Parquet; export JSON instead.");
  }
  for await (const rows of jsonRows(utf8Bytes(plain.name, plain.bytes()), bytesMax)) {
    yield rows.map((row) => ({ ...row, file: plain.name }));
  }
}

/** Returns a reader of files that may be packed or in a zip; `rowsOf` reads each plain file. */
export function eachFile(
  rowsOf: (plain: PlainFile, read: BytesRead) => AsyncGenerator<SourceRow[]>,
): ImportSource["rows"] {
  return async function* (files, { read, fileBegins }) {
    for (const file of files) {
      for await (const plain of plainFiles(file, read)) {
        fileBegins();
        yield* rowsOf(plain, read);
      }
    }
  };
}

/** Returns a reader of JSON files: one object a line, or arrays. */
export function jsonFiles(bytesMax = ROW_BYTES_MAX): ImportSource["rows"] {
  return eachFile((plain) => plainJsonRows(plain, bytesMax));
}
