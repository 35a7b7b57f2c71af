import { numberOf } from "../db/binary_rows.ts";
import { arrayLiteral, arrayLiterals, isOneOf, type Row, type Sql } from "../db/sql.ts";
import type { EventBatch } from "./batch_columns.ts";
import type { EventSource } from "./event_source.ts";
import { blocksOfIdentities } from "./identity_events.ts";
import { slotRules } from "./property_keys.ts";
import { mayHaveSlots } from "./property_split.ts";
import { buildSegment, type EncodedSegment, type Keeps } from "./segment_builder.ts";
import type { ColumnName } from "./segment_columns.ts";
import { allBlocks, decodeHead, SEGMENT_VERSION, spanOf } from "./segment_head.ts";
import { SegmentReader } from "./segment_reader.ts";
import { mergeable, partsOf, type SizedSegment } from "./segment_tiers.ts";
import { PROPERTY_SLOTS_MAX, SLOTTED_EVENTS_MIN, SMALL_BYTES_AIM } from "./store_limits.ts";
import { type Yield, yielding } from "./yielding.ts";

const INSERT = `
INSERT INTO segments (project_id, from_ms, to_ms, events, text_bytes, version, head, body, origin_id,
  slot_keys)
SELECT $1::int, s.from_ms, s.to_ms, s.events, s.text_bytes, $2::int, decode(s.head, 'base64'),
  decode(s.body, 'base64'), s.origin_id, s.slot_keys::text[]
FROM unnest($3::text::int8[], $4::text::int8[], $5::text::int[], $6::text::int8[], $7::text::text[],
  $8::text::text[], $9::text::text[], $10::text::int8[]) WITH ORDINALITY
  AS s (from_ms, to_ms, events, text_bytes, head, body, slot_keys, origin_id, number)
ORDER BY s.number`;

const NAMES = [
  ...["fromMs", "toMs", "events", "textBytes", "head", "body", "slotKeys", "originId"] as const,
];

/** @param origins for each, the segment that it replaces a part of; absent: none does */
async function insertSegments(
  tx: Sql,
  projectId: number,
  segments: readonly EncodedSegment[],
  origins: readonly number[] = [],
): Promise<void> {
  if (segments.length === 0) return;
  const rows = segments.map(({ head, body, slotKeys, ...figures }, i) => ({
    ...figures,
    head: head.toBase64(),
    body: body.toBase64(),
    slotKeys: arrayLiteral(slotKeys),
    originId: origins[i] ?? null,
  }));
  await tx.query(INSERT, [projectId, SEGMENT_VERSION, ...arrayLiterals(NAMES, rows)]);
}

/** Returns the properties, as JSON, that segments of a project have slots for. */
async function slotKeysOf(sql: Sql, projectId: number): Promise<string[]> {
  const rows = await sql.query<{ key: string }>(
    "SELECT DISTINCT unnest(slot_keys) AS key FROM segments WHERE project_id = $1::int",
    [projectId],
  );
  return rows.map(({ key }) => key);
}

/** Builds a segment of a project, whose other segments tell which properties may get slots: see `buildSegment`. */
async function built(
  sql: Sql,
  projectId: number,
  sources: readonly EventSource[],
  keeps: Keeps,
  yieldIfDue: Yield,
): Promise<EncodedSegment | null> {
  const asks = mayHaveSlots(sources, SLOTTED_EVENTS_MIN);
  const rules = slotRules(asks ? await slotKeysOf(sql, projectId) : []);
  return await buildSegment(sources, keeps, yieldIfDue, rules);
}

const WITH_IDS = `project_id = (SELECT $1::int) AND ${isOneOf("segment_id", "$2::text::int8[]")}`;
const READ = `SELECT segment_id::int8, head, body FROM segments WHERE ${WITH_IDS}`;
const DELETE = `DELETE FROM segments WHERE ${WITH_IDS}`;

/** Reads whole segments with their bodies, by their ids. */
async function wholeSegments(
  sql: Sql,
  projectId: number,
  segmentIds: readonly number[],
): Promise<Map<number, SegmentReader>> {
  const rows = await sql.binary(READ, [projectId, arrayLiteral(segmentIds)]);
  return new Map(rows.map(([id, headBytes, body]) => {
    const segmentId = numberOf(id!);
    const head = decodeHead(headBytes!, segmentId);
    const blocks = allBlocks(head);
    const bytesOf = (column: ColumnName) => {
      const { from, bytes } = spanOf(head, column, blocks);
      return body!.subarray(from, from + bytes);
    };
    return [segmentId, new SegmentReader(head, blocks, bytesOf, segmentId)];
  }));
}

/** The row of a segment to be rewritten. */
interface RewrittenSegment extends Row {
  readonly segment_id: number;
  readonly origin_id: number;
  readonly events: number;
  readonly bytes: number;
  readonly has_slots: boolean;
}

