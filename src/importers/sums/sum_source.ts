import type { ImportedDimension, ImportedSource } from "../../imported/imported_sums.ts";
import { LOCATION_LENGTH_MAX } from "../../limits.ts";
import type { Members, Row } from "../json_rows.ts";
import type { MappingNote } from "../source.ts";
import type { RowRefusal } from "../text_lines.ts";
import type { PlainFile } from "../unpacked.ts";
import { isStorable } from "../../text_schemas.ts";
import type { Figures } from "./day_values.ts";
import type { GatheredSums } from "./gathered_sums.ts";

/** The context of reading rows. */
export interface SumContext {
  readonly sums: GatheredSums;
  /** The host of the project's site, which does not count as a referrer; null: not known. */
  readonly siteHost: string | null;
  /** Called with each row that cannot be imported; `row` is null if it could not be parsed. */
  readonly refuse: (file: string, line: number, refusal: RowRefusal, row: Members | null) => void;
}

/** The result of reading one file; `table` is null if nothing of it is imported. */
export interface FileRead {
  readonly name: string;
  readonly table: string | null;
  readonly rows: number;
}

/** Reads a product's files of daily sums. */
export interface SumSource {
  readonly name: ImportedSource;
  readonly title: string;
  /** What is imported from the product, worded to follow `Plausible takes …`. */
  readonly takes: string;
  /** The versions that are known, and where their format is documented. */
  readonly shape: string;
  readonly notes: readonly MappingNote[];
  /** Reads all files. Throws FileProblem for one that cannot be read, or is another product's. */
  readonly read: (
    files: readonly PlainFile[],
    context: SumContext,
  ) => AsyncGenerator<FileRead>;
}

/** Thrown for a row that is not a valid sum of a day. */
export class RowMistake extends Error {
  override readonly name = "RowMistake";
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

/** Reads a whole number from 0 on. Throws RowMistake. */
export function countOf(row: Members, column: string): number {
  const text = String(row[column] ?? "").trim();
  if (/^\d{1,10}(?:\.0+)?$/.test(text)) return Number(text);
  throw new RowMistake("invalid_number", `\`${column}\` must be a whole number, not "${text}".`);
}

/** Reads a whole number as `countOf` does; undefined: the row does not state it. */
export function countIfStated(row: Members, column: string): number | undefined {
  return row[column] === undefined || row[column] === "" ? undefined : countOf(row, column);
}

/** Reads a date, or the date of a time. Throws RowMistake. */
export function dateOf(value: unknown): string {
  const text = String(value ?? "").trim().slice(0, 10);
  try {
    if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return Temporal.PlainDate.from(text).toString();
  } catch { /* thrown below */ }
  throw new RowMistake("invalid_date", `"${text}" is no date such as 2026-01-31.`);
}

/** Reads a text that can be stored; null: there is none. Throws RowMistake. */
export function valueOf(value: unknown): string | null {
  const text = typeof value === "string" ? value : "";
  if (text === "") return null;
  if (text.length > LOCATION_LENGTH_MAX) {
    throw new RowMistake("too_long", `A value holds at most ${LOCATION_LENGTH_MAX} characters.`);
  }
  if (!isStorable(text)) {
    throw new RowMistake("invalid_text", "The value contains characters that cannot be stored.");
  }
  return text;
}

/** A `%` that does not begin an escape. */
const LONE_PERCENT = /%(?![0-9A-Fa-f]{2})/g;

/**
 * Reads a path, and percent-encodes it as paths of Footfall's own page views are. Some products store decoded
 * paths: `/ü` before the switch and `/%C3%BC` after it would be two pages. Throws RowMistake.
 */
export function pathOf(value: unknown): string | null {
  const path = valueOf(value);
  if (path === null || !path.startsWith("/")) return path;
  // With hash-based routing, a page ends with the fragment.
  const [, before = "", fragment = ""] = /^([^#]*)(.*)$/s.exec(path) ?? [];
  const url = new URL("https://relative.invalid");
  url.pathname = before.replaceAll(LONE_PERCENT, "%25");
  const encoded = url.pathname + fragment;
  return encoded.length > LOCATION_LENGTH_MAX ? path : encoded;
}

/** Adds one row to several dimensions, once all of its values have been read and are valid. */
export function addAll(
  { sums }: SumContext,
  file: string,
  date: string,
  values: readonly (readonly [ImportedDimension, string | null])[],
  figures: Figures,
): void {
  for (const [dimension, value] of values) sums.add(file, date, dimension, value, figures);
}

/** Calls `take` with each row, and refuses those for which it throws RowMistake. @returns the number of rows */
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
