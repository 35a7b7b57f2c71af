import { arrayLiteral, type Row, type Sql } from "../db/sql.ts";
import { HISTORY_FETCH_BYTES_MAX, HISTORY_READ_BYTES_MAX } from "../limits.ts";
import { type LoadedSegment, loadedSegment } from "./loaded_segment.ts";
import type { Runs } from "./run_table.ts";
import type { SegmentCache } from "./segment_cache.ts";
import {
  ENCODED_SEGMENT,
  SEGMENT_COLUMNS,
  segmentColumns,
  type StoredSegment,
} from "./stored_segment.ts";

/** What the actors of a project did, as far as a read needs it. */
export interface Histories {
  readonly projectId: number;
  readonly segments: readonly LoadedSegment[];
  /** The actor of each identity, by the identity's id. */
  readonly actorOf: Int32Array;
  /** Which runs are whose, as they were found before, or are found now. */
  readonly runs: (find: () => Promise<Runs>) => Promise<Runs>;
}

/** No row: not all facts are in segments. A row without a segment: none has an event in the span. */
const DIRECTORY = `
SELECT s.segment_id, p.links_version, ${
  SEGMENT_COLUMNS.map((name) => `coalesce(octet_length(s.${name}), 0)::int8`).join(" + ")
} AS bytes
FROM fold_projects p
LEFT JOIN history_segments s
  ON s.project_id = p.project_id AND s.from_ms < $3::int8 AND s.to_ms >= $2::int8
WHERE p.project_id = $1::int AND p.has_histories
ORDER BY s.from_ms, s.segment_id`;

const FETCH = `
SELECT segment_id, ${ENCODED_SEGMENT}
FROM history_segments WHERE project_id = $1::int AND segment_id = ANY ($2::text::int8[])`;

/** Identity and actor, 4 bytes each with the most significant one first: written as one number of 8. */
const LINKS = `
SELECT encode(string_agg(int8send(identity_id::int8 << 32 | actor_id), ''::bytea), 'base64') AS links
FROM identities WHERE project_id = $1::int AND actor_id <> identity_id`;
const LINK_BYTES = 8;

type FetchedSegment = StoredSegment & { readonly segment_id: number };

interface SizedSegment extends Row {
  readonly segment_id: number | null;
  readonly links_version: number;
  readonly bytes: number;
}

/** Segments that are fetched by one statement each: as many as it may take, at least one. */
function batchesOf(sizes: ReadonlyMap<number, number>): number[][] {
  const batches: number[][] = [];
  let left = 0;
  for (const [id, bytes] of sizes) {
    if (bytes > left) {
      batches.push([]);
      left = HISTORY_FETCH_BYTES_MAX;
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

/** The actor of each identity: itself, unless it is linked to another. */
async function loadActors(
  sql: Sql,
  cache: SegmentCache,
  projectId: number,
  version: number,
  segments: readonly LoadedSegment[],
): Promise<Int32Array> {
  let last = 0;
  for (const { identities } of segments) last = Math.max(last, identities.at(-1)!);
  const known = cache.actorsOf(projectId);
  const actors = known?.version === version ? known.actorOf : await fetchActors(sql, projectId);
  const actorOf = lengthened(actors, last + 1);
  if (known?.version !== version || known.actorOf !== actorOf) {
    cache.keepActors(projectId, { version, actorOf });
  }
  return actorOf;
}

/**
 * All segments of a project with an event in [fromMs, toMs), in the order of their first event. Whole
 * segments: they hold events outside of the span too. `sql` must see one moment of the database.
 * @returns null where histories cannot answer: not all facts are in them, or they are too large
 */
export async function loadHistories(
  sql: Sql,
  cache: SegmentCache,
  projectId: number,
  span: { readonly fromMs: number; readonly toMs: number },
): Promise<Histories | null> {
  const directory = await sql.query<SizedSegment>(DIRECTORY, [projectId, span.fromMs, span.toMs]);
  if (directory.length === 0) return null;
  const sizes = new Map<number, number>();
  for (const { segment_id, bytes } of directory) {
    if (segment_id !== null) sizes.set(segment_id, bytes);
  }
  if (sizes.values().reduce((sum, bytes) => sum + bytes, 0) > HISTORY_READ_BYTES_MAX) return null;
  const found = new Map<number, LoadedSegment>();
  const missing = new Map<number, number>();
  // What is kept is used before anything is fetched, which may drive it out.
  for (const [id, bytes] of sizes) {
    const segment = cache.get(id);
    if (segment === undefined) missing.set(id, bytes);
    else found.set(id, segment);
  }
  const fetch = async (ids: readonly number[]) =>
    (await sql.query<FetchedSegment>(FETCH, [projectId, arrayLiteral(ids)]))
      .map((row) => loadedSegment(row.segment_id, segmentColumns(row)));
  for (const batch of batchesOf(missing)) {
    for (const segment of await cache.load(batch, fetch)) found.set(segment.segmentId, segment);
  }
  const segments = [...sizes.keys()].map((id) => found.get(id)!);
  const version = directory[0]!.links_version;
  const actorOf = await loadActors(sql, cache, projectId, version, segments);
  // Whoever is new is in a new segment, and who is who has a version: the rest is the same for good.
  const key = `${projectId} ${version} ${[...sizes.keys()].join(" ")}`;
  return { projectId, segments, actorOf, runs: (find) => cache.runsOf(key, find) };
}
