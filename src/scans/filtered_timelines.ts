import type { Sql } from "../db/sql.ts";
import { loadTimelines, type TimelinePart, type Timelines } from "../timelines/timelines.ts";
import { type LazyColumn, lazyName } from "../timelines/lazy_columns.ts";
import { type KeptColumn, lazyKey } from "../timelines/lazy_loader.ts";
import { LoadedSegment } from "../timelines/loaded_segment.ts";
import type { SegmentCache } from "../timelines/segment_cache.ts";
import { type MemoryScope, type MemoryUse, sharedColumn } from "../timelines/shared_memory.ts";
import { type Filter, propertyOf } from "../query/filters.ts";
import type { Scope, Span } from "../query/selection.ts";
import { ALL_ACTORS, type Asked, ASKED_ACTORS, narrowing } from "./asked_actors.ts";
import { emptyBits, loadColumns, setBits } from "./column_filter_bits.ts";
import { FilterBits } from "./filter_bits.ts";
import type { SessionChoice } from "./passing_sessions.ts";
import type { ScanPool } from "./scan_pool.ts";
import type { ScanOrder } from "./scan_task.ts";
import { SESSION_BITS } from "./session_bits.ts";
import type { VisitorKind } from "./visitor.ts";

/** Shared by all reads: the cache that loads segments, and the pool that visits them. */
export interface ScanServices {
  readonly segments: SegmentCache;
  readonly pool: ScanPool;
}

/** How a scan visits: what it hands to its visitor. */
export interface ScanManner {
  /** The sessions that are visited; null: all events are. */
  readonly sessions?: SessionChoice | null;
  /**
   * Visits each run as a timeline of its own, for visitors that do not need whole timelines; begins sooner.
   */
  readonly byRun?: boolean;
  /**
   * Actors for whom the visitor may count something; others are skipped. Absent: all. Ignored with `byRun`.
   */
  readonly asked?: Asked;
}

/** Derives a column from the segment's other columns, into one buffer that it allocates. */
type MakeColumn<T extends KeptColumn> = (
  take: (bytes: number) => SharedArrayBuffer,
) => Promise<T>;

/** A part whose events have filter bits, with the lazy columns that the read asks for. */
export interface FilteredPart extends TimelinePart {
  /** Adds a column derived from the segment's others: the cached one, or one derived now. */
  readonly addColumn: <T extends KeptColumn>(
    segment: LoadedSegment,
    name: string,
    make: MakeColumn<T>,
  ) => Promise<void>;
  /** The filter bits, if they are in words: see `FilterBits`. */
  readonly words: readonly Int32Array[];
  /** Visits only this part. */
  readonly scan: <Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    inputs: Inputs,
    manner?: ScanManner,
  ) => Promise<Counts>;
}

/** Prepares a part before its first visit; it is called once for each part. */
export type PreparePart = (part: FilteredPart) => Promise<void>;

/** Timelines whose events have filter bits. */
export interface FilteredTimelines extends Timelines {
  readonly bits: FilterBits;
  /** Registers a function that prepares each part before it is visited. */
  readonly prepare: (prepare: PreparePart) => void;
  readonly parts: () => AsyncIterable<FilteredPart>;
  /** Visits the asked actors, part by part. `inputs` is called for each part after it is prepared. */
  readonly scan: <Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    inputs: () => Inputs,
    manner?: ScanManner,
  ) => Promise<Counts>;
}

/** About how many bytes an event takes in a lazy column, and in one that is empty for most events. */
const LAZY_EVENT_BYTES = 8;
const SPARSE_EVENT_BYTES = 2;

const bytesOfColumn = (column: LazyColumn): number =>
  "property" in column && column.isSparse ? SPARSE_EVENT_BYTES : LAZY_EVENT_BYTES;

/** Returns the properties whose values the columns or the filters need. */
function propertiesOf(columns: readonly LazyColumn[], { filters }: FilterBits): string[] {
  const ofColumns = columns.flatMap((column) => "property" in column ? [column.property] : []);
  const ofFilters = [...filters.values()].flatMap(({ field }) => propertyOf(field) ?? []);
  return [...new Set([...ofColumns, ...ofFilters])];
}

/** What a read loads its timelines with. */
interface TimelineAccess extends ScanServices {
  readonly sql: Sql;
  readonly scope: Pick<Scope, "projectId" | "siteHost">;
  readonly use: MemoryUse;
  /** Aborting it ends the read's scans. */
  readonly signal?: AbortSignal | undefined;
}

/** What turns parts of timelines into filtered parts and scans them. */
interface Filtering extends TimelineAccess {
  readonly bits: FilterBits;
  readonly columns: readonly LazyColumn[];
  readonly timelines: Timelines;
  readonly span: Span;
  readonly actors: readonly Uint8Array[];
}

/** A part with its filter bits, its lazy columns, and the functions that have prepared it. */
class PreparedPart implements FilteredPart {
  readonly memory: MemoryScope;
  readonly timelines: TimelinePart["timelines"];
  readonly readOn: TimelinePart["readOn"];
  readonly prepared = new Set<PreparePart>();
  readonly #filtering: Filtering;

  constructor(
    filtering: Filtering,
    { memory, timelines, readOn }: TimelinePart,
    readonly segments: readonly LoadedSegment[],
    readonly words: readonly Int32Array[],
  ) {
    this.memory = memory;
    this.timelines = timelines;
    this.readOn = readOn;
    this.#filtering = filtering;
  }

