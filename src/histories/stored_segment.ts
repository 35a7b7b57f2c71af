import type { Row } from "../db/sql.ts";
import { columnOf, type IntegerColumn } from "./column.ts";
import type { Segment } from "./segment.ts";

/** Columns of `history_segments` that hold numbers; the ids of events are bytes. */
export const SEGMENT_COLUMNS = [
  "identities",
  "starts",
  "times",
  "names",
  "paths",
  "contexts",
  "traffics",
  "depths",
] as const;

/** Everything of a segment but its ids, in SQL: columns as base64. */
export const ENCODED_SEGMENT = ["from_ms", "to_ms"].concat(
  SEGMENT_COLUMNS.map((name) => `encode(${name}, 'base64') AS ${name}`),
).join(", ");

/** A row of what `ENCODED_SEGMENT` selects. */
export type StoredSegment =
  & Row
  & { readonly from_ms: number; readonly to_ms: number }
  & {
    readonly [C in (typeof SEGMENT_COLUMNS)[number]]: string;
  };

/** What a stored segment holds, without the events' ids. */
export function segmentColumns(row: StoredSegment): Omit<Segment, "ids"> {
  return {
    fromMs: row.from_ms,
    toMs: row.to_ms,
    identities: columnOf(row.identities) as Int32Array,
    starts: columnOf(row.starts) as Uint32Array,
    times: columnOf(row.times) as Uint32Array,
    names: columnOf(row.names) as IntegerColumn,
    paths: columnOf(row.paths) as IntegerColumn,
    contexts: columnOf(row.contexts) as IntegerColumn,
    traffics: columnOf(row.traffics) as IntegerColumn,
    depths: columnOf(row.depths) as Float64Array,
  };
}
