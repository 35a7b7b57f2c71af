/** Tables as CSV (RFC 4180) that no spreadsheet takes for a program. */

export type CsvCell = string | number | boolean | null | undefined;

/** Text that a spreadsheet would run as a formula is told by an apostrophe to be text. */
function harmless(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function cellOf(cell: CsvCell): string {
  if (cell === null || cell === undefined) return "";
  const text = typeof cell === "string" ? harmless(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One record per row, each ended by CRLF. Numbers keep a point and full precision. */
export function csvRecords(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

/** The same under a header. */
export function csvText(
  header: readonly string[],
  rows: readonly (readonly CsvCell[])[],
): string {
  return csvRecords([header, ...rows]);
}
