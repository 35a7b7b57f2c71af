import type { Row, Sql } from "../db/sql.ts";
import { SEGMENT_FETCH_BYTES_MAX } from "../limits.ts";
import { allBlocks } from "../store/segment_head.ts";
import { fetchBlocks, fetchHeadsById } from "../store/stored_segments.ts";
import { HOT_COLUMNS } from "../store/segment_columns.ts";
import { decodeBlocks, type PerformDecoding } from "./block_decoding.ts";
import { type LoadedSegment, loadedSegment } from "./loaded_segment.ts";
import { PartReader } from "./scan_parts.ts";
import type { SegmentCache } from "./segment_cache.ts";
import { type MemoryScope, type MemoryUse, shared } from "./shared_memory.ts";
import { buildTimelines } from "./timeline_build.ts";
import type { TimelineColumns } from "./timeline_table.ts";

/** What some actors of a project did, all that a read needs of them, in memory. */
export interface TimelinePart {
  readonly segments: readonly LoadedSegment[];
  /** What of it is read, or made, is kept no longer than it. */
  readonly memory: MemoryScope;
  /** The actors' timelines, as they were built before, or are built now. */
  readonly timelines: () => Promise<TimelineColumns>;
  /** Has the next part read meanwhile: called once this one is but visited. */
  readonly readOn: () => void;
}

/** What the actors of a project did, as far as a read needs it. */
export interface Timelines {
  readonly projectId: number;
  /** The actor of each identity, by the identity's id. */
  readonly actorOf: Int32Array;
  /** Everything, part by part: each actor is in one of them with all that he did. */
  readonly parts: () => AsyncIterable<TimelinePart>;
}

/** About what an event takes in memory of what each read loads: 11 of a shop's, more where terms are many. */
const EVENT_BYTES = 14;
/** And in timelines: 16 bytes a run. */
const TIMELINE_EVENT_BYTES = 3;

/** No row: nothing is projected yet. A row without a segment: none has an event in the span. */
const DIRECTORY = `
SELECT s.segment_id, p.links_version, coalesce(s.events, 0) * ${EVENT_BYTES} AS bytes
FROM projections p
LEFT JOIN segments s
  ON s.project_id = p.project_id AND s.from_ms < $3::int8 AND s.to_ms >= $2::int8
WHERE p.project_id = $1::int
ORDER BY s.from_ms, s.segment_id`;

/** Identity and actor, 4 bytes each with the most significant one first: written as one number of 8. */
const LINKS = `
SELECT encode(string_agg(int8send(identity_id::int8 << 32 | actor_id), ''::bytea), 'base64') AS links
FROM identities WHERE project_id = $1::int AND actor_id <> identity_id`;
const LINK_BYTES = 8;

/** A segment, and when its first and its last event happened. */
export interface DatedSegment extends Row {
  readonly segment_id: number;
  readonly from_ms: number;
  readonly to_ms: number;
}

