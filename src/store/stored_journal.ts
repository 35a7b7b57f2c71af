import { type BinaryRow, numberOf } from "../db/binary_rows.ts";
import type { PendingRow } from "./journal_events.ts";

/** A row of `journal` with its number, and with its last event's time in epoch milliseconds. */
export interface StoredJournalRow extends PendingRow {
  readonly journal_id: number;
  readonly to_ms: number;
}

/** What `Sql.binary` is to select from `journal j`, for `storedRow`. */
export const STORED_ROW = `j.project_id::int8, j.journal_id::int8, j.to_ms::int8,
  j.projected_count::int8, j.block, coalesce(array_to_string(j.known_ids, ','), ''),
  coalesce(array_to_string(j.set_aside_ids, ','), '')`;

const UTF8 = new TextDecoder();

function idsOf(list: Uint8Array): string[] | null {
  return list.length === 0 ? null : UTF8.decode(list).split(",");
}

/** Reads a row of what `STORED_ROW` selects; its block is a view of the row. */
export function storedRow(row: BinaryRow): StoredJournalRow {
  const [projectId, journalId, toMs, projected, block, known, aside] = row;
  return {
    project_id: numberOf(projectId!),
    journal_id: numberOf(journalId!),
    to_ms: numberOf(toMs!),
    projected_count: numberOf(projected!),
    block: block!,
    known_ids: idsOf(known!),
    set_aside_ids: idsOf(aside!),
  };
}
