import { SCAN_PART_BYTES_MAX, SHARED_FREE_BYTES_MAX } from "../limits.ts";
import type { RowCache } from "../store/rows_by_place.ts";
import type { ColumnPlace } from "../store/segment_head.ts";
import { JournalBlocks } from "./journal_blocks.ts";
import { createLazyCache, type LazyCache } from "./lazy_loader.ts";
import { columnsOf, type LoadedSegment } from "./loaded_segment.ts";
import type { ScannedTimelines } from "./picked_timelines.ts";
import { type Column, type MemoryUse, SharedMemory, type Take } from "./shared_memory.ts";
import type { TimelineColumns } from "./timeline_table.ts";
import type { KeptColumns, TouchedTimelines } from "./touched_timelines.ts";
import { CacheBudget, WeighedCache } from "./weighed_cache.ts";

/** Returns the segments with these ids, in any order. */
type FetchSegments = (segmentIds: readonly number[]) => Promise<readonly LoadedSegment[]>;

/** The actor of each identity of a project, by the identity's id, at a version of the links. */
interface KnownActors {
  readonly version: number;
  readonly actorOf: Int32Array;
}

interface TimelinesKey {
  readonly projectId: number;
  /** The version of the links between identities and actors. */
  readonly version: number;
  readonly segments: readonly LoadedSegment[];
}

/** Builds timelines that are not cached. */
interface MakeTimelines {
  readonly all: (take: Take) => Promise<TimelineColumns>;
  /** Builds those of the actors in `further` segments, given by their places: see `touchedTimelines`. */
  readonly touched: (further: readonly number[], kept: KeptColumns) => Promise<TouchedTimelines>;
}

interface KeptTimelines {
  /** The project and the version. */
  readonly owner: string;
  readonly segmentIds: readonly number[];
  readonly columns: TimelineColumns;
}

/** Returns the bytes of a segment's columns: of their whole buffers, which may be larger. */
function bytesOf(segment: LoadedSegment): number {
  const buffers = new Set(Object.values(columnsOf(segment)).map(({ buffer }) => buffer));
  return buffers.values().reduce((bytes, { byteLength }) => bytes + byteLength, 0);
}

/** Of the objects that hold a column's places, in addition to the numbers. */
const PLACE_BYTES = 400;

function bytesOfPlaces(bytes: number, { starts, checksums }: ColumnPlace): number {
  return bytes + starts.byteLength + checksums.byteLength + PLACE_BYTES;
}

/** The share of the budget that lazy columns (titles, properties, ...) take at most. */
const LAZY_SHARE = 1 / 2;
/** The share of timelines, which take 29 MB for ten million events. */
const RUNS_SHARE = 1 / 2;

/** Timelines are built if cached ones lack more than this share of the runs. */
const FURTHER_SHARE_MAX = 1 / 8;

/** The share of the actors of identities, in all projects: 2.3 MB for 577,000 identities. */
const ACTORS_SHARE = 1 / 4;

/** The share of counted runs: a condition on 500,000 people of a month takes 9 MB. */
const COUNTED_SHARE = 1 / 8;

/** The share of blocks that lists read: those of a day take 25 MB at ten million events a month. */
const BLOCKS_SHARE = 1 / 8;

/** The share of heads of segments, most of which is the places of their columns' blocks: 2 MB for those of a month. */
const HEADS_SHARE = 1 / 32;

/**
 * The share of decoded blocks of the journal: the 20,000 events that a page may need take 13 MB, without what
 * runs take that are spread over all events.
 */
const JOURNAL_SHARE = 1 / 16;

/** How often each of some identities did something in a segment. */
export interface CountedRuns {
  readonly identities: Int32Array;
  readonly counts: Int32Array;
}

/** Of a key and an entry, in addition to the numbers. */
const COUNTED_BYTES = 512;

/**
 * All that reads cache of segments, within one budget of `bytesMax` bytes; the least recently used is evicted
 * first. Segments never change, and blocks of the journal are known by their content, so nothing here becomes stale.
 */
