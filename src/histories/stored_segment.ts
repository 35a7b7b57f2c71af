import type { Row } from "../db/sql.ts";
import { columnOf, type IntegerColumn } from "./column.ts";
import type { Segment } from "./segment.ts";

/** Columns of `history_segments` that each read of a segment loads. */
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

/** Columns of ids that few reads ask for, one at a time. */
export const SELDOM_COLUMNS = ["titles", "referrers"] as const;
export type SeldomColumn = (typeof SELDOM_COLUMNS)[number];

/** The members of a segment that most reads do without. */
type Withheld = SeldomColumn | "ids" | "propertied" | "textEnds" | "texts";
/** What each read of a segment loads. */
export type SegmentColumns = Omit<Segment, Withheld>;

/** What a stored segment holds, but for what most reads do without. */
export function segmentColumns(row: StoredSegment): SegmentColumns {
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

/** These columns, in SQL, as base64. */
export const ENCODED_SELDOM = SELDOM_COLUMNS
  .map((name) => `encode(${name}, 'base64') AS ${name}`).join(", ");

/** A row of what `ENCODED_SELDOM` selects. */
export type StoredSeldom = Row & { readonly [C in SeldomColumn]: string };

/** The ids that few reads ask for. */
export function seldomColumns(row: StoredSeldom): Pick<Segment, SeldomColumn> {
  return {
    titles: columnOf(row.titles) as IntegerColumn,
    referrers: columnOf(row.referrers) as IntegerColumn,
  };
}

/** Properties of a segment's events, in SQL. */
export const ENCODED_TEXTS = `encode(propertied, 'base64') AS propertied,
  encode(text_ends, 'base64') AS text_ends, encode(texts, 'base64') AS texts`;

/** A row of what `ENCODED_TEXTS` selects. */
export interface StoredTexts extends Row {
  readonly propertied: string;
  readonly text_ends: string;
  readonly texts: string;
}

/** The properties of a stored segment's events. */
export function segmentTexts(
  row: StoredTexts,
): Pick<Segment, "propertied" | "textEnds" | "texts"> {
  return {
    propertied: columnOf(row.propertied) as Uint32Array,
    textEnds: columnOf(row.text_ends) as Uint32Array,
    texts: Uint8Array.fromBase64(row.texts),
  };
}
