import { eachFile, isParquet, plainJsonRows } from "../file_rows.ts";
import { ROW_BYTES_MAX } from "../importer_limits.ts";

/** Reads the rows of a batch export: JSON lines or Parquet. */
export const rows = eachFile(async function* (plain, read) {
  if (await isParquet(plain)) {
    const { parquetRows } = await import("../parquet_rows.ts");
    yield* parquetRows(plain.whole!, read);
  } else yield* plainJsonRows(plain, ROW_BYTES_MAX);
});
