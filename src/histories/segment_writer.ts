import type { Param, Row, Sql } from "../db/sql.ts";
import {
  HISTORY_PROPERTIES_BYTES_MAX,
  SEGMENT_EVENTS_MAX,
  SEGMENT_TEXT_BYTES_MAX,
  SEGMENTS_MERGED,
} from "../limits.ts";
import { columnOf, columnText } from "./column.ts";
import {
  type HistoryEvent,
  ID_BYTES,
  type Keeps,
  mergeSegments,
  type Segment,
  segmentOf,
} from "./segment.ts";
import {
  ENCODED_SEGMENT,
  ENCODED_SELDOM,
  ENCODED_TEXTS,
  SEGMENT_COLUMNS,
  segmentColumns,
  segmentTexts,
  SELDOM_COLUMNS,
  seldomColumns,
  type StoredSegment,
  type StoredSeldom,
  type StoredTexts,
} from "./stored_segment.ts";

/** Times of a segment are counted in 31 bits: each stretch of 2^31 ms (24.8 days) has its own segments. */
const PART_MS = 2 ** 31;
/** In which of them a moment (SQL, epoch milliseconds) lies. */
export const partOf = (ms: string): string => `floor((${ms}) / ${PART_MS}.0)::int`;

/** Bytes of an event in a pack, without its properties: see `packed`. */
const PACKED_BYTES = 64;
/** In front of properties: that there are none. */
const NO_PROPERTIES = -1;

/** What an event is, in SQL. */
export interface PackedColumns {
  readonly identity: string;
  readonly ms: string;
  readonly eventId: string;
  readonly name: string;
  readonly path: string;
  readonly context: string;
  readonly traffic: string;
  readonly title: string;
  readonly referrer: string;
  readonly depth: string;
  readonly properties: string;
}

/** Properties with their length in front; what is too long is left out. */
function packedProperties(properties: string): string {
  const text = `convert_to(${properties}::text, 'UTF8')`;
  return `CASE WHEN ${properties} IS NULL THEN int4send(${NO_PROPERTIES})
    WHEN octet_length(${properties}::text) > ${HISTORY_PROPERTIES_BYTES_MAX} THEN int4send(0)
    ELSE int4send(octet_length(${text})) || ${text} END`;
}

/** An aggregate: events packed into one base64 text, in the order of a segment. */
export function packed(columns: PackedColumns): string {
  const {
    identity,
    ms,
    eventId,
    name,
    path,
    context,
    traffic,
    title,
    referrer,
    depth,
    properties,
  } = columns;
  return `encode(string_agg(int4send(${identity}) || int8send(${ms}) || uuid_send(${eventId})
    || int4send(${name}) || int4send(coalesce(${path}, 0)) || int4send(${context})
    || float8send(coalesce(${depth}, 'NaN'))
    || int4send(coalesce(${traffic}, 0)) || int4send(coalesce(${title}, 0))
    || int4send(coalesce(${referrer}, 0)) || ${packedProperties(properties)},
    ''::bytea ORDER BY ${identity}, ${ms}, ${eventId}), 'base64')`;
}

function eventsOf(pack: string): HistoryEvent[] {
  const bytes = Uint8Array.fromBase64(pack);
  const view = new DataView(bytes.buffer);
  const events: HistoryEvent[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = view.getInt32(at + 60);
    const textAt = at + PACKED_BYTES;
    const textEnd = textAt + Math.max(0, length);
    events.push({
      identity: view.getInt32(at),
      ms: Number(view.getBigInt64(at + 4)),
      id: bytes.subarray(at + 12, at + 12 + ID_BYTES),
      name: view.getInt32(at + 28),
      path: view.getInt32(at + 32),
      context: view.getInt32(at + 36),
      depth: view.getFloat64(at + 40),
      traffic: view.getInt32(at + 48),
      title: view.getInt32(at + 52),
      referrer: view.getInt32(at + 56),
      properties: length === NO_PROPERTIES ? null : bytes.subarray(textAt, textEnd),
    });
    at = textEnd;
  }
  return events;
}

const WRITTEN_COLUMNS = [
  ...SEGMENT_COLUMNS,
  ...SELDOM_COLUMNS,
  "ids",
  "propertied",
  "text_ends",
  "texts",
];
const INSERT = `
INSERT INTO history_segments (project_id, from_ms, to_ms, events, ${WRITTEN_COLUMNS.join(", ")})
VALUES ($1::int, $2::int8, $3::int8, $4::int, ${
  WRITTEN_COLUMNS.map((_, i) => `decode($${i + 5}::text, 'base64')`).join(", ")
})`;

async function insertSegment(tx: Sql, projectId: number, segment: Segment | null): Promise<void> {
  if (segment === null) return;
  const { fromMs, toMs, times, ids, propertied, textEnds, texts } = segment;
  const columns: Param[] = [
    ...SEGMENT_COLUMNS.map((name) => columnText(segment[name])),
    ...SELDOM_COLUMNS.map((name) => columnText(segment[name])),
    ids.toBase64(),
    columnText(propertied),
    columnText(textEnds),
    texts.toBase64(),
  ];
  await tx.query(INSERT, [projectId, fromMs, toMs, times.length, ...columns]);
}

