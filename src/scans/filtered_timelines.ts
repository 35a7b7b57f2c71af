import type { Sql } from "../db/sql.ts";
import { loadTimelines, type TimelinePart, type Timelines } from "../timelines/timelines.ts";
import { type LazyColumn, lazyName } from "../timelines/lazy_columns.ts";
import { type KeptColumn, lazyKey } from "../timelines/lazy_loader.ts";
import { LoadedSegment } from "../timelines/loaded_segment.ts";
import type { SegmentCache } from "../timelines/segment_cache.ts";
import { type MemoryScope, type MemoryUse, zeros } from "../timelines/shared_memory.ts";
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
export type FilteredPart = Awaited<ReturnType<typeof filteredPart>>;

/** Prepares a part before its first visit; it is called once for each part. */
export type PreparePart = (part: FilteredPart) => Promise<void>;

/** Timelines whose events have filter bits. */
export type FilteredTimelines = ReturnType<typeof filteredTimelines>;

/** About how many bytes an event takes in a lazy column, and in one that is empty for most events. */
const LAZY_EVENT_BYTES = 8;
const SPARSE_EVENT_BYTES = 2;

const bytesOfColumn = (column: LazyColumn): number =>
  typeof column !== "string" && column.isSparse ? SPARSE_EVENT_BYTES : LAZY_EVENT_BYTES;

/** Returns the properties whose values the columns or the filters need. */
function propertiesOf(columns: readonly LazyColumn[], { filters }: FilterBits): string[] {
  const ofColumns = columns.flatMap((column) =>
    typeof column === "string" ? [] : [column.property]
  );
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

/** Loads the lazy columns that the read asks for, by segment and name. */
async function lazyColumns(
  filtering: Filtering,
  part: TimelinePart,
): Promise<Map<string, object>[]> {
  const { columns } = filtering;
  const lazies = part.segments.map(() => new Map<string, object>());
  const loaded = columns.length === 0 ? [] : await loadColumns(filtering, part, columns);
  for (const [number, column] of columns.entries()) {
    for (const [i, one] of loaded[number]!.entries()) lazies[i]!.set(lazyName(column), one);
  }
  return lazies;
}

/** Scans some segments, with those actors that are visited at all. */
type ScanSegments = <Inputs, Counts>(
  kind: VisitorKind<Inputs, Counts>,
  inputs: Inputs,
  choice?: Partial<Pick<ScanOrder, "timelines" | "sessions" | "actors">>,
) => Promise<Counts>;

/** Returns columns with 1 at the place of each actor who may be asked about. */
async function askedActors(
  scanRuns: ScanSegments,
  asked: Asked,
  column: () => Uint8Array,
): Promise<Uint8Array[]> {
  const { events, sessions } = narrowing(asked);
  if (events === null && sessions === null) return [];
  const withEvent = events === null ? null : column();
  const withSession = sessions === null ? null : column();
  await scanRuns(ASKED_ACTORS, { events, sessions, withEvent, withSession });
  return [withEvent, withSession].filter((one) => one !== null);
}

async function filteredPart(filtering: Filtering, part: TimelinePart) {
  const { bits, span, actors, pool, use, signal, timelines: { actorOf } } = filtering;
  const { memory } = part;
  const lazies = await lazyColumns(filtering, part);
  const bitColumns = bits.count === 0 ? null : emptyBits(bits, part.segments, memory);
  const segments = part.segments.map((segment, i) =>
    new LoadedSegment(segment, bitColumns?.columns[i], lazies[i])
  );
  /** The filter bits, if they are in words: see `FilterBits`. */
  const words = bitColumns?.words ?? [];
  const scanSegments: ScanSegments = (kind, inputs, choice) => {
    const all = { timelines: null, sessions: null, actors };
    const order = { visitor: kind.name, inputs, segments, words, actorOf, ...all, ...choice };
    return use.during(pool.run(kind, order, signal));
  };
  /** Adds a column derived from the segment's others: the cached one, or one derived now. */
  const addColumn = async <T extends KeptColumn>(
    { segmentId, slice, lazies }: LoadedSegment,
    name: string,
    make: MakeColumn<T>,
  ): Promise<void> => {
    // Only columns of whole segments are cached.
    if (slice !== null) return void lazies.set(name, await make(memory.take));
    // What is cached outlives this part's memory.
    const { lazies: cache, memory: cacheMemory } = filtering.segments;
    const key = lazyKey(segmentId, name);
    const kept = cache.get(key);
    if (kept !== undefined) return void lazies.set(name, kept);
    const made = await make((bytes) => cacheMemory.take(bytes));
    if (!cache.set(key, made)) memory.own(made.memory);
    lazies.set(name, made);
  };
  /** Visits only this part. */
  const scan = async <Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    inputs: Inputs,
    { sessions = null, byRun, asked = ALL_ACTORS }: ScanManner = {},
  ): Promise<Counts> => {
    // While workers visit this part, this thread can read the next one.
    if (pool.workers > 0) part.readOn();
    if (byRun === true && sessions === null) return await scanSegments(kind, inputs);
    const column = () => zeros(memory.take, Uint8Array, actorOf.length);
    const finding = askedActors(scanSegments, asked, column);
    // A failure is thrown when it is awaited.
    finding.catch(() => {});
    // No thread may write into its columns once this has failed.
    const timelines = await part.timelines().finally(() => Promise.allSettled([finding]));
    const chosen = { timelines, sessions, actors: [...actors, ...await finding] };
    return await scanSegments(kind, inputs, chosen);
  };
  const filters = bitColumns === null ? [] : await setBits(filtering, part, bitColumns);
  if (filters.length > 0) {
    await scan(SESSION_BITS, { isWide: bits.isWide, reach: span, filters });
  }
  return { ...part, segments, words, addColumn, scan };
}

