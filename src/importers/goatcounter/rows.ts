import { readCsv } from "../csv_rows.ts";
import { FileProblem } from "../file_problem.ts";
import { ROW_BYTES_MAX } from "../importer_limits.ts";
import type { InputFile } from "../input_file.ts";
import type { Row } from "../json_rows.ts";
import type { ReadContext, SourceRow } from "../source.ts";
import { utf8Bytes } from "../text_lines.ts";
import { type PlainFile, plainFiles } from "../unpacked.ts";

/** The header begins with the version of the export. */
const VERSIONED = /^(\d+)Path$/;
const VERSIONS: ReadonlySet<string> = new Set(["1", "2"]);

async function* plainRows(plain: PlainFile): AsyncGenerator<SourceRow[]> {
  const bytes = utf8Bytes(plain.name, plain.bytes());
  const { columns: [first = ""], rows } = await readCsv(plain.name, bytes, ROW_BYTES_MAX);
  const [, version] = VERSIONED.exec(first) ?? [];
  if (version !== undefined && !VERSIONS.has(version)) {
    throw new FileProblem(
      plain.name,
      `it is version ${version} of GoatCounter's export; versions 1 and 2 are known.`,
      1,
    );
  }
  const named = (row: Row): SourceRow => {
    if ("refused" in row || version === undefined) return { ...row, file: plain.name };
    const { [first]: path, ...rest } = row.value;
    return { ...row, file: plain.name, value: { Path: path, ...rest } };
  };
  for await (const batch of rows) yield batch.map(named);
}

/** Rows of the CSV export, gzipped as it is sent or plain. */
export async function* rows(
  files: readonly InputFile[],
  { read, fileBegins }: ReadContext,
): AsyncGenerator<SourceRow[]> {
  for (const file of files) {
    for await (const plain of plainFiles(file, read)) {
      fileBegins();
      yield* plainRows(plain);
    }
  }
}