/** The segments with an event in [fromMs, toMs), none of which is loaded. */
export async function datedSegments(
  sql: Sql,
  projectId: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly DatedSegment[]> {
  return await sql.query<DatedSegment>(
    `SELECT segment_id, from_ms, to_ms FROM segments
    WHERE project_id = $1::int AND from_ms < $3::int8 AND to_ms >= $2::int8`,
    [projectId, fromMs, toMs],
  );
}

interface SizedSegment extends Row {
  readonly segment_id: number | null;
  readonly links_version: number;
  readonly bytes: number;
}

async function* onlyPart(part: TimelinePart): AsyncGenerator<TimelinePart> {
  yield await Promise.resolve(part);
}

async function* partsOf(
  reader: PartReader,
  build: (segments: readonly LoadedSegment[]) => Promise<TimelineColumns>,
): AsyncGenerator<TimelinePart> {
  for await (const { segments, memory, readOn } of reader.parts()) {
    let built: TimelineColumns | null = null;
    const timelines = async () => built ??= shared(memory.take, { ...await build(segments) });
    yield { segments, memory, timelines, readOn };
  }
}

/** Segments that are fetched by one statement each: as many as it may take, at least one. */
function batchesOf(sizes: ReadonlyMap<number, number>): number[][] {
  const batches: number[][] = [];
  let left = 0;
  for (const [id, bytes] of sizes) {
    if (bytes > left) {
      batches.push([]);
      left = SEGMENT_FETCH_BYTES_MAX;
    }
    batches.at(-1)!.push(id);
    left -= bytes;
  }
  return batches;
}

async function fetchActors(sql: Sql, projectId: number): Promise<Int32Array> {
  const [row] = await sql.query<{ links: string | null }>(LINKS, [projectId]);
  const links = Uint8Array.fromBase64(row!.links ?? "");
  const view = new DataView(links.buffer, links.byteOffset, links.byteLength);
  let last = 0;
  for (let at = 0; at < links.length; at += 4) last = Math.max(last, view.getInt32(at));
  const actorOf = Int32Array.from({ length: last + 1 }, (_, identity) => identity);
  for (let at = 0; at < links.length; at += LINK_BYTES) {
    actorOf[view.getInt32(at)] = view.getInt32(at + 4);
  }
  return actorOf;
}

/** Reaching at least as far: who is not known to be another is himself. */
function lengthened(actorOf: Int32Array, length: number): Int32Array {
  if (actorOf.length >= length) return actorOf;
  const longer = Int32Array.from({ length }, (_, identity) => identity);
  longer.set(actorOf);
  return longer;
}

/** The actor of each identity up to the last: itself, unless it is linked to another. */
async function loadActors(
  sql: Sql,
  cache: SegmentCache,
  projectId: number,
  version: number,
  lastIdentity: number,
): Promise<Int32Array> {
  const known = cache.actorsOf(projectId);
  const actors = known?.version === version ? known.actorOf : await fetchActors(sql, projectId);
  const actorOf = lengthened(actors, lastIdentity + 1);
  if (known?.version !== version || known.actorOf !== actorOf) {
    const kept = shared((bytes) => cache.memory.take(bytes), { actorOf }).actorOf;
    cache.keepActors(projectId, { version, actorOf: kept });
    return kept;
  }
  return actorOf;
}

/** The actor of each identity up to the last, as of the moment that `sql` sees. */
export async function readActors(
  sql: Sql,
  cache: SegmentCache,
  projectId: number,
  lastIdentity: number,
): Promise<Int32Array> {
  const [row] = await sql.query<{ links_version: number }>(
    "SELECT links_version FROM projections WHERE project_id = $1::int",
    [projectId],
  );
  return await loadActors(sql, cache, projectId, row?.links_version ?? 0, lastIdentity);
}

/** Where timelines are loaded from, and how. */
export interface TimelineLoading {
  /** Must see one moment of the database. */
  readonly sql: Sql;
  readonly cache: SegmentCache;
  readonly use: MemoryUse;
  /** Has blocks decoded. */
  readonly perform: PerformDecoding;
}

/** Whole segments, in the order of their ids: as they were kept, or loaded now. */
async function loadSegments(
  { sql, cache, perform }: TimelineLoading,
  projectId: number,
  sizes: ReadonlyMap<number, number>,
): Promise<LoadedSegment[]> {
  const found = new Map<number, LoadedSegment>();
  const missing = new Map<number, number>();
  // What is kept is used before anything is fetched, which may drive it out.
  for (const [id, bytes] of sizes) {
    const segment = cache.get(id);
    if (segment === undefined) missing.set(id, bytes);
    else found.set(id, segment);
  }
  const fetch = async (ids: readonly number[]) => {
    const heads = [...(await fetchHeadsById(sql, projectId, ids)).values()];
    const wanted = heads.map((stored) => ({ ...stored, blocks: allBlocks(stored.head) }));
    const readers = await fetchBlocks(sql, projectId, wanted, HOT_COLUMNS);
    const decoded = await decodeBlocks(wanted, readers, cache.memory, perform);
    return decoded.map(({ wanted: { segmentId }, columns }) => loadedSegment(segmentId, columns));
  };
  const loads: Promise<LoadedSegment[]>[] = [];
  try {
    // The next batch is fetched while one is decoded.
    for (const batch of batchesOf(missing)) {
      const load = cache.load(batch, fetch);
      // Why it failed is told once it is their turn.
      load.catch(() => {});
      await loads.at(-1);
      loads.push(load);
    }
    for (const load of loads) for (const one of await load) found.set(one.segmentId, one);
  } finally {
    // The database is asked for nothing any more once this has ended.
    await Promise.allSettled(loads);
  }
  return [...sizes.keys()].map((id) => found.get(id)!);
}

/** What a read needs of timelines beyond their span. */
export interface TimelineOptions {
  /** What an event takes in memory beside what each read loads. */
  readonly eventBytes?: number;
  /** Is told how many events the segments hold, before they are loaded. */
  readonly expect?: (events: number) => void;
  /** The segments that are wanted of those of the span; absent or null: all. */
  readonly only?: ReadonlySet<number> | null;
}

/**
 * All segments of a project with an event in [fromMs, toMs), in the order of their first event. Whole
 * segments: they hold events outside of the span too. What the cache cannot hold is read part by part,
 * each time that it is walked.
 */
export async function loadTimelines(
  loading: TimelineLoading,
  projectId: number,
  span: { readonly fromMs: number; readonly toMs: number },
  { eventBytes = 0, expect = () => {}, only = null }: TimelineOptions = {},
): Promise<Timelines> {
  const { sql, cache, use, perform } = loading;
  const directory = await sql.query<SizedSegment>(DIRECTORY, [projectId, span.fromMs, span.toMs]);
  const version = directory[0]?.links_version ?? 0;
  const bytesOfEvent = EVENT_BYTES + eventBytes;
  const sizes = new Map<number, number>();
  for (const { segment_id, bytes } of directory) {
    if (segment_id !== null && only?.has(segment_id) !== false) sizes.set(segment_id, bytes);
  }
  const events = sizes.values().reduce((sum, bytes) => sum + bytes, 0) / EVENT_BYTES;
  expect(events);
  const build = (segments: readonly LoadedSegment[], actorOf: Int32Array) =>
    buildTimelines(sql, projectId, segments, actorOf);
  const actorsUpTo = (last: number) => loadActors(sql, cache, projectId, version, last);
  const isKept = (bytesOfEvent + TIMELINE_EVENT_BYTES) * events <= cache.bytesMax;
  if (!isKept) {
    const heads = [...(await fetchHeadsById(sql, projectId, sizes.keys())).values()];
    const last = heads.reduce((max, { head }) => Math.max(max, head.lastIdentity), 0);
    const actorOf = await actorsUpTo(last);
    const eventsMax = Math.max(1, Math.floor(cache.partBytesMax / bytesOfEvent));
    const { memory } = cache;
    const reader = new PartReader({ sql, projectId, heads, actorOf, eventsMax, memory, perform });
    return {
      projectId,
      actorOf,
      parts: () => partsOf(reader, (segments) => build(segments, actorOf)),
    };
  }
  const segments = await loadSegments(loading, projectId, sizes);
  const last = segments.reduce((max, { identities }) => Math.max(max, identities.at(-1)!), 0);
  const actorOf = await actorsUpTo(last);
  // New actors appear only in new segments; the links version changes when an identity gets another.
  const runs = segments.reduce((sum, { identities }) => sum + identities.length, 0);
  const key = { projectId, version, segmentIds: [...sizes.keys()], runs };
  const part: TimelinePart = {
    segments,
    memory: use,
    timelines: () => cache.timelinesOf(key, use, () => build(segments, actorOf)),
    readOn: () => {},
  };
  return { projectId, actorOf, parts: () => onlyPart(part) };
}
