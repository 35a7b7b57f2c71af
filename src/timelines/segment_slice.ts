import type { Blocks } from "../store/segment_head.ts";
import type { IntegerColumn } from "../store/integer_codec.ts";
import type { StoredHead } from "../store/stored_segments.ts";
import type { ColumnsWithBits, SegmentColumns } from "./hot_columns.ts";
import { room, type Take } from "./shared_memory.ts";

/** A selection of a segment's events: from some of its blocks, those of some identities. */
export interface SegmentSlice {
  readonly stored: StoredHead;
  readonly blocks: Blocks;
  /** The place in the segment of the first event of the blocks. */
  readonly firstPlace: number;
  /** The places of the events among those of the blocks, ascending; null: all of them. */
  readonly picked: Uint32Array | null;
  /**
   * The kept events, from a place to before another, if they are few though all events of the blocks are loaded;
   * absent: most are kept.
   */
  readonly few?: readonly { readonly from: number; readonly to: number }[];
}

/** Returns the places of the events whose values are needed; null: all are. */
export function neededPlaces({ picked, few }: SegmentSlice): Uint32Array | null {
  if (picked !== null || few === undefined) return picked;
  const places = new Uint32Array(few.reduce((sum, { from, to }) => sum + to - from, 0));
  let length = 0;
  for (const { from, to } of few) for (let at = from; at < to; at++) places[length++] = at;
  return places;
}

type NumberColumn = IntegerColumn | Uint32Array;

/** Copies the numbers at these places to `into`. */
function pick(column: NumberColumn, picked: Uint32Array, into: NumberColumn): void {
  for (let i = 0; i < picked.length; i++) into[i] = column[picked[i]!]!;
}

/** Returns the integers of the picked events. */
export function pickedIntegers(values: IntegerColumn, picked: Uint32Array): IntegerColumn {
  if (values.length === 0 || picked.length === 0) return values.subarray(0, 0);
  const Column = values.constructor as { new (length: number): IntegerColumn };
  const found = new Column(picked.length);
  pick(values, picked, found);
  return found;
}

const EVENT_COLUMNS = ["times", "names", "paths", "contexts", "traffics", "passives"] as const;

/** Adjacent runs, from `first` to before `end`. */
interface RunSpan {
  readonly first: number;
  readonly end: number;
}

/** Returns the runs of the identities that are kept. */
export function keptRuns(
  { identities }: Pick<SegmentColumns, "identities">,
  keeps: (identity: number) => boolean,
): RunSpan[] {
  const spans: RunSpan[] = [];
  let first = -1;
  for (let run = 0; run < identities.length; run++) {
    const isKept = keeps(identities[run]!);
    const wasKept = first >= 0;
    if (isKept === wasKept) continue;
    if (!isKept) spans.push({ first, end: run });
    first = isKept ? run : -1;
  }
  if (first >= 0) spans.push({ first, end: identities.length });
  return spans;
}

/** Returns the spans of the events of these runs, if they are less than half of all; else nothing. */
export function fewEvents(
  { starts, times }: Pick<SegmentColumns, "starts" | "times">,
  spans: readonly RunSpan[],
): Pick<SegmentSlice, "few"> {
  const few = spans.map(({ first, end }) => ({ from: starts[first]!, to: starts[end]! }));
  const events = few.reduce((sum, { from, to }) => sum + to - from, 0);
  return 2 * events < times.length ? { few } : {};
}

const runsIn = (spans: readonly RunSpan[]): number =>
  spans.reduce((runs, { first, end }) => runs + end - first, 0);

/** Copies the bounds of some runs into shared memory; their events stay where they are. */
export function runColumns(columns: ColumnsWithBits, spans: readonly RunSpan[], take: Take) {
  const { identities, starts, runBits } = columns;
  const runs = runsIn(spans);
  const own = room(take, {
    identities: [identities, runs],
    runBits: [runBits, runs],
    starts: [starts, runs],
    ends: [starts, runs],
  });
  let run = 0;
  for (const { first, end } of spans) {
    own.identities.set(identities.subarray(first, end), run);
    own.runBits.set(runBits.subarray(first, end), run);
    own.starts.set(starts.subarray(first, end), run);
    own.ends.set(starts.subarray(first + 1, end + 1), run);
    run += end - first;
  }
  return { ...columns, ...own, picked: null };
}

/** The columns of some events of a segment, and the places of these events in it. */
interface PickedColumns extends ColumnsWithBits {
  readonly picked: Uint32Array;
}

/**
 * Copies the columns of some runs into shared memory, number by number: copying each span at once, as a view of
 * each column, would make eight objects even for a run of few events.
 */
export function pickedColumns(
  columns: ColumnsWithBits,
  spans: readonly RunSpan[],
  take: Take,
): PickedColumns {
  const { fromMs, toMs, identities, starts, runBits, passives } = columns;
  const runs = runsIn(spans);
  const events = spans.reduce((sum, { first, end }) => sum + starts[end]! - starts[first]!, 0);
  const copies = room(take, {
    identities: [identities, runs],
    runBits: [runBits, runs],
    times: [columns.times, events],
    names: [columns.names, events],
    paths: [columns.paths, events],
    contexts: [columns.contexts, events],
    traffics: [columns.traffics, events],
    passives: [passives, passives.length === 0 ? 0 : events],
    starts: [starts, runs + 1],
    picked: [starts, events],
  });
  let [run, at] = [0, 0];
  for (const { first, end } of spans) {
    const [from, to] = [starts[first]!, starts[end]!];
    for (let i = first; i < end; i++) {
      copies.identities[run] = identities[i]!;
      copies.runBits[run] = runBits[i]!;
      copies.starts[run++] = starts[i]! - from + at;
    }
    for (let i = from; i < to; i++) copies.picked[at++] = i;
  }
  copies.starts[runs] = events;
  for (const name of EVENT_COLUMNS) {
    if (copies[name].length > 0) pick(columns[name], copies.picked, copies[name]);
  }
  return { fromMs, toMs, ...copies };
}
