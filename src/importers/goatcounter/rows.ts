import { readCsvFile, strangeRows } from "../csv_rows.ts";
import { FileProblem } from "../file_problem.ts";
import { eachFile } from "../file_rows.ts";
import type { Row } from "../json_rows.ts";
import type { SourceRow } from "../source.ts";

/** The header begins with the version of the export. */
const VERSIONED = /^(\d+)Path$/;
const VERSIONS: ReadonlySet<string> = new Set(["1", "2"]);

/** Reads the rows of the CSV export, gzipped as it is sent or plain. */
export const rows = eachFile(async function* (plain) {
  const { columns: [first = ""], rows } = await readCsvFile(plain);
  const isKnown = first === "Path" || VERSIONED.test(first);
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
  const checked = isKnown ? rows : strangeRows(plain.name, rows, "GoatCounter");
  for await (const batch of checked) yield batch.map(named);
});
