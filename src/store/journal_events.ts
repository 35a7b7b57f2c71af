/** The events of journal blocks: see `journal_block.ts`. */
import type { EventRow } from "./event_row.ts";
import { ID_BYTES, uuidOf } from "./id_codec.ts";
import { InstantReader } from "./instant_text.ts";
import {
  BLOCK_COLUMNS,
  BLOCK_HEAD_BYTES,
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

/** A column of a block. */
export interface BlockValues extends CodedColumn {
  /** Returns the value of one event. */
  readonly at: (place: number) => BlockValue;
  /** The bytes that runs take once they are spread over all events; absent: it has none. */
  readonly spreadBytes?: number;
}

/**
 * A column with runs of equal values. Of few events the runs are searched for; only who reads `which` has them spread
 * over all events, which takes as long as everything else that decoding does.
 */
class RunColumn implements BlockValues {
  #which: Int32Array | null = null;
  #asked = 0;
  /** The run that was found last. */
  #run = 0;

  /**
   * @param places the place of each run's value; null: the runs' values are in order
   * @param ends where each run ends; ascending, the last one at the end of the block
   */
  constructor(
    readonly values: readonly BlockValue[],
    private readonly places: Int32Array | null,
    private readonly ends: Int32Array,
  ) {}

  get spreadBytes(): number {
    return Int32Array.BYTES_PER_ELEMENT * (this.ends.at(-1) ?? 0);
  }

  get which(): Int32Array {
    if (this.#which !== null) return this.#which;
    const { ends, places } = this;
    const which = new Int32Array(ends.at(-1) ?? 0);
    let at = 0;
    for (let run = 0; run < ends.length; run++) {
      const [place, end] = [places === null ? run : places[run]!, ends[run]!];
      while (at < end) which[at++] = place;
    }
    return this.#which = which;
  }

  at(place: number): BlockValue {
    const { ends, places } = this;
    // Who asks for a quarter of the events mostly asks for all of them, for which searching takes twice as long.
    if (this.#which !== null || 4 * ++this.#asked > (ends.at(-1) ?? 0)) {
      return this.values[this.which[place]!]!;
    }
    const run = this.#run = this.#runOf(place);
    return this.values[places === null ? run : places[run]!]!;
  }

  /** Searches from the last run on, in steps that double: mostly events are asked for one after the other. */
  #runOf(place: number): number {
    const { ends } = this;
    let run = this.#run > 0 && place < ends[this.#run - 1]! ? 0 : this.#run;
    let last = run;
    for (let step = 1; ends[last]! <= place; step *= 2) {
      run = last + 1;
      last = Math.min(last + step, ends.length - 1);
    }
    while (run < last) {
      const middle = (run + last) >> 1;
      if (ends[middle]! <= place) run = middle + 1;
      else last = middle;
    }
    return run;
  }
}

/** The events of a block by columns. */
export interface BlockColumns {
  readonly events: number;
  /** 16 bytes an event. */
  readonly ids: Uint8Array;
  /** Columns with the same value for every event. */
  readonly same: Partial<Record<BlockColumn, BlockValue>>;
  /** The other columns that are not null throughout. */
  readonly coded: Partial<Record<BlockColumn, BlockValues>>;
}

/** A decoded block with the times of all its events, and about the bytes of memory that it takes. */
export interface KeptJournalBlock {
  /** The head of the stored block in hexadecimal digits: with another one, it has other content. */
  readonly head: string;
  readonly columns: BlockColumns;
  readonly moments: Float64Array;
  /** The time of its last event. */
  readonly toMs: number;
  readonly bytes: number;
}

const EMPTY = Object.fromEntries(BLOCK_COLUMNS.map((column) => [column, null]));
const NAMES: ReadonlySet<string> = new Set(BLOCK_COLUMNS);

/**
 * Returns where each of some runs ends. Throws UnreadableBlock if the runs do not cover all events.
 * @param lengths of the runs; none: each run is one event
 */
function endsOf(runs: number, lengths: readonly number[], events: number): Int32Array {
  const ends = new Int32Array(runs);
  let at = 0;
  let isWrong = false;
  for (let run = 0; run < runs && !isWrong; run++) {
    const end = at + (lengths[run] ?? 1);
    ends[run] = end;
    // An archive may contain anything: each run must have whole events, and must not go past the last one.
    isWrong = !(end > at && end <= events && end === ends[run]);
    at = end;
  }
  if (isWrong || at !== events) {
    throw new UnreadableBlock("A column of a journal block does not cover its events");
  }
  return ends;
}

/** Throws UnreadableBlock if a name is not a column, as an archive may contain anything. */
function assertNames(columns: object): void {
  for (const name in columns) {
    if (!NAMES.has(name)) throw new UnreadableBlock("A journal block has an unknown column");
  }
}

type BlockContent = Pick<ReturnType<typeof contentOf>, "ids" | "columns">;

function columnsIn({ ids, columns: { same, runs, repeated } }: BlockContent): BlockColumns {
  for (const columns of [same, runs, repeated]) assertNames(columns);
  const events = ids.length / ID_BYTES;
  const coded: Partial<Record<BlockColumn, BlockValues>> = {};
  for (const [column, [values, lengths]] of Object.entries(runs)) {
    const isOneEach = lengths.length === 0 && values.length === events;
    coded[column as BlockColumn] = isOneEach
      ? { values, which: null, at: (place) => values[place]! }
      : new RunColumn(values, null, endsOf(values.length, lengths, events));
  }
  for (const [column, [values, places, lengths]] of Object.entries(repeated)) {
    const ends = endsOf(places.length, lengths, events);
    coded[column as BlockColumn] = new RunColumn(values, new Int32Array(places), ends);
  }
  return { events, ids, same, coded };
}

/** Decodes a block into columns. Throws UnreadableBlock. */
export function decodeColumns(block: Uint8Array): BlockColumns {
  return columnsIn(contentOf(block));
}

/** Returns one value of an event of a block. */
export function valueAt(
  { same, coded }: BlockColumns,
  name: BlockColumn,
  place: number,
): BlockValue {
  const column = coded[name];
  return column === undefined ? same[name] ?? null : column.at(place);
}

/** Returns the times of these events, in epoch milliseconds. */
export function momentsOf(
  { same, coded: { occurred_at: column } }: BlockColumns,
  places: ArrayLike<number>,
): Float64Array {
  const reader = new InstantReader();
  const moments = new Float64Array(places.length);
  if (places.length === 0) return moments;
  if (column === undefined) return moments.fill(reader.msOf(same.occurred_at as string));
  const { values, which } = column;
  let [last, ms] = [-1, NaN];
  for (let i = 0; i < places.length; i++) {
    const value = which === null ? places[i]! : which[places[i]!]!;
    if (value !== last) ms = reader.msOf(values[last = value] as string);
    moments[i] = ms;
  }
  return moments;
}

/** About the memory of a column for each character of its JSON: a block of 490 typical events takes 313 KB. */
const CHARACTER_BYTES = 2;

/** Decodes a block that is kept. Throws UnreadableBlock. */
export function decodeKept(block: Uint8Array): KeptJournalBlock {
  const content = contentOf(block);
  const columns = columnsIn(content);
  const moments = momentsOf(columns, Int32Array.from({ length: columns.events }, (_, i) => i));
  const spreadBytes = Object.values(columns.coded)
    .reduce((sum, { spreadBytes = 0 }) => sum + spreadBytes, 0);
  const bytes = content.ids.length + moments.byteLength + CHARACTER_BYTES * content.jsonLength +
    spreadBytes;
  const toMs = moments.reduce((last, ms) => Math.max(last, ms), -Infinity);
  return { head: block.subarray(0, BLOCK_HEAD_BYTES).toHex(), columns, moments, toMs, bytes };
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
  for (const [column, values] of Object.entries(coded)) {
    for (let i = 0; i < rows.length; i++) {
      (rows[i] as unknown as Record<string, BlockValue>)[column] = values.at(places[i]!);
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
export function newPlaces(
  columns: BlockColumns,
  { known_ids }: Pick<JournalRow, "known_ids">,
): number[] {
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
