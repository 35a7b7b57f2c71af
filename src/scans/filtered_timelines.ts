import type { Sql } from "../db/sql.ts";
import { loadTimelines, type TimelinePart, type Timelines } from "../timelines/timelines.ts";
import { type LazyColumn, lazyName } from "../timelines/lazy_columns.ts";
import { LoadedSegment } from "../timelines/loaded_segment.ts";
import type { SegmentCache } from "../timelines/segment_cache.ts";
import type { MemoryScope, MemoryUse } from "../timelines/shared_memory.ts";
import type { Filter } from "../query/filters.ts";
import type { Scope, Span } from "../query/selection.ts";
import { emptyBits, loadColumns, setBits } from "./column_filter_bits.ts";
import { FilterBits } from "./filter_bits.ts";
import type { SessionChoice } from "./passing_sessions.ts";
import type { ScanPool } from "./scan_pool.ts";
import { SESSION_BITS } from "./session_bits.ts";
import type { VisitorKind } from "./visitor.ts";

/** What loads and visits for all reads. */
export interface ScanServices {
  /** Segments that were read before. */
  readonly segments: SegmentCache;
  /** Workers that follow actors. */
  readonly pool: ScanPool;
}

/** How a scan hands over what it visits. */
export interface ScanManner {
  /** Null: all. */
  readonly sessions?: SessionChoice | null;
  /** Run by run, each as if nothing else were its actor's: quicker to begin, where that is all the same. */
  readonly byRun?: boolean;
}

/** A part whose events have filter bits, with the lazy columns that were asked for. */
export interface FilteredPart extends TimelinePart {
  /** Of many filters the bits of all events: see `FilterBits`. */
  readonly words: readonly Int32Array[];
  /** Visits this part alone. */
  readonly scan: <Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    inputs: Inputs,
    manner?: ScanManner,
  ) => Promise<Counts>;
}

/** Does what is needed before a part is visited: once, however often it is. */
export type PreparePart = (part: FilteredPart) => Promise<void>;

/** Timelines whose events have a bit for each filter on a lazy column that they pass. */
export interface FilteredTimelines extends Timelines {
  readonly bits: FilterBits;
  /** Has each part prepared before it is visited. */
  readonly prepare: (prepare: PreparePart) => void;
  readonly parts: () => AsyncIterable<FilteredPart>;
  /** Visits everybody, part by part. `inputs`: asked for once a part is prepared. */
  readonly scan: <Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    inputs: () => Inputs,
    manner?: ScanManner,
  ) => Promise<Counts>;
}

/** About what an event takes in memory of a lazy column, and of one that few events have. */
const LAZY_EVENT_BYTES = 8;
const SPARSE_EVENT_BYTES = 2;

const bytesOfColumn = (column: LazyColumn): number =>
  "property" in column && column.isSparse ? SPARSE_EVENT_BYTES : LAZY_EVENT_BYTES;

/** What events get bits for, and where their columns are read from. */
interface Filtering extends ScanServices {
  readonly sql: Sql;
  readonly scope: Pick<Scope, "projectId" | "siteHost">;
  readonly use: MemoryUse;
  readonly signal: AbortSignal | undefined;
  readonly bits: FilterBits;
  readonly columns: readonly LazyColumn[];
  readonly timelines: Timelines;
  readonly span: Span;
  readonly actors: Uint8Array | null;
}

type Segments = readonly LoadedSegment[];

/** A part with its filter bits, the lazy columns that were asked for, and what it was prepared by. */
class OwnPart implements FilteredPart {
  readonly memory: MemoryScope;
  readonly timelines: TimelinePart["timelines"];
  readonly readOn: TimelinePart["readOn"];
  readonly prepared = new Set<PreparePart>();
  readonly #filtering: Filtering;

  constructor(
    filtering: Filtering,
    { memory, timelines, readOn }: TimelinePart,
    readonly segments: Segments,
    readonly words: readonly Int32Array[],
  ) {
    this.memory = memory;
    this.timelines = timelines;
    this.readOn = readOn;
    this.#filtering = filtering;
  }

  readonly scan: FilteredPart["scan"] = async (kind, inputs, { sessions = null, byRun } = {}) => {
    const { pool, use, signal, actors, timelines: { actorOf } } = this.#filtering;
    const { segments, words } = this;
    const isByRun = byRun === true && sessions === null;
    // Where workers visit, this thread has nothing to do meanwhile.
    if (pool.workers > 0) this.readOn();
    const timelines = isByRun ? null : await this.timelines();
    const order = {
      ...{ visitor: kind.name, inputs, segments, words },
      ...{ timelines, actorOf, sessions, actors },
    };
    return await use.during(pool.run(kind, order, signal));
  };
}

