import { numberOf } from "../db/binary_rows.ts";
import { arrayLiteral, arrayLiterals, type Sql } from "../db/sql.ts";
import { BatchColumns, type EventBatch } from "./batch_columns.ts";
import { type EventSource, NewEvents } from "./event_source.ts";
import { compareIds } from "./id_codec.ts";
import { type SlotRules, slotRules } from "./property_keys.ts";
import { mayHaveSlots } from "./property_split.ts";
import { buildSegment, type EncodedSegment, type Keeps } from "./segment_builder.ts";
import { type ColumnName, COLUMNS } from "./segment_columns.ts";
import type { SegmentEvent } from "./segment_event.ts";
import { allBlocks, blocksWithAny, decodeHead, SEGMENT_VERSION, spanOf } from "./segment_head.ts";
import { SegmentReader } from "./segment_reader.ts";
import { mergeable, partsOf, type SizedSegment } from "./segment_tiers.ts";
import { INSERT_BYTES_AIM, PROPERTY_SLOTS_MAX, SLOTTED_EVENTS_MIN } from "./store_limits.ts";
import {
  ALWAYS,
  fetchBlocks,
  fetchHeads,
  type MsSpan,
  type WantedBlocks,
} from "./stored_segments.ts";
import { readEvents } from "./whole_events.ts";
import { type Yield, yielding } from "./yielding.ts";

const INSERT = `
INSERT INTO segments (project_id, from_ms, to_ms, events, text_bytes, version, head, body, origin_id,
  slot_keys)
SELECT $1::int, s.from_ms, s.to_ms, s.events, s.text_bytes, $2::int, decode(s.head, 'base64'),
  decode(s.body, 'base64'), $3::int8, s.slot_keys::text[]
FROM unnest($4::text::int8[], $5::text::int8[], $6::text::int[], $7::text::int8[], $8::text::text[],
  $9::text::text[], $10::text::text[]) WITH ORDINALITY
  AS s (from_ms, to_ms, events, text_bytes, head, body, slot_keys, number)
ORDER BY s.number`;

/** @param originId the segment that they replace a part of; null: none */
async function insertSegments(
  tx: Sql,
  projectId: number,
  segments: readonly EncodedSegment[],
  originId: number | null = null,
): Promise<void> {
  if (segments.length === 0) return;
  const rows = segments.map(({ head, body, slotKeys, ...figures }) => ({
    ...figures,
    head: head.toBase64(),
    body: body.toBase64(),
    slotKeys: arrayLiteral(slotKeys),
  }));
  const names = ["fromMs", "toMs", "events", "textBytes", "head", "body", "slotKeys"] as const;
  await tx.query(INSERT, [projectId, SEGMENT_VERSION, originId, ...arrayLiterals(names, rows)]);
}

/** Returns the properties, as JSON, that segments of a project have slots for. */
async function slotKeysOf(sql: Sql, projectId: number): Promise<string[]> {
  const rows = await sql.query<{ key: string }>(
    "SELECT DISTINCT unnest(slot_keys) AS key FROM segments WHERE project_id = $1::int",
    [projectId],
  );
  return rows.map(({ key }) => key);
}

/** Returns the rules of which properties get slots in a project's segment that is made of these. */
async function rulesOf(
  sql: Sql,
  projectId: number,
  sources: readonly EventSource[],
): Promise<SlotRules> {
  const asks = mayHaveSlots(sources, SLOTTED_EVENTS_MIN);
  return slotRules(asks ? await slotKeysOf(sql, projectId) : []);
}

/** Builds a segment of stored ones: see `buildSegment`. */
async function rebuilt(
  sql: Sql,
  projectId: number,
  stored: readonly SegmentReader[],
  keeps: Keeps,
  yieldIfDue: Yield,
): Promise<EncodedSegment | null> {
  return await buildSegment(stored, keeps, yieldIfDue, await rulesOf(sql, projectId, stored));
}

const WITH_IDS = "project_id = $1::int AND segment_id = ANY ($2::text::int8[])";
const READ = `SELECT segment_id::int8, head, body FROM segments WHERE ${WITH_IDS}`;
const DELETE = `DELETE FROM segments WHERE ${WITH_IDS}`;

/** Reads whole segments with their bodies. */
async function wholeSegments(
  sql: Sql,
  projectId: number,
  segmentIds: readonly number[],
): Promise<SegmentReader[]> {
  const rows = await sql.binary(READ, [projectId, arrayLiteral(segmentIds)]);
  return rows.map(([id, headBytes, body]) => {
    const segmentId = numberOf(id!);
    const head = decodeHead(headBytes!, segmentId);
    const blocks = allBlocks(head);
    const bytesOf = (column: ColumnName) => {
      const { from, bytes } = spanOf(head, column, blocks);
      return body!.subarray(from, from + bytes);
    };
    return new SegmentReader(head, blocks, bytesOf, segmentId);
  });
}