export class SegmentCache {
  /** The shared memory of all cached columns. */
  readonly memory: SharedMemory;
  /** Lazy columns that reads asked for. */
  readonly lazies: LazyCache;
  /** How often identities did what conditions on people ask for, by condition and segment. */
  readonly counted: WeighedCache<string, CountedRuns>;
  /** Blocks of whole events that lists read, and their segments' heads; the next page is mostly in the same ones. */
  readonly rowCache: RowCache;
  /** Decoded blocks of the journal, which lists of the newest events read again and again. */
  readonly journalBlocks: JournalBlocks;
  readonly #segments: WeighedCache<number, LoadedSegment>;
  /** Segments that a read is fetching; null: that failed. */
  readonly #fetches = new Map<number, Promise<LoadedSegment | null>>();
  readonly #timelines: WeighedCache<string, KeptTimelines>;
  readonly #actors: WeighedCache<number, KnownActors>;

  /** @param partBytesMax the bytes of a part, if a read needs more than may be cached */
  constructor(readonly bytesMax: number, readonly partBytesMax = SCAN_PART_BYTES_MAX) {
    this.memory = new SharedMemory(bytesMax + SHARED_FREE_BYTES_MAX);
    const budget = new CacheBudget(bytesMax);
    this.lazies = createLazyCache(LAZY_SHARE * bytesMax, this.memory, budget);
    const cacheOf = <K, V>(
      share: number,
      bytesOf: (value: V) => number,
      dropped?: (value: V) => void,
    ) => new WeighedCache<K, V>(share * bytesMax, bytesOf, dropped, budget);
    this.counted = cacheOf(
      COUNTED_SHARE,
      ({ identities, counts }) => identities.byteLength + counts.byteLength + COUNTED_BYTES,
    );
    this.rowCache = {
      blocks: cacheOf(BLOCKS_SHARE, ({ bytes }) => bytes),
      heads: cacheOf(
        HEADS_SHARE,
        ({ head: { places } }) => places.values().reduce(bytesOfPlaces, 0),
      ),
    };
    this.journalBlocks = new JournalBlocks(JOURNAL_SHARE * bytesMax, budget);
    const retire = (column: Column) => this.memory.retire(column);
    const bufferBytes = ({ buffer }: Column) => buffer.byteLength;
    this.#timelines = cacheOf(
      RUNS_SHARE,
      ({ columns }) => bufferBytes(columns.offsets),
      ({ columns }) => retire(columns.offsets),
    );
    this.#actors = cacheOf(
      ACTORS_SHARE,
      ({ actorOf }) => bufferBytes(actorOf),
      ({ actorOf }) => retire(actorOf),
    );
    this.#segments = cacheOf(1, bytesOf, ({ times }) => retire(times));
  }

  /** Bytes of the segments' own columns that are cached. */
  get bytes(): number {
    return this.#segments.bytes;
  }

  /** Returns the actors of a project that were cached last. */
  actorsOf(projectId: number): KnownActors | undefined {
    return this.#actors.get(projectId);
  }

  /** Caches the actors of a project; if they are too large, frees them once the reads under way have ended. */
  keepActors(projectId: number, actors: KnownActors): void {
    const isKept = this.#actors.set(projectId, actors);
    if (!isKept) this.memory.retire(actors.actorOf);
  }

  /**
   * Returns the timelines of a project's segments at a version of its links: cached ones of exactly these
   * segments, else cached ones of nearly all of them with the touched actors, else ones that are built now.
   * Throws what `make` throws.
   */
  async timelinesOf(
    { projectId, version, segments }: TimelinesKey,
    use: MemoryUse,
    make: MakeTimelines,
  ): Promise<ScannedTimelines> {
    const owner = `${projectId} ${version}`;
    const segmentIds = segments.map(({ segmentId }) => segmentId);
    const key = `${owner} ${segmentIds.join(" ")}`;
    const known = this.#timelines.get(key);
    if (known !== undefined) return { columns: known.columns, placeOf: null, touched: null };
    const near = this.#nearest(owner, segments);
    if (near !== null) {
      const { kept: { columns, segmentIds: keptIds }, further } = near;
      const places = new Map(segmentIds.map((id, place) => [id, place]));
      const kept = {
        columns,
        placeOf: Int32Array.from(keptIds, (id) => places.get(id) ?? -1),
      };
      if (further.length === 0) return { ...kept, touched: null };
      return { ...kept, touched: await make.touched(further, kept) };
    }
    const columns = await make.all((bytes) => this.memory.take(bytes));
    const isKept = this.#timelines.set(key, { owner, segmentIds, columns });
    if (!isKept) use.own(columns.offsets);
    return { columns, placeOf: null, touched: null };
  }

  /**
   * Returns the cached timelines that lack the fewest runs of these segments, of several the smallest, and the
   * places of the segments that they lack; null: all lack too many. However large they are, building takes
   * longer: 50 ms for one segment of ten million events, while picking it out of all and visiting it take 13.
   */
  #nearest(
    owner: string,
    segments: readonly LoadedSegment[],
  ): { readonly kept: KeptTimelines; readonly further: readonly number[] } | null {
    const runsIn = (places: readonly number[]) =>
      places.reduce((sum, place) => sum + segments[place]!.identities.length, 0);
    let found: { key: string; further: readonly number[] } | null = null;
    let least = FURTHER_SHARE_MAX * runsIn([...segments.keys()]);
    let smallest = Infinity;
    for (const [key, { owner: other, segmentIds, columns }] of this.#timelines.entries()) {
      if (other !== owner) continue;
      const ids = new Set(segmentIds);
      const further = [...segments.keys()].filter((at) => !ids.has(segments[at]!.segmentId));
      const runs = runsIn(further);
      const { length } = columns.segmentOf;
      if (runs > least || runs === least && length >= smallest) continue;
      [found, least, smallest] = [{ key, further }, runs, length];
    }
    return found === null
      ? null
      : { kept: this.#timelines.get(found.key)!, further: found.further };
  }

  /** Returns a segment if it is cached, which counts as a use. */
  get(segmentId: number): LoadedSegment | undefined {
    return this.#segments.get(segmentId);
  }

  /**
   * Returns segments in the order of `segmentIds`. Missing ones are fetched together, except those that another
   * read is fetching already. Throws what `fetch` throws. A failed fetch is not remembered: reads that waited
   * for it fetch again.
   */
  async load(segmentIds: readonly number[], fetch: FetchSegments): Promise<LoadedSegment[]> {
    const missing = segmentIds.filter((id) => this.get(id) === undefined && !this.#fetches.has(id));
    const fetching = missing.length === 0 ? null : this.#fetch(missing, fetch);
    const loads = segmentIds.map((id) => this.get(id) ?? this.#fetches.get(id)!);
    await fetching;
    const loaded = await Promise.all(loads);
    const failed = segmentIds.filter((_, i) => loaded[i] === null);
    const again = failed.length === 0 ? [] : await this.load(failed, fetch);
    const found = new Map(again.map((segment) => [segment.segmentId, segment]));
    return segmentIds.map((id, i) => loaded[i] ?? found.get(id)!);
  }

  async #fetch(segmentIds: readonly number[], fetch: FetchSegments): Promise<void> {
    const fetching = this.#fetchNow(segmentIds, fetch);
    for (const id of segmentIds) {
      // The failure is thrown to the read that began the fetch.
      this.#fetches.set(id, fetching.then((fetched) => fetched.get(id)!, () => null));
    }
    try {
      await fetching;
    } finally {
      for (const id of segmentIds) this.#fetches.delete(id);
    }
  }

  async #fetchNow(segmentIds: readonly number[], fetch: FetchSegments) {
    const fetched = new Map(
      (await fetch(segmentIds)).map((segment) => [segment.segmentId, segment]),
    );
    for (const id of segmentIds) {
      const segment = fetched.get(id);
      if (segment === undefined) throw new Error(`Segment ${id} of a timeline is gone`);
      // A segment that is too large for the cache is freed once the reads under way have ended.
      const isKept = this.#segments.set(segment.segmentId, segment);
      if (!isKept) this.memory.retire(segment.times);
    }
    return fetched;
  }
}