/**
 * Groups small segments, which are rewritten together. A segment with slots, or large enough to get some, is
 * a group of its own, as its slots depend on those that the rest of the project has.
 */
function rewrittenTogether(segments: readonly RewrittenSegment[]): RewrittenSegment[][] {
  const groups: RewrittenSegment[][] = [];
  let [bytesLeft, eventsLeft] = [0, 0];
  for (const segment of segments) {
    const { bytes, events, has_slots } = segment;
    if (has_slots || bytes > bytesLeft || events >= eventsLeft) {
      groups.push([]);
      [bytesLeft, eventsLeft] = has_slots ? [0, 0] : [SMALL_BYTES_AIM, SLOTTED_EVENTS_MIN];
    }
    bytesLeft -= bytes;
    eventsLeft -= events;
    groups.at(-1)!.push(segment);
  }
  return groups;
}

/** Rewrites segments with only the events that are kept. */
async function rewrite(
  tx: Sql,
  projectId: number,
  segmentIds: readonly number[],
  keeps: Keeps,
): Promise<void> {
  const stored = await tx.query<RewrittenSegment>(
    `SELECT segment_id, coalesce(origin_id, segment_id) AS origin_id, events,
      octet_length(head) + octet_length(body) AS bytes, slot_keys <> '{}' AS has_slots
    FROM segments WHERE ${WITH_IDS} ORDER BY segment_id`,
    [projectId, arrayLiteral(segmentIds)],
  );
  const originOf = new Map(stored.map(({ segment_id, origin_id }) => [segment_id, origin_id]));
  const yieldIfDue = yielding();
  for (const together of rewrittenTogether(stored)) {
    const ids = together.map(({ segment_id }) => segment_id);
    const taken = await wholeSegments(tx, projectId, ids);
    await tx.query(DELETE, [projectId, arrayLiteral(ids)]);
    const kept: EncodedSegment[] = [];
    const origins: number[] = [];
    for (const [id, reader] of taken) {
      const segment = await built(tx, projectId, [reader], keeps, yieldIfDue);
      if (segment === null) continue;
      kept.push(segment);
      origins.push(originOf.get(id)!);
    }
    await insertSegments(tx, projectId, kept, origins);
  }
}

/** Segments to merge. */
interface Merges {
  /** The ids of those that become one. */
  readonly merges: readonly (readonly number[])[];
  /** How many segments the project has. */
  readonly stored: number;
}

/**
 * Returns what to merge next; null: nothing. Merging keeps fewer than eight segments of about one size, so a
 * project of n events has some 8 · log8(n) segments, and each event is rewritten at most log8(n) times. When
 * there is nothing to merge, segments of earlier versions are rewritten one by one.
 * @param unreadable segments that could not be read; they stay as they are
 */
export async function nextMerge(
  sql: Sql,
  projectId: number,
  unreadable: ReadonlySet<number>,
): Promise<Merges | null> {
  const stored = await sql.query<SizedSegment & { readonly version: number }>(
    `SELECT segment_id, from_ms, events, text_bytes, version FROM segments
    WHERE project_id = $1::int ORDER BY segment_id`,
    [projectId],
  );
  const readable = stored.filter(({ segment_id }) => !unreadable.has(segment_id));
  const merges = mergeable(readable);
  if (merges.length > 0) return { merges, stored: stored.length };
  const earlier = readable.find(({ version }) => version < SEGMENT_VERSION);
  return earlier === undefined ? null : { merges: [[earlier.segment_id]], stored: stored.length };
}

/** Merges segments; null: one of them has been deleted in the meantime. Throws SegmentUnreadable. */
export async function mergedSegment(
  sql: Sql,
  projectId: number,
  segmentIds: readonly number[],
  yieldIfDue: Yield,
): Promise<EncodedSegment | null> {
  const sources = await wholeSegments(sql, projectId, segmentIds);
  if (sources.size < segmentIds.length) return null;
  return await built(sql, projectId, [...sources.values()], () => true, yieldIfDue);
}

/**
 * Replaces segments by the one they were merged into, in a transaction that has locked the project. Does
 * nothing if one of them was deleted in the meantime, or if other segments got so many slots that the project
 * would have too many.
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
export async function addEvents(tx: Sql, projectId: number, batch: EventBatch): Promise<void> {
  const yieldIfDue = yielding();
  let segments: EncodedSegment[] = [];
  let bytes = 0;
  for (const source of partsOf(batch)) {
    const segment = await built(tx, projectId, [source], () => true, yieldIfDue);
    if (segment === null) continue;
    segments.push(segment);
    bytes += segment.head.length + segment.body.length;
    if (bytes < SMALL_BYTES_AIM) continue;
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
  const ids = crossing.map(({ segment_id }) => segment_id);
  await rewrite(tx, projectId, ids, (_identity, ms) => ms >= beforeMs);
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
  await rewrite(tx, projectId, [...touched], (identity) => !identities.has(identity));
}