async function filteredPart(filtering: Filtering, part: TimelinePart): Promise<OwnPart> {
  const { bits, columns, span } = filtering;
  const { segments, memory } = part;
  const lazies = segments.map(() => new Map<string, object>());
  const loaded = columns.length === 0 ? [] : await loadColumns(filtering, part, columns);
  for (const [number, column] of columns.entries()) {
    for (const [i, one] of loaded[number]!.entries()) lazies[i]!.set(lazyName(column), one);
  }
  const filterBits = bits.count === 0 ? null : emptyBits(bits, segments, memory);
  const own = segments.map((segment, i) =>
    new LoadedSegment(segment, filterBits?.columns[i], lazies[i])
  );
  const filtered = new OwnPart(filtering, part, own, filterBits?.words ?? []);
  const ofSessions = filterBits === null ? [] : await setBits(filtering, part, filterBits);
  if (ofSessions.length > 0) {
    await filtered.scan(SESSION_BITS, { isWide: bits.isWide, reach: span, asked: ofSessions });
  }
  return filtered;
}

class TimelinesWithBits implements FilteredTimelines {
  readonly projectId: number;
  readonly actorOf: Int32Array;
  readonly bits: FilterBits;
  readonly #filtering: Filtering;
  readonly #preparing: PreparePart[] = [];
  /** The only part with its bits, where all fits into memory. */
  #known: OwnPart | null = null;

  constructor(filtering: Filtering) {
    this.projectId = filtering.timelines.projectId;
    this.actorOf = filtering.timelines.actorOf;
    this.bits = filtering.bits;
    this.#filtering = filtering;
  }

  readonly prepare = (prepare: PreparePart): void => {
    this.#preparing.push(prepare);
  };

  readonly parts = async function* (this: TimelinesWithBits): AsyncGenerator<FilteredPart> {
    for await (const part of this.#parts()) {
      for (const prepare of this.#preparing) {
        if (part.prepared.has(prepare)) continue;
        await prepare(part);
        part.prepared.add(prepare);
      }
      yield part;
    }
  }.bind(this);

  readonly scan: FilteredTimelines["scan"] = async (kind, inputs, manner) => {
    type Counts = ReturnType<ReturnType<typeof kind.create>["result"]>;
    let counts: Counts | null = null;
    for await (const part of this.parts()) {
      const own = await part.scan(kind, inputs(), manner);
      counts = counts === null ? own : kind.merge(counts, own);
    }
    return counts ?? kind.create(inputs(), []).result();
  };

  async *#parts(): AsyncGenerator<OwnPart> {
    if (this.#known !== null) return yield this.#known;
    const { timelines, use } = this.#filtering;
    for await (const part of timelines.parts()) {
      const filtered = await filteredPart(this.#filtering, part);
      // What is read part by part is gone with the next part.
      if (part.memory === use) this.#known = filtered;
      yield filtered;
    }
  }
}

/** A read's own way to its timelines. */
export interface TimelineAccess extends ScanServices {
  readonly sql: Sql;
  readonly scope: Pick<Scope, "projectId" | "siteHost">;
  readonly use: MemoryUse;
  /** Ends scans once it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * `loadTimelines`, with bits of its events for those of these filters that ask for lazy columns: all that the read is
 * going to test.
 * @param columns what visits need beside the columns of all reads
 * @param actors 1 at the place of each who is visited at all; null: everybody is
 * @param only the segments that are looked at; null: all of the span
 */
export async function loadFilteredTimelines(
  access: TimelineAccess,
  span: Span,
  filters: readonly Filter[],
  columns: readonly LazyColumn[] = [],
  actors: Uint8Array | null = null,
  only: ReadonlySet<number> | null = null,
): Promise<FilteredTimelines> {
  const { sql, segments, pool, scope, use } = access;
  const bits = new FilterBits(filters);
  const ofColumns = columns.reduce((bytes, column) => bytes + bytesOfColumn(column), 0);
  const eventBytes = ofColumns + Math.ceil(bits.count / 8);
  const timelines = await loadTimelines(
    sql,
    segments,
    use,
    scope.projectId,
    span,
    eventBytes,
    (events) => pool.expect(events),
    only,
  );
  const filtering = { ...access, bits, columns, timelines, span, actors };
  return new TimelinesWithBits({ signal: undefined, ...filtering });
}

/** Loads timelines of a read; see `loadFilteredTimelines`. */
export type LoadTimelines = (
  span: Span,
  filters: readonly Filter[],
  columns?: readonly LazyColumn[],
  actors?: Uint8Array | null,
  only?: ReadonlySet<number> | null,
) => Promise<FilteredTimelines>;

/** Runs work that asks for timelines: what it loads is its own until it ends. */
export async function withTimelines<T>(
  services: ScanServices,
  access: Omit<TimelineAccess, keyof ScanServices | "use">,
  work: (timelines: LoadTimelines, memory: MemoryScope) => Promise<T>,
): Promise<T> {
  const { segments, pool } = services;
  const use = segments.memory.enter();
  try {
    const load: LoadTimelines = (span, filters, columns, actors, only) =>
      loadFilteredTimelines(
        { segments, pool, use, ...access },
        span,
        filters,
        columns,
        actors,
        only,
      );
    return await work(load, use);
  } finally {
    await use.end();
  }
}