function filteredTimelines(filtering: Filtering) {
  const { bits, use, timelines } = filtering;
  const preparing: PreparePart[] = [];
  /** The only part, if all timelines fit into memory, with the functions that have prepared it. */
  let known: { readonly part: FilteredPart; readonly prepared: Set<PreparePart> } | null = null;
  const filteredParts = async function* (): AsyncGenerator<NonNullable<typeof known>> {
    if (known !== null) return yield known;
    for await (const part of timelines.parts()) {
      const filtered = {
        part: await filteredPart(filtering, part),
        prepared: new Set<PreparePart>(),
      };
      // If there are several parts, each is freed when the next one is read.
      if (part.memory === use) known = filtered;
      yield filtered;
    }
  };
  const parts = async function* (): AsyncGenerator<FilteredPart> {
    for await (const { part, prepared } of filteredParts()) {
      for (const prepare of preparing) {
        if (prepared.has(prepare)) continue;
        await prepare(part);
        prepared.add(prepare);
      }
      yield part;
    }
  };
  /** Registers a function that prepares each part before it is visited. */
  const prepare = (one: PreparePart): void => {
    preparing.push(one);
  };
  /** Visits the asked actors, part by part. `inputs` is called for each part after it is prepared. */
  const scan = async <Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    inputs: () => Inputs,
    manner?: ScanManner,
  ): Promise<Counts> => {
    let counts: Counts | null = null;
    for await (const part of parts()) {
      const more = await part.scan(kind, inputs(), manner);
      counts = counts === null ? more : kind.merge(counts, more);
    }
    return counts ?? kind.create(inputs(), []).result();
  };
  const { projectId, actorOf, lastMs } = timelines;
  return { projectId, actorOf, lastMs, bits, prepare, parts, scan };
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
  return filteredTimelines(filtering);
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
    const load: LoadTimelines = (...asked) =>
      loadFilteredTimelines({ segments, pool, use, ...access }, ...asked);
    return await work(load, use);
  } finally {
    await use.end();
  }
}
