import type { IntegerColumn } from "../store/integer_codec.ts";
import type { DecodedBlocks } from "./block_decoding.ts";
import type { ColumnsWithBits } from "./hot_columns.ts";
import { lazyName } from "./lazy_columns.ts";
import { PropertyColumn } from "./property_columns.ts";
import {
  fewEvents,
  keptRuns,
  type pickedColumns,
  type runColumns,
  type SegmentSlice,
} from "./segment_slice.ts";
import type { Column, Take } from "./shared_memory.ts";

/** Loaded lazy columns, by `lazyName`, and columns that the read made from them. */
type LoadedColumns = Map<string, object>;

/** The events of the stored segment that are loaded. */
type PickedEvents = Pick<SegmentSlice, "firstPlace" | "picked">;

/** The columns of a segment that every read needs. */
interface HotColumns extends ColumnsWithBits {
  readonly segmentId: number;
  /** The end of each run; absent: the start of the next. */
  readonly ends?: Uint32Array;
  /** The events of the stored segment that are loaded; null: all. */
  readonly slice?: SegmentSlice | PickedEvents | null;
}

/** A segment as it is sent to other threads, without copying what is in shared memory. */
export interface SentSegment extends HotColumns {
  readonly filterBits: IntegerColumn;
  readonly lazies: LoadedColumns;
}

/** A segment in memory: the columns of every read, and those that one read asked for. */
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
   * By run, the bits of its events (see run_bits.ts): scans for rare names or paths, or for bots, skip most
   * runs by these.
   */
  readonly runBits: Int32Array;
  readonly slice: SegmentSlice | PickedEvents | null;
  /** Lazy columns that visitors need for each run: looking them up by name would take a third of a scan. */
  #cells: IntegerColumn | null = null;
  #depths: Float64Array | null = null;

  /** @param filterBits those of each event, for `EventTest`; any column where no filter needs one */
  constructor(
    columns: HotColumns,
    readonly filterBits: IntegerColumn = columns.names,
    readonly lazies: LoadedColumns = new Map(),
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
    this.runBits = columns.runBits;
  }

  property(key: string): PropertyColumn {
    return this.column(lazyName({ property: key })) as PropertyColumn;
  }

  /** The heatmap cell of each event (see heatmap_cell.ts); 0: none. */
  get cells(): IntegerColumn {
    return this.#cells ??= this.column("cells") as IntegerColumn;
  }

  /** The depths of scrolls: see scroll_depths.ts. */
  get depths(): Float64Array {
    return this.#depths ??= this.column("depths") as Float64Array;
  }

  /** The ids of the events, 16 bytes each. */
  get eventIds(): Uint8Array {
    return this.column("ids") as Uint8Array;
  }

  /** Returns the place of an event in the stored segment. */
  storedPlace(at: number): number {
    if (this.slice === null) return at;
    const { firstPlace, picked } = this.slice;
    return firstPlace + (picked === null ? at : picked[at]!);
  }

  /** Returns a lazy column, or one that the read made from these, by its name. */
  column(name: string): object {
    const loaded = this.lazies.get(name);
    if (loaded === undefined) throw new Error(`The read did not ask for the column ${name}`);
    return loaded;
  }

  /** Returns what other threads get: everything except properties. */
  sent(): SentSegment {
    const { slice, lazies } = this;
    return {
      ...this,
      slice: slice === null ? null : { firstPlace: slice.firstPlace, picked: slice.picked },
      lazies: new Map(lazies.entries().filter(([, one]) => !(one instanceof PropertyColumn))),
    };
  }
}

/** Returns the columns of a segment that are in memory for every read. */
export function columnsOf(segment: HotColumns) {
  const { identities, starts, times, names, paths, contexts, traffics } = segment;
  const { passives, runBits } = segment;
  const columns = { identities, starts, times, names, paths, contexts, traffics };
  return { ...columns, passives, runBits } satisfies Record<string, Column>;
}

/** Makes a segment without lazy columns. */
export function loadedSegment(segmentId: number, columns: ColumnsWithBits): LoadedSegment {
  return new LoadedSegment({ ...columns, segmentId });
}

/**
 * Returns the events of some identities in decoded blocks; null: there are none.
 * @param keptColumns `runColumns` leaves the events in the blocks; `pickedColumns` copies them, so that the
 * blocks can be freed
 */
export function slicedSegment(
  { wanted: { blocks, ...stored }, firstPlace, columns }: DecodedBlocks,
  keeps: (identity: number) => boolean,
  take: Take,
  keptColumns: typeof runColumns | typeof pickedColumns,
): LoadedSegment | null {
  const spans = keptRuns(columns, keeps);
  if (spans.length === 0) return null;
  const { picked, ...own } = keptColumns(columns, spans, take);
  const few = picked === null ? fewEvents(columns, spans) : {};
  const slice: SegmentSlice = { stored, blocks, firstPlace, picked, ...few };
  return new LoadedSegment({ ...own, segmentId: stored.segmentId, slice });
}
