import type { Blocks } from "../store/segment_head.ts";
import type { IntegerColumn } from "../store/integer_codec.ts";
import type { StoredHead } from "../store/stored_segments.ts";
import type { SegmentColumns } from "./hot_columns.ts";
import { PropertyColumn } from "./property_columns.ts";
import { room } from "./shared_memory.ts";

/** Some events of a segment: those of some of its blocks, and of them those of some identities. */
export interface SegmentSlice {
  readonly stored: StoredHead;
  readonly blocks: Blocks;
  /** The place in the segment of the blocks' first event. */
  readonly firstPlace: number;
  /** Which events of the blocks these are, ascending. */
  readonly picked: Uint32Array;
}

function pickedIntegers<C extends IntegerColumn | Uint32Array>(column: C, picked: Uint32Array): C {
  const Column = column.constructor as { new (length: number): C };
  const own = new Column(picked.length);
  for (let i = 0; i < picked.length; i++) own[i] = column[picked[i]!]!;
  return own;
}

/** A lazy column of the events that were picked. */
export function pickedLazy(column: object, picked: Uint32Array): object {
  if (column instanceof PropertyColumn) return column.picked(picked);
  const values = column as IntegerColumn;
  if (values.length === 0 || picked.length === 0) return values.subarray(0, 0);
  return pickedIntegers(values, picked);
}

/** Ids of 16 bytes of the events that were picked. */
export function pickedIds(ids: Uint8Array, picked: Uint32Array): Uint8Array {
  const own = new Uint8Array(16 * picked.length);
  for (let i = 0; i < picked.length; i++) {
    own.set(ids.subarray(16 * picked[i]!, 16 * picked[i]! + 16), 16 * i);
  }
  return own;
}

const EVENT_COLUMNS = ["times", "names", "paths", "contexts", "traffics", "passives"] as const;

/** Runs that lie side by side: from one to before another. */
interface RunSpan {
  readonly first: number;
  readonly end: number;
}

/** The runs of identities that are kept. */
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

/** What is kept of a segment's columns, and which of its events that is. */
export interface PickedColumns extends SegmentColumns {
  readonly nameBits: Int32Array;
  readonly picked: Uint32Array;
}

/**
 * The columns of some runs, in memory that all threads see. Copied span by span, and once: of sixty
 * million events that took 1.3 s of the processor where copying them event by event, then there, took 3.
 * @param nameBits of each run
 */
export function pickedColumns(
  columns: SegmentColumns & { readonly nameBits: Int32Array },
  spans: readonly RunSpan[],
  take: (bytes: number) => SharedArrayBuffer,
): PickedColumns {
  const { fromMs, toMs, identities, starts, nameBits, passives } = columns;
  const { times, names, paths, contexts, traffics } = columns;
  const ofRuns = { identities, nameBits };
  const ofEvents = { times, names, paths, contexts, traffics, passives };
  let [runs, events] = [0, 0];
  for (const { first, end } of spans) {
    runs += end - first;
    events += starts[end]! - starts[first]!;
  }
  const kinds = { ...ofRuns, ...ofEvents, starts, picked: starts };
  const own = room(take, kinds, {
    ...{ identities: runs, nameBits: runs, starts: runs + 1, picked: events },
    ...{ times: events, names: events, paths: events, contexts: events, traffics: events },
    passives: passives.length === 0 ? 0 : events,
  });
  let [run, at] = [0, 0];
  for (const { first, end } of spans) {
    const [from, to] = [starts[first]!, starts[end]!];
    for (const name of ["identities", "nameBits"] as const) {
      own[name].set(ofRuns[name].subarray(first, end), run);
    }
    for (const name of EVENT_COLUMNS) {
      if (own[name].length > 0) own[name].set(ofEvents[name].subarray(from, to), at);
    }
    for (let i = first; i < end; i++) own.starts[run++] = starts[i]! - from + at;
    for (let i = from; i < to; i++) own.picked[at++] = i;
  }
  own.starts[runs] = events;
  return { fromMs, toMs, ...own };
}
