import type { Row, Sql } from "../db/sql.ts";
import { SEGMENT_FETCH_BYTES_MAX } from "../limits.ts";
import { batchesOf } from "../store/batches.ts";
import { allBlocks, type SegmentHead, slotOf, spanOf } from "../store/segment_head.ts";
import { fetchBlocks, fetchHeadsById, type StoredHead } from "../store/stored_segments.ts";
import { type ColumnName, HOT_COLUMNS, kindOf } from "../store/segment_columns.ts";
import { lookUpActors } from "./actors.ts";
import { decodeBlocks, type PerformDecoding } from "./block_decoding.ts";
import { type LoadedSegment, loadedSegment } from "./loaded_segment.ts";
import type { SegmentsPart } from "./parts_in_turn.ts";
import { readParts } from "./scan_parts.ts";
import type { SegmentCache } from "./segment_cache.ts";
import type { MemoryUse, Take } from "./shared_memory.ts";
import { buildTimelines } from "./timeline_build.ts";
import type { ScannedTimelines } from "./picked_timelines.ts";
import type { TimelineColumns } from "./timeline_table.ts";
import { touchedTimelines } from "./touched_timelines.ts";

/** All events that a read needs of some actors of a project, in memory. */
export interface TimelinePart extends SegmentsPart {
  /** Returns the actors' timelines: cached ones, or built now. */
  readonly timelines: () => Promise<ScannedTimelines>;
}

/** All events that a read needs of the actors of a project. */
export interface Timelines {
  readonly projectId: number;
  /** The actor of each identity, by the identity's id. */
  readonly actorOf: Int32Array;
  /** The time of the last event in the segments; -Infinity: there are none. */
  readonly lastMs: number;
  /** Yields the parts. All events of an actor are in the same one. */
  readonly parts: () => AsyncIterable<TimelinePart>;
}

/** The bytes of texts per event that are not counted for a property, as of numbers, plans or currencies. */
const SHORT_TEXT_BYTES = 8;
/** The same for a property without a slot, whose values are stored among others': few events have it. */
const OTHERS_TEXT_BYTES = 256;

/**
 * Returns about how many bytes the texts of a property take, beyond those of short ones. A segment's head has
 * the bytes of all of its texts; the property's share of these is estimated from its share of the stored bytes.
 */
function textBytesOf(head: SegmentHead, key: string): number {
  const storedOf = (name: ColumnName) => spanOf(head, name, allBlocks(head)).bytes;
  const slot = slotOf(head, key);
  const own = storedOf(slot ?? "properties");
  if (own === 0) return 0;
  const all = [...head.places.keys()].filter((name) => kindOf(name) === "texts")
    .reduce((sum, name) => sum + storedOf(name), 0);
  const short = slot === null ? OTHERS_TEXT_BYTES : SHORT_TEXT_BYTES;
  return Math.max(0, head.textBytes * own / all - short * head.events);
}

/** Returns about how many bytes the texts of properties take of a segment, beyond those of short ones. */
function textBytesIn(head: SegmentHead, properties: readonly string[]): number {
  return properties.reduce((sum, key) => sum + textBytesOf(head, key), 0);
}

/** About the bytes that an event takes in the columns of every read: 11 for a shop, more where terms are many. */
const EVENT_BYTES = 14;
/** About the bytes that an event takes in timelines, which take 16 per run. */
const TIMELINE_EVENT_BYTES = 3;

/** Returns no row if nothing is projected yet, and one without a segment if none has an event in the span. */
const DIRECTORY = `
SELECT s.segment_id, p.links_version, coalesce(s.events, 0) * ${EVENT_BYTES} AS bytes,
  coalesce(s.text_bytes, 0) AS text_bytes, s.to_ms
FROM projections p
LEFT JOIN segments s
  ON s.project_id = p.project_id AND s.from_ms < $3::int8 AND s.to_ms >= $2::int8
WHERE p.project_id = $1::int
ORDER BY s.from_ms, s.segment_id`;