type TakenSegment = StoredSegment & StoredSeldom & StoredTexts & { readonly ids: string };

const TAKE = `
DELETE FROM history_segments WHERE project_id = $1::int AND segment_id = $2::int8
RETURNING ${ENCODED_SEGMENT}, encode(ids, 'base64') AS ids, ${ENCODED_SELDOM}, ${ENCODED_TEXTS}`;

/** Takes a segment out of the table. */
async function takeSegment(tx: Sql, projectId: number, segmentId: number): Promise<Segment> {
  const [row] = await tx.query<TakenSegment>(TAKE, [projectId, segmentId]);
  const ids = Uint8Array.fromBase64(row!.ids);
  return { ...segmentColumns(row!), ...seldomColumns(row!), ids, ...segmentTexts(row!) };
}

interface SizedSegment extends Row {
  readonly segment_id: number;
  readonly part: number;
  readonly events: number;
  readonly text_bytes: number;
}

/** Whether two segments like this one could still be merged. */
function hasRoom({ events, text_bytes }: SizedSegment): boolean {
  return 2 * events <= SEGMENT_EVENTS_MAX && 2 * text_bytes <= SEGMENT_TEXT_BYTES_MAX;
}

/** The oldest segments of one tier that are together small enough; null where no tier is full. */
function mergeable(stored: readonly SizedSegment[]): number[] | null {
  const tierOf = ({ part, events }: SizedSegment) =>
    `${part} ${Math.floor(Math.log(events) / Math.log(SEGMENTS_MERGED))}`;
  for (const tier of Map.groupBy(stored.filter(hasRoom), tierOf).values()) {
    if (tier.length < SEGMENTS_MERGED) continue;
    let [events, textBytes] = [0, 0];
    const taken = tier.slice(0, SEGMENTS_MERGED).filter((segment) => {
      events += segment.events;
      textBytes += segment.text_bytes;
      return events <= SEGMENT_EVENTS_MAX && textBytes <= SEGMENT_TEXT_BYTES_MAX;
    });
    return taken.map(({ segment_id }) => segment_id);
  }
  return null;
}

/**
 * Merges segments until there are fewer than eight of about one size: a project of n events has
 * some eight times log8(n) of them, and each event is written log8(n) times at most.
 */
async function mergeTiers(tx: Sql, projectId: number): Promise<void> {
  for (;;) {
    const stored = await tx.query<SizedSegment>(
      `SELECT segment_id, ${partOf("from_ms")} AS part, events, octet_length(texts) AS text_bytes
      FROM history_segments
      WHERE project_id = $1::int ORDER BY segment_id`,
      [projectId],
    );
    const ids = mergeable(stored);
    if (ids === null) return;
    const segments: Segment[] = [];
    for (const id of ids) segments.push(await takeSegment(tx, projectId, id));
    await insertSegment(tx, projectId, await mergeSegments(segments));
  }
}

/**
 * Adds events to the histories of a project, which whoever calls this has locked.
 * @param packs what `packed` makes of the events of one part each
 */
export async function addToHistories(
  tx: Sql,
  projectId: number,
  packs: readonly string[],
): Promise<void> {
  for (const pack of packs) await insertSegment(tx, projectId, segmentOf(eventsOf(pack)));
  await mergeTiers(tx, projectId);
}

/** Empties the histories of a project. */
export async function clearHistories(tx: Sql, projectId: number): Promise<void> {
  await tx.query("DELETE FROM history_segments WHERE project_id = $1::int", [projectId]);
}

async function rewrite(tx: Sql, projectId: number, segmentId: number, keeps: Keeps): Promise<void> {
  const segment = await takeSegment(tx, projectId, segmentId);
  await insertSegment(tx, projectId, await mergeSegments([segment], keeps));
}

/** Takes everything before an instant out of the histories of a project. */
export async function cutHistories(tx: Sql, projectId: number, beforeMs: number): Promise<void> {
  await tx.query(
    "DELETE FROM history_segments WHERE project_id = $1::int AND to_ms < $2::int8",
    [projectId, beforeMs],
  );
  const crossing = await tx.query<{ segment_id: number }>(
    "SELECT segment_id FROM history_segments WHERE project_id = $1::int AND from_ms < $2::int8",
    [projectId, beforeMs],
  );
  for (const { segment_id } of crossing) {
    await rewrite(tx, projectId, segment_id, (_identity, ms) => ms >= beforeMs);
  }
}

/** Takes all that these identities did out of the histories of a project. */
export async function eraseFromHistories(
  tx: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
): Promise<void> {
  const stored = await tx.query<{ segment_id: number }>(
    "SELECT segment_id FROM history_segments WHERE project_id = $1::int",
    [projectId],
  );
  for (const { segment_id } of stored) {
    const [row] = await tx.query<{ identities: string }>(
      `SELECT encode(identities, 'base64') AS identities FROM history_segments
      WHERE project_id = $1::int AND segment_id = $2::int8`,
      [projectId, segment_id],
    );
    const column = columnOf(row!.identities) as Int32Array;
    if (!column.some((identity) => identities.has(identity))) continue;
    await rewrite(tx, projectId, segment_id, (identity) => !identities.has(identity));
  }
}