/** Rewrites a segment with only the events that are kept. */
async function rewrite(
  tx: Sql,
  projectId: number,
  segmentId: number,
  keeps: Keeps,
): Promise<void> {
  const [stored] = await tx.query<{ origin_id: number }>(
    `SELECT coalesce(origin_id, segment_id) AS origin_id FROM segments
    WHERE project_id = $1::int AND segment_id = $2::int8`,
    [projectId, segmentId],
  );
  const taken = await wholeSegments(tx, projectId, [segmentId]);
  await tx.query(DELETE, [projectId, arrayLiteral([segmentId])]);
  const kept = await rebuilt(tx, projectId, taken, keeps, yielding());
  await insertSegments(tx, projectId, kept === null ? [] : [kept], stored?.origin_id ?? null);
}

/** Segments to merge into one. */
interface Merge {
  readonly segmentIds: readonly number[];
  /** How many segments the project has. */
  readonly stored: number;
}

/**
 * Returns what to merge next; null: nothing. Merging keeps fewer than eight segments of about one size:
 * a project of n events has some eight times log8(n) segments, and each event is written at most log8(n)
 * times. Then segments of earlier versions are written anew, one by one.
 * @param unreadable segments that could not be read: they are left as they are
 */
export async function nextMerge(
  sql: Sql,
  projectId: number,
  unreadable: ReadonlySet<number>,
): Promise<Merge | null> {
  const stored = await sql.query<SizedSegment & { readonly version: number }>(
    `SELECT segment_id, from_ms, events, text_bytes, version FROM segments
    WHERE project_id = $1::int ORDER BY segment_id`,
    [projectId],
  );
  const readable = stored.filter(({ segment_id }) => !unreadable.has(segment_id));
  const merged = mergeable(readable);
  if (merged !== null) return { segmentIds: merged, stored: stored.length };
  const earlier = readable.find(({ version }) => version < SEGMENT_VERSION);
  return earlier === undefined ? null : { segmentIds: [earlier.segment_id], stored: stored.length };
}

/** Merges segments; null where one of them has been deleted meanwhile. Throws SegmentUnreadable. */
export async function mergedSegment(
  sql: Sql,
  projectId: number,
  segmentIds: readonly number[],
  yieldIfDue: Yield,
): Promise<EncodedSegment | null> {
  const sources = await wholeSegments(sql, projectId, segmentIds);
  if (sources.length < segmentIds.length) return null;
  return await rebuilt(sql, projectId, sources, () => true, yieldIfDue);
}

/**
 * Replaces segments by the one they were merged into, in a transaction that has locked the project. Where
 * one of them has been deleted meanwhile, the others stay; and all do where other segments have got slots
 * meanwhile, with which the project's would be too many.
 */
export async function replaceSegments(
  tx: Sql,
  projectId: number,
  segmentIds: readonly number[],
  merged: EncodedSegment,
): Promise<void> {
  const params = [projectId, arrayLiteral(segmentIds)];
  const present = await tx.query(`SELECT FROM segments WHERE ${WITH_IDS}`, params);
  if (present.length < segmentIds.length) return;
  const known = new Set(await slotKeysOf(tx, projectId));
  const added = merged.slotKeys.filter((key) => !known.has(key)).length;
  if (added > 0 && known.size + added > PROPERTY_SLOTS_MAX) return;
  await tx.query(DELETE, params);
  await insertSegments(tx, projectId, [merged]);
}

/** Adds events to the segments of a project. The caller has locked the project. */
export async function addEvents(
  tx: Sql,
  projectId: number,
  batch: EventBatch,
): Promise<void> {
  const columns = new BatchColumns(batch);
  const yieldIfDue = yielding();
  let segments: EncodedSegment[] = [];
  let bytes = 0;
  for (const { order, textBytes } of partsOf(batch)) {
    const source = new NewEvents(columns, order, textBytes);
    const rules = await rulesOf(tx, projectId, [source]);
    const segment = await buildSegment([source], () => true, yieldIfDue, rules);
    if (segment === null) continue;
    segments.push(segment);
    bytes += segment.head.length + segment.body.length;
    if (bytes < INSERT_BYTES_AIM) continue;
    await insertSegments(tx, projectId, segments);
    [segments, bytes] = [[], 0];
  }
  await insertSegments(tx, projectId, segments);
}