/** A segment with the times of its first and last event, and how many it has. */
export interface DatedSegment extends Row {
  readonly segment_id: number;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly events: number;
}

/** Returns the segments with an event in [fromMs, toMs), without loading them. */
export async function datedSegments(
  sql: Sql,
  projectId: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly DatedSegment[]> {
  return await sql.query<DatedSegment>(
    `SELECT segment_id, from_ms, to_ms, events FROM segments
    WHERE project_id = $1::int AND from_ms < $3::int8 AND to_ms >= $2::int8`,
    [projectId, fromMs, toMs],
  );
}

type SizedSegment =
  & Row
  & Readonly<Record<"segment_id" | "to_ms", number | null>>
  & Readonly<Record<"links_version" | "bytes" | "text_bytes", number>>;

/** Yields the part, unless it has no events: its scans would visit all actors for nothing. */
async function* onlyPart(part: TimelinePart): AsyncGenerator<TimelinePart> {
  if (part.segments.length > 0) yield await Promise.resolve(part);
}

async function* partsOf(
  parts: AsyncIterable<SegmentsPart>,
  build: (segments: readonly LoadedSegment[], take: Take) => Promise<TimelineColumns>,
): AsyncGenerator<TimelinePart> {
  for await (const { segments, memory, readOn } of parts) {
    let built: TimelineColumns | null = null;
    const timelines = async () => ({
      columns: built ??= await build(segments, memory.take),
      placeOf: null,
      touched: null,
    });
    yield { segments, memory, timelines, readOn };
  }
}

/** What is needed to load timelines. */
export interface TimelineLoading {
  /** Must read a single snapshot. */
  readonly sql: Sql;
  readonly cache: SegmentCache;
  readonly use: MemoryUse;
  /** Performs the decoding of blocks. */
  readonly perform: PerformDecoding;
}

/** Returns whole segments, in the order of `sizes`: cached ones, or loaded now. */
async function loadSegments(
  { sql, cache, perform }: TimelineLoading,
  projectId: number,
  sizes: ReadonlyMap<number, number>,
): Promise<LoadedSegment[]> {
  const found = new Map<number, LoadedSegment>();
  const missing = new Map<number, number>();
  // Cached segments are looked up first, since loading others may evict them.
  for (const [id, bytes] of sizes) {
    const segment = cache.get(id);
    if (segment === undefined) missing.set(id, bytes);
    else found.set(id, segment);
  }
  const heads = missing.size === 0
    ? new Map<number, StoredHead>()
    : await fetchHeadsById(sql, projectId, missing.keys());
  const fetch = async (ids: readonly number[]) => {
    const stored = ids.flatMap((id) => heads.get(id) ?? []);
    const wanted = stored.map((one) => ({ ...one, blocks: allBlocks(one.head) }));
    const readers = await fetchBlocks(sql, projectId, wanted, HOT_COLUMNS);
    const decoded = await decodeBlocks(wanted, readers, cache.memory, perform);
    return decoded.map(({ wanted: { segmentId }, columns }) => loadedSegment(segmentId, columns));
  };
  const loads: Promise<LoadedSegment[]>[] = [];
  try {
    // The next batch is fetched while one is decoded.
    const bytesOf = (id: number) => missing.get(id)!;
    for (const batch of batchesOf(missing.keys(), bytesOf, SEGMENT_FETCH_BYTES_MAX)) {
      const load = cache.load(batch, fetch);
      // A failure is thrown when it is awaited.
      load.catch(() => {});
      const before = loads.at(-1);
      loads.push(load);
      await before;
    }
    for (const load of loads) for (const one of await load) found.set(one.segmentId, one);
  } finally {
    // No statement may be under way once this has ended.
    await Promise.allSettled(loads);
  }
  return [...sizes.keys()].map((id) => found.get(id)!);
}

/** What a read asks of timelines beyond their span. */
interface TimelineOptions {
  /** The bytes that an event takes in addition to the columns of every read. */
  readonly eventBytes?: number;
  /** The properties whose values the read loads, since their texts take bytes too. */
  readonly properties?: readonly string[];
  /** Called with the number of events before they are loaded. */
  readonly expect?: (events: number) => void;
  /** The ids of the segments that are loaded; absent or null: all that overlap the span. */
  readonly only?: ReadonlySet<number> | null;
}

/**
 * Loads all segments of a project with an event in [fromMs, toMs), in the order of their first event. They are
 * whole, so they have events outside the span too. If they do not fit the cache together, they are read part by
 * part, each time that the parts are asked for.
 */
export async function loadTimelines(
  loading: TimelineLoading,
  projectId: number,
  span: { readonly fromMs: number; readonly toMs: number },
  { eventBytes = 0, properties = [], expect = () => {}, only = null }: TimelineOptions = {},
): Promise<Timelines> {
  const { sql, cache, use, perform } = loading;
  const directory = await sql.query<SizedSegment>(DIRECTORY, [projectId, span.fromMs, span.toMs]);
  const version = directory[0]?.links_version ?? 0;
  const bytesOfEvent = EVENT_BYTES + eventBytes;
  const sizes = new Map<number, number>();
  let textBytesMax = 0;
  let lastMs = -Infinity;
  for (const { segment_id, bytes, text_bytes, to_ms } of directory) {
    if (segment_id === null || only?.has(segment_id) === false) continue;
    sizes.set(segment_id, bytes);
    lastMs = Math.max(lastMs, to_ms!);
    textBytesMax += properties.length * text_bytes;
  }
  const events = sizes.values().reduce((sum, bytes) => sum + bytes, 0) / EVENT_BYTES;
  expect(events);
  const build = (segments: readonly LoadedSegment[], actorOf: Int32Array, take: Take) =>
    buildTimelines(sql, projectId, segments, actorOf, take);
  const fits = (textBytes: number) =>
    (bytesOfEvent + TIMELINE_EVENT_BYTES) * events + textBytes <= cache.bytesMax;
  // Heads, which tell the sizes of texts, are fetched only if these can matter.
  const heads = fits(textBytesMax)
    ? []
    : [...(await fetchHeadsById(sql, projectId, sizes.keys())).values()];
  const textBytes = heads.reduce((sum, { head }) => sum + textBytesIn(head, properties), 0);
  if (!fits(textBytes)) {
    const last = heads.reduce((max, { head }) => Math.max(max, head.lastIdentity), 0);
    const actorOf = await lookUpActors(sql, cache, projectId, version).upTo(last);
    const weight = bytesOfEvent + textBytes / events;
    const eventsMax = Math.max(1, Math.floor(cache.partBytesMax / weight));
    // Events of different segments may have texts of different lengths.
    const weightIn = (head: SegmentHead) =>
      (bytesOfEvent + textBytesIn(head, properties) / head.events) / weight;
    const { memory } = cache;
    const source = { sql, projectId, heads, actorOf, eventsMax, weightIn, memory, perform };
    return {
      projectId,
      actorOf,
      lastMs,
      parts: () => partsOf(readParts(source), (segments, take) => build(segments, actorOf, take)),
    };
  }
  const loads = loadSegments(loading, projectId, sizes);
  // The links are fetched while the heads of the segments are decoded.
  const actors = lookUpActors(sql, cache, projectId, version);
  const segments = await loads.finally(() => actors.ended());
  const last = segments.reduce((max, { identities }) => Math.max(max, identities.at(-1)!), 0);
  const actorOf = await actors.upTo(last);
  // New actors appear only in new segments; the links version changes when an identity gets another.
  const key = { projectId, version, segments };
  let known: Promise<ScannedTimelines> | null = null;
  const part: TimelinePart = {
    segments,
    memory: use,
    // Timelines that are evicted meanwhile stay in memory until the read ends.
    timelines: () =>
      known ??= cache.timelinesOf(key, use, {
        all: (take) => build(segments, actorOf, take),
        touched: (further, kept) =>
          touchedTimelines(sql, projectId, segments, further, kept, actorOf, use),
      }),
    readOn: () => {},
  };
  return { projectId, actorOf, lastMs, parts: () => onlyPart(part) };
}
