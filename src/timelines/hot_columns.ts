import type { IntegerColumn } from "../store/integer_codec.ts";
import { FLAG_CODES } from "../store/segment_columns.ts";
import type { Runs, SegmentReader } from "../store/segment_reader.ts";
import { yielding } from "../store/yielding.ts";

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
  /** Per event 1 where it undoes no bounce; empty where the segment has no such event. */
  readonly passives: Uint8Array;
}

/** Hardly any segment has passive events; one without them takes no memory for the column. */
function passivesOf(reader: SegmentReader): Uint8Array {
  if (!reader.head.places.has("interactive")) return new Uint8Array(0);
  return Uint8Array.from(reader.integers("interactive"), (code) => Number(code === FLAG_CODES.no));
}

/** Decodes the columns that every read loads, and yields to the event loop between them. */
export async function segmentColumns(reader: SegmentReader): Promise<SegmentColumns> {
  const yieldIfDue = yielding();
  const thenYield = async <C>(column: C): Promise<C> => {
    await yieldIfDue();
    return column;
  };
  const { fromMs, toMs } = reader.head;
  const runs = await thenYield(reader.runs());
  const times = await thenYield(reader.times());
  const names = await thenYield(reader.integers("names"));
  const paths = await thenYield(reader.integers("paths"));
  const contexts = await thenYield(reader.integers("contexts"));
  const traffics = await thenYield(reader.integers("traffics"));
  const passives = await thenYield(passivesOf(reader));
  return { fromMs, toMs, ...runs, times, names, paths, contexts, traffics, passives };
}
