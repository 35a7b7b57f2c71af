import { isParquet, plainJsonRows } from "../file_rows.ts";
import { ROW_BYTES_MAX } from "../importer_limits.ts";
import type { InputFile } from "../input_file.ts";
import type { ReadContext, SourceRow } from "../source.ts";
import { plainFiles } from "../unpacked.ts";

/** Rows of a batch export: JSON lines, packed or not, or Parquet. */
export async function* rows(
  files: readonly InputFile[],
  { read, fileBegins }: ReadContext,
): AsyncGenerator<SourceRow[]> {
  for (const file of files) {
    for await (const plain of plainFiles(file, read)) {
      fileBegins();
      if (await isParquet(plain)) {
        const { parquetRows } = await import("../parquet_rows.ts");
        yield* parquetRows(file, read);
      } else yield* plainJsonRows(plain, ROW_BYTES_MAX);
    }
  }
}