/** Deletes all events before an instant from the segments of a project. The caller has locked the project. */
export async function deleteFromSegmentsBefore(
  tx: Sql,
  projectId: number,
  beforeMs: number,
): Promise<void> {
  await tx.query(
    "DELETE FROM segments WHERE project_id = $1::int AND to_ms < $2::int8",
    [projectId, beforeMs],
  );
  const crossing = await tx.query<{ segment_id: number }>(
    "SELECT segment_id FROM segments WHERE project_id = $1::int AND from_ms < $2::int8",
    [projectId, beforeMs],
  );
  for (const { segment_id } of crossing) {
    await rewrite(tx, projectId, segment_id, (_identity, ms) => ms >= beforeMs);
  }
}

/** Finds the blocks of all segments that hold events of these identities. */
async function blocksOfIdentities(
  sql: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
  span?: MsSpan,
): Promise<WantedBlocks[]> {
  const sorted = Int32Array.from(identities).sort();
  const candidates = (await fetchHeads(sql, projectId, span)).flatMap((stored) =>
    blocksWithAny(stored.head, sorted).map((blocks) => ({ ...stored, blocks }))
  );
  const readers = await fetchBlocks(sql, projectId, candidates, ["identities"]);
  return candidates.filter((_, i) =>
    readers[i]!.integers("identities").some((identity: number) => identities.has(identity))
  );
}

/** Erases all events of these identities from the segments of a project. The caller has locked the project. */
export async function eraseFromSegments(
  tx: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
): Promise<void> {
  const touched = new Set(
    (await blocksOfIdentities(tx, projectId, identities)).map(({ segmentId }) => segmentId),
  );
  for (const segmentId of touched) {
    await rewrite(tx, projectId, segmentId, (identity) => !identities.has(identity));
  }
}

/**
 * Returns all events of these identities in [fromMs, toMs), ordered by time and id. `sql` must read one
 * snapshot.
 */
export async function eventsOfIdentities(
  sql: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
  span: MsSpan = ALWAYS,
): Promise<SegmentEvent[]> {
  const events: SegmentEvent[] = [];
  for (const wanted of await blocksOfIdentities(sql, projectId, identities, span)) {
    const [reader] = await fetchBlocks(sql, projectId, [wanted], COLUMNS);
    for (const event of readEvents(reader!, projectId, identities)) {
      if (event.ms >= span.fromMs && event.ms < span.toMs) events.push(event);
    }
  }
  return events.sort((a, b) => a.ms - b.ms || compareIds(a.id, 0, b.id, 0));
}

/** When events happened. */
export interface Moments {
  readonly firstMs: number;
  readonly lastMs: number;
  /** In order, none overlaps another, and together they hold all of the events. */
  readonly spans: readonly MsSpan[];
}

/** Covers spans, which are ordered by their beginnings, with others of `lengthMs`, and no time that none of them has. */
function covered(spans: readonly MsSpan[], lengthMs: number): MsSpan[] {
  const covering: MsSpan[] = [];
  let coveredMs = -Infinity;
  for (const span of spans) {
    let fromMs = Math.max(span.fromMs, coveredMs);
    for (; fromMs < span.toMs; fromMs = coveredMs) {
      coveredMs = fromMs + lengthMs;
      covering.push({ fromMs, toMs: coveredMs });
    }
  }
  return covering;
}

/**
 * Finds the times of the events of these identities; null: there is none. `sql` must read one snapshot.
 * @param spanMs the length of each span: they are as many as the events need, however far these lie apart
 */
export async function momentsOfIdentities(
  sql: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
  spanMs: number,
): Promise<Moments | null> {
  const found: MsSpan[] = [];
  for (const wanted of await blocksOfIdentities(sql, projectId, identities)) {
    const columns = ["identities", "runs", "times"] as const;
    const [reader] = await fetchBlocks(sql, projectId, [wanted], columns);
    const runs = reader!.runs();
    const moments = reader!.moments();
    for (const [run, identity] of runs.identities.entries()) {
      if (!identities.has(identity)) continue;
      const fromMs = moments[runs.starts[run]!]!;
      found.push({ fromMs, toMs: moments[runs.starts[run + 1]! - 1]! + 1 });
    }
  }
  if (found.length === 0) return null;
  found.sort((a, b) => a.fromMs - b.fromMs);
  const lastMs = found.reduce((last, { toMs }) => Math.max(last, toMs), -Infinity) - 1;
  return { firstMs: found[0]!.fromMs, lastMs, spans: covered(found, spanMs) };
}
