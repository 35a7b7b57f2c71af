import { ROW_CURSOR_LENGTH_MAX } from "../limits.ts";
import { isStorable } from "../text_schemas.ts";
import { givenText, invalidCursor } from "./parameters.ts";
import type { SqlParams } from "./sql_params.ts";

/** Where a page of a sorted list ended: the counts of its last row, and its value, which is unique. */
export interface RowCursor {
  readonly counts: readonly number[];
  readonly value: string | null;
}

function isCursor(parsed: unknown, counts: number): parsed is (number | string | null)[] {
  if (!Array.isArray(parsed) || parsed.length !== counts + 1) return false;
  const value: unknown = parsed.at(-1);
  const sane = value === null || typeof value === "string" && isStorable(value);
  return sane && parsed.slice(0, -1).every((count) => Number.isFinite(count));
}

/** Returns a cursor as text for URLs. */
export function encodeRowCursor({ counts, value }: RowCursor): string {
  return new TextEncoder().encode(JSON.stringify([...counts, value]))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/** A page of a list, and the cursor of the next page; null: no page follows. */
export interface RowPage<R> {
  readonly rows: readonly R[];
  readonly nextCursor: string | null;
}

/** Cuts a list to a page of `limit` rows; another page follows if the list has more. */
export function cutPage<R>(
  listed: readonly R[],
  limit: number,
  cursorOf: (last: R) => string,
): RowPage<R> {
  const rows = listed.slice(0, limit);
  return { rows, nextCursor: listed.length > limit ? cursorOf(rows.at(-1)!) : null };
}

/** Reads `cursor`; null where it is not given. @param counts how many counts the list is sorted by */
export function readRowCursor(query: URLSearchParams, counts: number): RowCursor | null {
  const text = givenText(query, "cursor");
  if (text === null) return null;
  let parsed: unknown = null;
  try {
    if (text.length <= ROW_CURSOR_LENGTH_MAX) {
      const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
      parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    }
  } catch { /* refused below */ }
  if (!isCursor(parsed, counts)) throw invalidCursor();
  return { counts: parsed.slice(0, -1) as number[], value: parsed.at(-1) as string | null };
}

/**
 * Returns the SQL condition "comes after the cursor" in the order of the count columns, each descending,
 * then of the value column, `COLLATE "C" ASC NULLS LAST`. The columns are trusted SQL.
 */
export function afterCursor(
  params: SqlParams,
  cursor: RowCursor | null,
  countColumns: readonly string[],
  valueColumn: string,
): string {
  if (cursor === null) return "true";
  const last = cursor.value === null
    ? "false"
    : `(${valueColumn} COLLATE "C" > ${params.text(cursor.value)} OR ${valueColumn} IS NULL)`;
  return countColumns.reduceRight((rest, column, i) => {
    const count = params.float(cursor.counts[i]!);
    return `(${column} < ${count} OR ${column} = ${count} AND ${rest})`;
  }, last);
}
