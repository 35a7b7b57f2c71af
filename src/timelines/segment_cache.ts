import {
  SCAN_PART_BYTES_MAX,
  SEGMENT_PROJECTS_KNOWN_MAX,
  SHARED_FREE_BYTES_MAX,
} from "../limits.ts";
import { RecentCache } from "../recent_cache.ts";
import type { KeptBlock } from "../store/segments.ts";
import { createLazyCache, type LazyCache } from "./lazy_loader.ts";
import { columnsOf, type LoadedSegment } from "./loaded_segment.ts";
import { type MemoryUse, shared, SharedMemory } from "./shared_memory.ts";
import { subsetTimelines } from "./timeline_subset.ts";
import type { TimelineColumns } from "./timeline_table.ts";
import { CacheBudget, WeighedCache } from "./weighed_cache.ts";

/** Has the segments of these ids, in any order. */
export type FetchSegments = (segmentIds: readonly number[]) => Promise<readonly LoadedSegment[]>;

/** The actor of each identity of a project, by the identity's id, as of a version of the links. */
export interface KnownActors {
  readonly version: number;
  readonly actorOf: Int32Array;
}

/** Which timelines are meant. */
export interface TimelinesKey {
  readonly projectId: number;
  /** Of who is who. */
  readonly version: number;
  readonly segmentIds: readonly number[];
  /** How many runs the segments have. */
  readonly runs: number;
}

interface KeptTimelines {
  /** The project and the version. */
  readonly owner: string;
  readonly segmentIds: readonly number[];
  readonly columns: TimelineColumns;
}

type SegmentsById = ReadonlyMap<number, LoadedSegment>;

/** What a segment's columns weigh: whole buffers, which may be larger than what lies in them. */
function bytesOf(segment: LoadedSegment): number {
  const buffers = new Set(Object.values(columnsOf(segment)).map(({ buffer }) => buffer));
  return buffers.values().reduce((bytes, { byteLength }) => bytes + byteLength, 0);
}

/** Lazy columns (titles, properties, ...) take at most half of all that is kept. */
const LAZY_SHARE = 1 / 2;
/** And timelines a quarter: 27 MB for ten million events. */
const RUNS_SHARE = 1 / 4;

/** Timelines are taken out of those that have at most so many times the slices. */
const SUBSET_SLICES_MAX = 8;

/** And an eighth of how often whom did what segments ask for: 9 MB for a condition on 500,000 people of a month. */
const COUNTED_SHARE = 1 / 8;

/** And an eighth of blocks that listed events were read from: 25 MB hold those of a day at ten million events a month. */
const BLOCKS_SHARE = 1 / 8;

/** How often each of some identities did something in a segment. */
export interface CountedRuns {
  readonly identities: Int32Array;
  readonly counts: Int32Array;
}

/** A key and an entry, beside the numbers. */
const COUNTED_BYTES = 512;

/**
 * What reads keep in memory of segments, at most `bytesMax` bytes of it in all: what was used least recently
 * goes first. Segments never change, so what is here is true for as long as anybody asks for it.
 */
export class SegmentCache {
  /** Where all that is kept lies. */
  readonly memory = new SharedMemory(SHARED_FREE_BYTES_MAX);
  /** Their lazy columns, as reads asked for them. */
  readonly lazies: LazyCache;
  /** How often identities did what conditions on people ask for: by what is asked, and the segment. */
  readonly counted: WeighedCache<string, CountedRuns>;
  /** Blocks of whole events, as lists asked for them: the next page is mostly of the same ones. */
  readonly blocks: WeighedCache<string, KeptBlock>;
  readonly bytesMax: number;
  /** Bytes of a part, where a read needs more than the cache may hold. */
  readonly partBytesMax: number;
  readonly #segments: WeighedCache<number, LoadedSegment>;
  readonly #fetches = new Map<number, Promise<SegmentsById>>();
  readonly #timelines: WeighedCache<string, KeptTimelines>;
  readonly #actors = new RecentCache<number, KnownActors>(SEGMENT_PROJECTS_KNOWN_MAX);

