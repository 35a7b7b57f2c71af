/** Writes tables as CSV (RFC 4180) with cells that no spreadsheet runs as formulas. */

export type CsvCell = string | number | boolean | null | undefined;

/** Puts an apostrophe before text that a spreadsheet would run as a formula. */
function harmless(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function cellOf(cell: CsvCell): string {
  if (cell === null || cell === undefined) return "";
  const text = typeof cell === "string" ? harmless(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Formats one record per row, each ended by CRLF. Numbers have a decimal point and full precision. */
export function csvRecords(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

/** Formats a header, and one record per row. */
export function csvText(
  header: readonly string[],
  rows: readonly (readonly CsvCell[])[],
): string {
  return csvRecords([header, ...rows]);
}
