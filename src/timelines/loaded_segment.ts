import type { IntegerColumn } from "../store/integer_codec.ts";
import type { DecodedBlocks } from "./block_decoding.ts";
import type { ColumnsWithBits } from "./hot_columns.ts";
import { type LazyColumn, type LazyField, lazyName } from "./lazy_columns.ts";
import { PropertyColumn } from "./property_columns.ts";
import { keptRuns, pickedColumns, runColumns, type SegmentSlice } from "./segment_slice.ts";
import type { Column } from "./shared_memory.ts";

/** Lazy columns that were loaded, by `lazyName`, and those that the read made of them. */
export type LoadedColumns = Map<string, object>;

/** Which events of the stored segment these are, by their places behind the first. */
export type PickedEvents = Pick<SegmentSlice, "firstPlace" | "picked">;

/** What every read needs of a segment. */
export interface HotColumns extends ColumnsWithBits {
  readonly segmentId: number;
  /** Where each run ends; absent: where the next one begins. */
  readonly ends?: Uint32Array;
  /** Which events of the stored segment these are; null: all. */
  readonly slice?: SegmentSlice | PickedEvents | null;
}

/** A segment as it is sent to other threads: what lies in shared memory is not copied. */
export interface SentSegment extends HotColumns {
  readonly filterBits: IntegerColumn;
  readonly lazies: LoadedColumns;
}

/** A segment as reads follow it: the columns of all reads, and those that one asked for. */
export class LoadedSegment implements HotColumns {
  readonly segmentId: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly identities: Int32Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly times: Uint32Array;
  readonly names: IntegerColumn;
  readonly paths: IntegerColumn;
  readonly contexts: IntegerColumn;
  readonly traffics: IntegerColumn;
  readonly passives: Uint8Array;
  /**
   * Of each run the bits of its events' names and paths, see run_bits.ts: `nameBit`, `pathBit`, and `BOT_BIT`
   * where one is a bot's: for a seldom name or path, and for bots, most runs need no look at their
   * events.
   */
  readonly nameBits: Int32Array;
  /** What a read's filters on lazy columns say of each event, for `EventTest`; any column where there are none. */
  readonly filterBits: IntegerColumn;
  readonly lazies: LoadedColumns;
  readonly slice: SegmentSlice | PickedEvents | null;
  /** Lazy columns that visits ask for of each run: looking for them by their names took a third of a scan. */
  #cells: IntegerColumn | null = null;
  #depths: Float64Array | null = null;

  constructor(
    columns: HotColumns,
    filterBits: IntegerColumn = columns.names,
    lazies: LoadedColumns = new Map(),
  ) {
    this.slice = columns.slice ?? null;
    this.segmentId = columns.segmentId;
    this.fromMs = columns.fromMs;
    this.toMs = columns.toMs;
    this.identities = columns.identities;
    this.starts = columns.starts;
    this.ends = columns.ends ?? columns.starts.subarray(1);
    this.times = columns.times;
    this.names = columns.names;
    this.paths = columns.paths;
    this.contexts = columns.contexts;
    this.traffics = columns.traffics;
    this.passives = columns.passives;
    this.nameBits = columns.nameBits;
    this.filterBits = filterBits;
    this.lazies = lazies;
  }

  /** The ids of the events' titles or referrers; 0: none. */
  ids(field: LazyField): IntegerColumn {
    return this.#lazy({ field }) as IntegerColumn;
  }

  property(key: string): PropertyColumn {
    return this.#lazy({ property: key }) as PropertyColumn;
  }

  /** The heatmap cell of each event, 0 where it has none: see heatmap_cell.ts for its bits. */
  get cells(): IntegerColumn {
    return this.#cells ??= this.#lazy({ cells: true }) as IntegerColumn;
  }

  /** How deep scrolls went: see scroll_depths.ts. */
  get depths(): Float64Array {
    return this.#depths ??= this.#lazy({ depths: true }) as Float64Array;
  }

  /** Of each event the 16 bytes of its id. */
  get eventIds(): Uint8Array {
    return this.#lazy({ ids: true }) as Uint8Array;
  }

  /** Where an event stands in the segment as it is stored. */
  storedPlace(at: number): number {
    if (this.slice === null) return at;
    const { firstPlace, picked } = this.slice;
    return firstPlace + (picked === null ? at : picked[at]!);
  }

  /** A column that the read made, or a lazy one, by its name. */
  column(name: string): object {
    const loaded = this.lazies.get(name);
    if (loaded === undefined) throw new Error(`The read did not ask for the column ${name}`);
    return loaded;
  }

  /** What other threads get of it: all but the values of properties. */
  sent(): SentSegment {
    const { slice, lazies } = this;
    return {
      ...this,
      slice: slice === null ? null : { firstPlace: slice.firstPlace, picked: slice.picked },
      lazies: new Map(lazies.entries().filter(([, one]) => !(one instanceof PropertyColumn))),
    };
  }

  #lazy(column: LazyColumn): object {
    return this.column(lazyName(column));
  }
}

/** All that a segment holds in memory. */
export function columnsOf(segment: HotColumns) {
  const { identities, starts, times, names, paths, contexts, traffics } = segment;
  const { passives, nameBits } = segment;
  const columns = { identities, starts, times, names, paths, contexts, traffics };
  return { ...columns, passives, nameBits } satisfies Record<string, Column>;
}

/** A segment of which a read asks nothing yet. */
export function loadedSegment(segmentId: number, columns: ColumnsWithBits): LoadedSegment {
  return new LoadedSegment({ ...columns, segmentId });
}

/** What some identities did in decoded blocks, which is not copied; null where that is nothing. */
export function slicedSegment(
  { wanted: { blocks, ...stored }, firstPlace, columns }: DecodedBlocks,
  keeps: (identity: number) => boolean,
  take: (bytes: number) => SharedArrayBuffer,
): LoadedSegment | null {
  const spans = keptRuns(columns, keeps);
  if (spans.length === 0) return null;
  const slice: SegmentSlice = { stored, blocks, firstPlace, picked: null };
  const own = runColumns(columns, spans, take);
  return new LoadedSegment({ ...columns, ...own, segmentId: stored.segmentId, slice });
}

/** The same, copied out of the blocks, which may go. */
export function pickedSegment(
  { wanted: { blocks, ...stored }, firstPlace, columns }: DecodedBlocks,
  keeps: (identity: number) => boolean,
  take: (bytes: number) => SharedArrayBuffer,
): LoadedSegment | null {
  const spans = keptRuns(columns, keeps);
  if (spans.length === 0) return null;
  const { picked, ...own } = pickedColumns(columns, spans, take);
  const slice: SegmentSlice = { stored, blocks, firstPlace, picked };
  return new LoadedSegment({ ...own, segmentId: stored.segmentId, slice });
}