  constructor(bytesMax: number, partBytesMax = SCAN_PART_BYTES_MAX) {
    this.bytesMax = bytesMax;
    this.partBytesMax = partBytesMax;
    const budget = new CacheBudget(bytesMax);
    this.lazies = createLazyCache(LAZY_SHARE * bytesMax, this.memory, budget);
    this.counted = new WeighedCache(
      COUNTED_SHARE * bytesMax,
      ({ identities, counts }) => identities.byteLength + counts.byteLength + COUNTED_BYTES,
      () => {},
      budget,
    );
    this.blocks = new WeighedCache(
      BLOCKS_SHARE * bytesMax,
      ({ bytes }) => bytes,
      () => {},
      budget,
    );
    this.#timelines = new WeighedCache(
      RUNS_SHARE * bytesMax,
      ({ columns }) => columns.offsets.buffer.byteLength,
      ({ columns }) => this.memory.retire(columns.offsets),
      budget,
    );
    this.#segments = new WeighedCache(
      bytesMax,
      bytesOf,
      ({ times }) => this.memory.retire(times),
      budget,
    );
  }

  /** Bytes of the segments' own columns that are kept. */
  get bytes(): number {
    return this.#segments.bytes;
  }

  /** Who is who in a project, as it was asked for last. */
  actorsOf(projectId: number): KnownActors | undefined {
    return this.#actors.get(projectId);
  }

  keepActors(projectId: number, actors: KnownActors): void {
    const former = this.#actors.get(projectId);
    if (former !== undefined) this.memory.retire(former.actorOf);
    this.#actors.set(projectId, actors);
  }

  /**
   * The timelines of segments that the key tells: kept, taken out of those of more segments that are
   * kept, or built now. Throws what `build` throws.
   */
  async timelinesOf(
    of: TimelinesKey,
    use: MemoryUse,
    build: () => Promise<TimelineColumns>,
  ): Promise<TimelineColumns> {
    const { segmentIds } = of;
    const owner = `${of.projectId} ${of.version}`;
    const key = `${owner} ${segmentIds.join(" ")}`;
    const kept = this.#timelines.get(key);
    if (kept !== undefined) return kept.columns;
    const more = this.#timelinesOfMore(owner, of);
    const made = more === null ? await build() : await subsetTimelines(
      more.columns,
      Int32Array.from(more.segmentIds, (id) => segmentIds.indexOf(id)),
    );
    const columns = shared((bytes) => this.memory.take(bytes), { ...made });
    const isKept = this.#timelines.set(key, { owner, segmentIds, columns });
    if (!isKept) use.own(columns.offsets);
    return columns;
  }

  /** Kept timelines of all of these segments and others, the fewest; null: there are none, or too many. */
  #timelinesOfMore(owner: string, { segmentIds, runs }: TimelinesKey): KeptTimelines | null {
    let found: string | null = null;
    let least = SUBSET_SLICES_MAX * runs;
    for (const [key, kept] of this.#timelines.entries()) {
      const { length } = kept.columns.segmentOf;
      if (kept.owner !== owner || length > least) continue;
      const ids = new Set(kept.segmentIds);
      if (!segmentIds.every((id) => ids.has(id))) continue;
      [found, least] = [key, length];
    }
    return found === null ? null : this.#timelines.get(found)!;
  }

  /** The segment, if it is kept; that is a use of it. */
  get(segmentId: number): LoadedSegment | undefined {
    return this.#segments.get(segmentId);
  }

  /**
   * Segments by their ids, in the same order. Those that are missing are fetched at once, but for
   * those that somebody else is fetching already. Throws what `fetch` throws; nothing is remembered
   * of a fetch that failed, and whoever waited for it fetches for himself.
   */
  async load(segmentIds: readonly number[], fetch: FetchSegments): Promise<LoadedSegment[]> {
    const found = new Map<number, LoadedSegment>();
    const waits: [number, Promise<SegmentsById>][] = [];
    const missing: number[] = [];
    for (const id of segmentIds) {
      const segment = this.get(id);
      const fetching = this.#fetches.get(id);
      if (segment !== undefined) found.set(id, segment);
      else if (fetching !== undefined) waits.push([id, fetching]);
      else missing.push(id);
    }
    if (missing.length > 0) {
      for (const [id, segment] of await this.#fetch(missing, fetch)) found.set(id, segment);
    }
    const failed: number[] = [];
    for (const [id, fetching] of waits) {
      // Why it failed is told to whoever began it.
      const fetched = await fetching.catch(() => null);
      if (fetched === null) failed.push(id);
      else found.set(id, fetched.get(id)!);
    }
    if (failed.length > 0) {
      for (const segment of await this.load(failed, fetch)) found.set(segment.segmentId, segment);
    }
    return segmentIds.map((id) => found.get(id)!);
  }

  async #fetch(segmentIds: readonly number[], fetch: FetchSegments): Promise<SegmentsById> {
    const fetching = this.#fetchNow(segmentIds, fetch);
    for (const id of segmentIds) this.#fetches.set(id, fetching);
    try {
      return await fetching;
    } finally {
      for (const id of segmentIds) this.#fetches.delete(id);
    }
  }

  async #fetchNow(segmentIds: readonly number[], fetch: FetchSegments): Promise<SegmentsById> {
    const fetched = new Map(
      (await fetch(segmentIds)).map((segment) => [segment.segmentId, segment]),
    );
    for (const id of segmentIds) {
      const segment = fetched.get(id);
      if (segment === undefined) throw new Error(`Segment ${id} of a history is gone`);
      // What is too large to be kept goes once nobody reads it any more.
      const isKept = this.#segments.set(segment.segmentId, segment);
      if (!isKept) this.memory.retire(segment.times);
    }
    return fetched;
  }
}
