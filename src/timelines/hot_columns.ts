import type { IntegerColumn } from "../store/integer_codec.ts";
import { FLAG_CODES } from "../store/segment_columns.ts";
import type { Runs, SegmentReader } from "../store/segment_reader.ts";
import { yielding } from "../store/yielding.ts";

/** What each read of a segment loads. */
export interface SegmentColumns extends Runs {
  /** The first and the last moment, in epoch milliseconds; less than 2^31 apart. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Milliseconds since `fromMs`. */
  readonly times: Uint32Array;
  /** Ids of terms; path 0: none. */
  readonly names: IntegerColumn;
  readonly paths: IntegerColumn;
  /** Ids of contexts: negative ones are bots'. */
  readonly contexts: IntegerColumn;
  /** Ids of traffic: where the event itself says that it came from; 0 where it is in no session. */
  readonly traffics: IntegerColumn;
  /** Of each event 1 where it undoes no bounce; of no event where each would undo one. */
  readonly passives: Uint8Array;
}

/** Hardly a segment has such events, and those that have none take no memory for it. */
function passivesOf(reader: SegmentReader): Uint8Array {
  if (!reader.head.places.has("interactive")) return new Uint8Array(0);
  return Uint8Array.from(reader.integers("interactive"), (code) => Number(code === FLAG_CODES.no));
}

/** What each read of a segment loads, from its blocks. Others have their turn between its columns. */
export async function segmentColumns(reader: SegmentReader): Promise<SegmentColumns> {
  const turn = yielding();
  const inTurn = async <C>(column: C): Promise<C> => {
    await turn();
    return column;
  };
  const { fromMs, toMs } = reader.head;
  const runs = await inTurn(reader.runs());
  const times = await inTurn(reader.times());
  const names = await inTurn(reader.integers("names"));
  const paths = await inTurn(reader.integers("paths"));
  const contexts = await inTurn(reader.integers("contexts"));
  const traffics = await inTurn(reader.integers("traffics"));
  const passives = await inTurn(passivesOf(reader));
  return { fromMs, toMs, ...runs, times, names, paths, contexts, traffics, passives };
}
