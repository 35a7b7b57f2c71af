import { columnFor, type IntegerColumn } from "../store/integer_codec.ts";
import { FLAG_CODES } from "../store/segment_columns.ts";
import type { Runs, SegmentReader } from "../store/segment_reader.ts";
import { addRunBits } from "./run_bits.ts";
import { room, type Take } from "./shared_memory.ts";

/** The columns of a segment that every read loads. */
export interface SegmentColumns extends Runs {
  /** The times of the first and last event, in epoch milliseconds; less than 2^31 apart. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Milliseconds since `fromMs`. */
  readonly times: Uint32Array;
  /** Ids of terms; path 0: none. */
  readonly names: IntegerColumn;
  readonly paths: IntegerColumn;
  /** Ids of contexts: negative ones are bots'. */
  readonly contexts: IntegerColumn;
  /** Ids of traffic, as the event itself states it; 0 where the event is in no session. */
  readonly traffics: IntegerColumn;
  /** By event: 1 if it does not prevent a bounce; empty if the segment has no such event. */
  readonly passives: Uint8Array;
}

/** These columns, with the bits of each run: see `LoadedSegment`. */
export interface ColumnsWithBits extends SegmentColumns {
  readonly runBits: Int32Array;
}

/** The integer columns that are decoded as they are stored, except the times. */
const INTEGERS = ["names", "paths", "contexts", "traffics"] as const;

/** The stored columns that `writeBlocks` reads. */
export const EVENT_COLUMNS = ["times", ...INTEGERS, "interactive"] as const;

/**
 * Allocates the columns of the reader's blocks, side by side in one buffer. Only the runs are read, as they
 * determine the sizes; the rest is left to `writeBlocks`. Throws SegmentUnreadable.
 */
export function roomForBlocks(reader: SegmentReader, take: Take): ColumnsWithBits {
  const { head, events } = reader;
  const { identities, starts } = reader.runs();
  const kindOf = (name: typeof INTEGERS[number]) => {
    const { min, max } = reader.rangeOf(name);
    return columnFor(min, max, 0);
  };
  const columns = room(take, {
    identities: [identities, identities.length],
    starts: [starts, starts.length],
    runBits: [identities, identities.length],
    times: [starts, events],
    names: [kindOf("names"), events],
    paths: [kindOf("paths"), events],
    contexts: [kindOf("contexts"), events],
    traffics: [kindOf("traffics"), events],
    // Hardly any segment has passive events; without them the column takes no memory.
    passives: [new Uint8Array(0), head.places.has("interactive") ? events : 0],
  });
  columns.identities.set(identities);
  columns.starts.set(starts);
  columns.runBits.fill(0);
  const { fromMs, toMs } = head;
  return { fromMs, toMs, ...columns };
}

/**
 * Decodes the reader's blocks into columns that `roomForBlocks` allocated for them and others. Several
 * threads may do so at once, each for its own blocks. Throws SegmentUnreadable.
 * @param first the place in the columns of the first of these events
 */
export function writeBlocks(reader: SegmentReader, columns: ColumnsWithBits, first: number): void {
  reader.writeIntegers("times", columns.times, first);
  for (const name of INTEGERS) reader.writeIntegers(name, columns[name], first);
  if (columns.passives.length > 0) {
    const passives = reader.integers("interactive");
    for (let i = 0; i < passives.length; i++) {
      columns.passives[first + i] = Number(passives[i] === FLAG_CODES.no);
    }
  }
  addRunBits(columns, first, first + reader.events);
}