  readonly addColumn: FilteredPart["addColumn"] = async (
    { segmentId, slice, lazies },
    name,
    make,
  ) => {
    // Only columns of whole segments are cached.
    if (slice !== null) return void lazies.set(name, await make(this.memory.take));
    const { lazies: cache, memory } = this.#filtering.segments;
    const key = lazyKey(segmentId, name);
    const kept = cache.get(key);
    if (kept !== undefined) return void lazies.set(name, kept);
    const made = await make((bytes) => memory.take(bytes));
    if (!cache.set(key, made)) this.memory.own(made.memory);
    lazies.set(name, made);
  };

  readonly scan: FilteredPart["scan"] = async (kind, inputs, manner = {}) => {
    const { sessions = null, byRun, asked = ALL_ACTORS } = manner;
    const { actors } = this.#filtering;
    // While workers visit this part, this thread can read the next one.
    if (this.#filtering.pool.workers > 0) this.readOn();
    if (byRun === true && sessions === null) {
      return await this.#run(kind, inputs, { timelines: null, sessions, actors });
    }
    const finding = this.#askedActors(asked);
    // A failure is thrown when it is awaited.
    finding.catch(() => {});
    // No thread may write into its columns once this has failed.
    const timelines = await this.timelines().finally(() => Promise.allSettled([finding]));
    return await this.#run(kind, inputs, {
      timelines,
      sessions,
      actors: [...actors, ...await finding],
    });
  };

  async #run<Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    inputs: Inputs,
    choice: Pick<ScanOrder, "timelines" | "sessions" | "actors">,
  ): Promise<Counts> {
    const { pool, use, signal, timelines: { actorOf } } = this.#filtering;
    const { segments, words } = this;
    const order = { visitor: kind.name, inputs, segments, words, actorOf, ...choice };
    return await use.during(pool.run(kind, order, signal));
  }

  /** Returns columns with 1 at the place of each actor who may be asked about. */
  async #askedActors(asked: Asked): Promise<Uint8Array[]> {
    const { events, sessions } = narrowing(asked);
    if (events === null && sessions === null) return [];
    const { length } = this.#filtering.timelines.actorOf;
    const column = () => sharedColumn(this.memory.take, new Uint8Array(length));
    const withEvent = events === null ? null : column();
    const withSession = sessions === null ? null : column();
    const inputs = { events, sessions, withEvent, withSession };
    const all = { timelines: null, sessions: null, actors: this.#filtering.actors };
    await this.#run(ASKED_ACTORS, inputs, all);
    return [withEvent, withSession].filter((one) => one !== null);
  }
}

async function filteredPart(filtering: Filtering, part: TimelinePart): Promise<PreparedPart> {
  const { bits, columns, span } = filtering;
  const { segments, memory } = part;
  const lazies = segments.map(() => new Map<string, object>());
  const loaded = columns.length === 0 ? [] : await loadColumns(filtering, part, columns);
  for (const [number, column] of columns.entries()) {
    for (const [i, one] of loaded[number]!.entries()) lazies[i]!.set(lazyName(column), one);
  }
  const filterBits = bits.count === 0 ? null : emptyBits(bits, segments, memory);
  const withColumns = segments.map((segment, i) =>
    new LoadedSegment(segment, filterBits?.columns[i], lazies[i])
  );
  const filtered = new PreparedPart(filtering, part, withColumns, filterBits?.words ?? []);
  const ofSessions = filterBits === null ? [] : await setBits(filtering, part, filterBits);
  if (ofSessions.length > 0) {
    await filtered.scan(SESSION_BITS, { isWide: bits.isWide, reach: span, filters: ofSessions });
  }
  return filtered;
}

class TimelinesWithBits implements FilteredTimelines {
  readonly projectId: number;
  readonly actorOf: Int32Array;
  readonly bits: FilterBits;
  readonly #filtering: Filtering;
  readonly #preparing: PreparePart[] = [];
  /** The only part, if all timelines fit into memory; null: not made yet, or there are several. */
  #known: PreparedPart | null = null;

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
      const more = await part.scan(kind, inputs(), manner);
      counts = counts === null ? more : kind.merge(counts, more);
    }
    return counts ?? kind.create(inputs(), []).result();
  };

  async *#parts(): AsyncGenerator<PreparedPart> {
    if (this.#known !== null) return yield this.#known;
    const { timelines, use } = this.#filtering;
    for await (const part of timelines.parts()) {
      const filtered = await filteredPart(this.#filtering, part);
      // If there are several parts, each is freed when the next one is read.
      if (part.memory === use) this.#known = filtered;
      yield filtered;
    }
  }
}

/**
 * Loads timelines whose events have filter bits: see `loadTimelines`.
 * @param filters all that the read is going to test
 * @param columns the lazy columns that visitors need
 * @param actors 1 at the place of each actor who is visited; null: all are
 * @param only the ids of the segments that are loaded; null: all that overlap the span
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
  const columnBytes = columns.reduce((bytes, column) => bytes + bytesOfColumn(column), 0);
  const eventBytes = columnBytes + Math.ceil(bits.count / 8);
  const timelines = await loadTimelines(
    { sql, cache: segments, use, perform: (job) => pool.perform(job) },
    scope.projectId,
    span,
    {
      eventBytes,
      only,
      properties: propertiesOf(columns, bits),
      expect: (events) => pool.expect(events),
    },
  );
  const own = actors === null ? [] : [actors];
  const filtering = { ...access, bits, columns, timelines, span, actors: own };
  return new TimelinesWithBits(filtering);
}

/** `loadFilteredTimelines` with the access of a read. */
export type LoadTimelines = (
  span: Span,
  filters: readonly Filter[],
  columns?: readonly LazyColumn[],
  actors?: Uint8Array | null,
  only?: ReadonlySet<number> | null,
) => Promise<FilteredTimelines>;

/** Runs `work`, which may load timelines; the memory that it loads stays in use until it ends. */
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
