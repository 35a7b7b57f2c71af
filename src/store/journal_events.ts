/** The events of journal blocks: see `journal_block.ts`. */
import type { EventRow } from "./event_row.ts";
import { ID_BYTES, uuidOf } from "./id_codec.ts";
import { instantReader } from "./instant_text.ts";
import {
  BLOCK_COLUMNS,
  type BlockColumn,
  type BlockValue,
  contentOf,
  UnreadableBlock,
} from "./journal_block.ts";

/** A column as a list of values, and the value of each event. */
export interface CodedColumn {
  readonly values: readonly BlockValue[];
  /** Per event the place of its value; null: one value per event, in order. */
  readonly which: Int32Array | null;
}

/** The events of a block by columns. */
export interface BlockColumns {
  readonly events: number;
  /** 16 bytes an event. */
  readonly ids: Uint8Array;
  /** Columns with the same value for every event. */
  readonly same: Partial<Record<BlockColumn, BlockValue>>;
  /** The other columns that are not null throughout. */
  readonly coded: Partial<Record<BlockColumn, CodedColumn>>;
}

const EMPTY = Object.fromEntries(BLOCK_COLUMNS.map((column) => [column, null]));
const NAMES: ReadonlySet<string> = new Set(BLOCK_COLUMNS);

/** The places of the runs' values, one after the other. */
const inOrder = (values: readonly BlockValue[]): number[] => [...values.keys()];

/**
 * Repeats the place of each run's value for each event of the run. Throws UnreadableBlock if the runs do not
 * cover all events.
 * @param lengths of the runs; none: each run is one event
 */
function spread(places: readonly number[], lengths: readonly number[], events: number): Int32Array {
  const which = new Int32Array(events);
  let at = 0;
  let isWrong = false;
  for (let run = 0; run < places.length && !isWrong; run++) {
    const end = at + (lengths[run] ?? 1);
    // An archive may contain anything: each run must have an event, and must not go past the last one.
    isWrong = !(end > at && end <= events);
    for (const place = places[run]!; at < end && !isWrong; at++) which[at] = place;
  }
  if (isWrong || at !== events) {
    throw new UnreadableBlock("A column of a journal block does not cover its events");
  }
  return which;
}

/** Throws UnreadableBlock if a name is not a column, as an archive may contain anything. */
function assertNames(columns: object): void {
  for (const name in columns) {
    if (!NAMES.has(name)) throw new UnreadableBlock("A journal block has an unknown column");
  }
}

/** Decodes a block into columns. Throws UnreadableBlock. */
export function decodeColumns(block: Uint8Array): BlockColumns {
  const { ids, columns: { same, runs, repeated } } = contentOf(block);
  for (const columns of [same, runs, repeated]) assertNames(columns);
  const events = ids.length / ID_BYTES;
  const coded: Partial<Record<BlockColumn, CodedColumn>> = {};
  for (const [column, [values, lengths]] of Object.entries(runs)) {
    const isOneEach = lengths.length === 0 && values.length === events;
    const which = isOneEach ? null : spread(inOrder(values), lengths, events);
    coded[column as BlockColumn] = { values, which };
  }
  for (const [column, [values, places, lengths]] of Object.entries(repeated)) {
    coded[column as BlockColumn] = { values, which: spread(places, lengths, events) };
  }
  return { events, ids, same, coded };
}

/** Returns one value of an event of a block. */
export function valueAt(
  { same, coded }: BlockColumns,
  name: BlockColumn,
  place: number,
): BlockValue {
  const column = coded[name];
  if (column === undefined) return same[name] ?? null;
  const { values, which } = column;
  return values[which === null ? place : which[place]!]!;
}

/** Returns the times of these events, in epoch milliseconds. */
export function momentsOf(columns: BlockColumns, places: ArrayLike<number>): Float64Array {
  const read = instantReader();
  const moments = new Float64Array(places.length);
  for (let i = 0; i < places.length; i++) {
    moments[i] = read(valueAt(columns, "occurred_at", places[i]!) as string);
  }
  return moments;
}

/** Returns the whole events at these places of a block, in this order. */
export function wholeEvents(
  { ids, same, coded }: BlockColumns,
  projectId: number,
  places: ArrayLike<number>,
): EventRow[] {
  const shared = { ...EMPTY, ...same, project_id: projectId } as unknown as EventRow;
  const rows = Array.from(places, (place) => ({
    ...shared,
    event_id: uuidOf(ids, ID_BYTES * place),
  }));
  for (const [column, { values, which }] of Object.entries(coded)) {
    for (let i = 0; i < rows.length; i++) {
      const place = which === null ? places[i]! : which[places[i]!]!;
      (rows[i] as unknown as Record<string, BlockValue>)[column] = values[place]!;
    }
  }
  return rows;
}

/** Decodes a block into rows, in their order. Throws UnreadableBlock. */
export function decodeBlock(block: Uint8Array, projectId: number): EventRow[] {
  const columns = decodeColumns(block);
  return wholeEvents(columns, projectId, Array.from({ length: columns.events }, (_, i) => i));
}

/** The members of a `journal` row that hold its events. */
export interface JournalRow {
  readonly project_id: number;
  readonly block: Uint8Array;
  readonly known_ids: readonly string[] | null;
}

/** A `journal` row with how far it is projected. */
export interface PendingRow extends JournalRow {
  readonly projected_count: number;
  readonly set_aside_ids: readonly string[] | null;
}

/** Returns the places of the events that `isChosen`, by whether the row lists them as known and as set aside. */
function placesWhere(
  { ids, events }: BlockColumns,
  known: readonly string[] | null,
  aside: readonly string[] | null,
  isChosen: (place: number, isKnown: boolean, isAside: boolean) => boolean,
): number[] {
  const knownIds = new Set(known);
  const asideIds = new Set(aside);
  const areListed = knownIds.size + asideIds.size > 0;
  const places: number[] = [];
  for (let place = 0; place < events; place++) {
    const id = areListed ? uuidOf(ids, ID_BYTES * place) : "";
    if (isChosen(place, knownIds.has(id), asideIds.has(id))) places.push(place);
  }
  return places;
}

/** Returns the places of the events that were new when the row was stored. */
export function newPlaces(columns: BlockColumns, { known_ids }: JournalRow): number[] {
  return placesWhere(columns, known_ids, null, (_, isKnown) => !isKnown);
}

/** Returns the places of the events that are not projected. */
export function waitingPlaces(columns: BlockColumns, row: PendingRow): number[] {
  const { known_ids, set_aside_ids, projected_count } = row;
  return placesWhere(
    columns,
    known_ids,
    set_aside_ids,
    (place, isKnown, isAside) => isAside || place >= projected_count && !isKnown,
  );
}

/** Returns the events of the row's block that were new when it was stored. Throws UnreadableBlock. */
export function journalEvents(row: JournalRow): EventRow[] {
  const columns = decodeColumns(row.block);
  return wholeEvents(columns, row.project_id, newPlaces(columns, row));
}

/** Returns the events of this row that are not projected. Throws UnreadableBlock. */
export function waitingEvents(row: PendingRow): EventRow[] {
  const columns = decodeColumns(row.block);
  return wholeEvents(columns, row.project_id, waitingPlaces(columns, row));
}
