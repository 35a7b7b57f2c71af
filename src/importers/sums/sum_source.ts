import type { ImportedDimension, ImportedSource } from "../../imported/imported_sums.ts";
import { LOCATION_LENGTH_MAX } from "../../limits.ts";
import type { Members, Row } from "../json_rows.ts";
import type { MappingNote } from "../source.ts";
import type { RowRefusal } from "../text_lines.ts";
import type { PlainFile } from "../unpacked.ts";
import type { Figures } from "./day_values.ts";
import type { GatheredSums } from "./gathered_sums.ts";

/** What rows are read with. */
export interface SumContext {
  readonly sums: GatheredSums;
  /** The host of the project's site: visits from it come from nowhere else. */
  readonly siteHost: string | null;
  /** A row that cannot be taken; null: it could not even be read. */
  readonly refuse: (file: string, line: number, refusal: RowRefusal, row: Members | null) => void;
}

/** What became of one file; null in `table`: nothing of it is imported. */
export interface FileRead {
  readonly name: string;
  readonly table: string | null;
  readonly rows: number;
}

/** How files of daily sums of one product are read. */
export interface SumSource {
  readonly name: ImportedSource;
  readonly title: string;
  /** What of that product is taken, and how one gets it. */
  readonly takes: string;
  /** From which version on, and where the shape is told. */
  readonly shape: string;
  readonly notes: readonly MappingNote[];
  /** Reads all files. Throws FileProblem for one that cannot be read, or is another product's. */
  readonly read: (
    files: readonly PlainFile[],
    context: SumContext,
  ) => AsyncGenerator<FileRead>;
}

/** A row that holds no sum of a day. */
export class RowMistake extends Error {
  override readonly name = "RowMistake";
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

/** A whole number from 0 on. Throws RowMistake. */
export function countOf(row: Members, column: string): number {
  const text = String(row[column] ?? "").trim();
  if (/^\d{1,10}(?:\.0+)?$/.test(text)) return Number(text);
  throw new RowMistake("invalid_number", `\`${column}\` must be a whole number, not "${text}".`);
}

/** The same where the table has the column. */
export function countIfTold(row: Members, column: string): number | undefined {
  return row[column] === undefined || row[column] === "" ? undefined : countOf(row, column);
}

/** A date, also of a time of that day. Throws RowMistake. */
export function dateOf(value: unknown): string {
  const text = String(value ?? "").trim().slice(0, 10);
  try {
    if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return Temporal.PlainDate.from(text).toString();
  } catch { /* told below */ }
  throw new RowMistake("invalid_date", `"${text}" is no date such as 2026-01-31.`);
}

/** Text that can be stored, and null for none. Throws RowMistake. */
export function valueOf(value: unknown): string | null {
  const text = typeof value === "string" ? value : "";
  if (text === "") return null;
  if (text.length > LOCATION_LENGTH_MAX) {
    throw new RowMistake("too_long", `A value holds at most ${LOCATION_LENGTH_MAX} characters.`);
  }
  if (text.includes("\0") || !text.isWellFormed()) {
    throw new RowMistake("invalid_text", "The value holds what no text may.");
  }
  return text;
}

/** Adds one row to several dimensions: all of them or, where one of its values is refused, none. */
export function addAll(
  { sums }: SumContext,
  file: string,
  date: string,
  values: readonly (readonly [ImportedDimension, string | null])[],
  figures: Figures,
): void {
  for (const [dimension, value] of values) sums.add(file, date, dimension, value, figures);
}

/** Has each row taken; those that hold no sum are refused. @returns how many there were */
export async function takeRows(
  file: string,
  batches: AsyncIterable<readonly Row[]>,
  { refuse }: SumContext,
  take: (row: Members) => void,
): Promise<number> {
  let rows = 0;
  for await (const batch of batches) {
    for (const row of batch) {
      rows++;
      if ("refused" in row) {
        refuse(file, row.line, row.refused, null);
        continue;
      }
      try {
        take(row.value);
      } catch (error) {
        if (!(error instanceof RowMistake)) throw error;
        refuse(file, row.line, { code: error.code, message: error.message }, row.value);
      }
    }
  }
  return rows;
}
