import { valueAt } from "./event_columns.ts";
import type { EventRow } from "./event_row.ts";
import {
  type BlockColumn,
  type BlockColumns,
  type BlockValue,
  decodeColumns,
  EMPTY,
  type PendingRow,
} from "./journal_block.ts";

/**
 * The events of a journal row, of which a list makes rows of those alone that it shows: a block holds
 * thousands, and a page a hundred.
 */
export class ListedBlock {
  readonly #row: PendingRow;
  readonly #columns: BlockColumns;

  /** Throws UnreadableBlock. */
  constructor(row: PendingRow) {
    this.#row = row;
    this.#columns = decodeColumns(row.block);
  }

  /** The places of the events that the row stored: those of its block that were new. */
  get stored(): number[] {
    const known = new Set(this.#row.known_ids);
    return this.#places((id) => !known.has(id));
  }

  /** The places of those that are not projected. */
  get waiting(): number[] {
    const { projected_count, known_ids, set_aside_ids } = this.#row;
    const [aside, known] = [new Set(set_aside_ids), new Set(known_ids)];
    return this.#places((id, place) => aside.has(id) || place >= projected_count && !known.has(id));
  }

  idAt(place: number): string {
    return this.#columns.eventIds[place]!;
  }

  msAt(place: number): number {
    return Date.parse(valueAt(this.#columns, "occurred_at", place) as string);
  }

  isBotAt(place: number): boolean {
    return valueAt(this.#columns, "bot", place) === true;
  }

  rowAt(place: number): EventRow {
    const columns = this.#columns;
    const row = {
      ...{ project_id: this.#row.project_id, event_id: this.idAt(place) },
      ...EMPTY,
      ...columns.same,
    } as unknown as Record<string, BlockValue>;
    for (const column of Object.keys(columns.coded)) {
      row[column] = valueAt(columns, column as BlockColumn, place);
    }
    return row as unknown as EventRow;
  }

  #places(isListed: (id: string, place: number) => boolean): number[] {
    return [...this.#columns.eventIds.keys()].filter((place) => isListed(this.idAt(place), place));
  }
}
