/**
 * A journal block: events of one flush and one project, as `journal.block` holds them.
 *
 * Layout: one byte for the version, four for the CRC-32 of all that follows (zstd does not notice that its
 * own checksum is missing from a truncated frame), four for the number of events. Then the last ten bytes of
 * each id, which are random, uncompressed. Then a zstd frame: the first six bytes of the ids as byte planes
 * (in time-ordered ids they hold the time, and repeat), and the other columns as JSON.
 *
 * A column is written as its runs of equal values, since neighbours are of one request. A column with one
 * value throughout states it once; a column that is null throughout is left out. For 400 typical events that
 * is 34 bytes each.
 */
import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { EVENT_COLUMNS, type EventRow } from "./event_row.ts";
import { ID_BYTES, uuidBytes } from "./id_codec.ts";
import { zstdContent, zstdFrame } from "./zstd_frame.ts";

const VERSION = 2;
const CRC_AT = 1;
const COUNT_AT = 5;
/** The bytes of the head, by whose checksum the same content is known again. */
export const BLOCK_HEAD_BYTES = 9;
/** The leading bytes of a time-ordered id (version 7) hold its time; the others are random. */
const ID_HEAD_BYTES = 6;
const ID_TAIL_BYTES = ID_BYTES - ID_HEAD_BYTES;
/** A UTF-16 unit takes at most three bytes in UTF-8. */
const UNIT_BYTES_MAX = 3;
/** More than any real block has. Blocks of an archive are foreign data, which must not exhaust memory. */
const CONTENT_BYTES_MAX = 2 ** 28;

export type BlockColumn = Exclude<keyof EventRow, "project_id" | "event_id">;
export type BlockValue = EventRow[BlockColumn];
/** The value and the length of each run; no lengths: each run is one event. */
type Runs = readonly [values: readonly BlockValue[], lengths: readonly number[]];
/** `Runs` with each distinct value listed once; runs hold its place in the list. */
type Repeated = readonly [
  distinct: readonly BlockValue[],
  places: readonly number[],
  lengths: readonly number[],
];

interface Columns {
  /** Columns with the same value for every event. */
  readonly same: Partial<Record<BlockColumn, BlockValue>>;
  readonly runs: Partial<Record<BlockColumn, Runs>>;
  readonly repeated: Partial<Record<BlockColumn, Repeated>>;
}

/** In the order of `valuesOf`. */
export const BLOCK_COLUMNS = EVENT_COLUMNS.filter((name) =>
  name !== "project_id" && name !== "event_id"
);
/** Columns whose values recur in other requests. */
const REPEATED: ReadonlySet<BlockColumn> = new Set([
  "name",
  "host",
  "path",
  "referrer",
  "title",
  "selector",
]);

/** Thrown if a block is damaged, or was written by a newer program. */
export class UnreadableBlock extends Error {
  override readonly name = "UnreadableBlock";
}

/** Returns a row's values in the order of `BLOCK_COLUMNS`, one by one: a loop over the names takes ten times as long. */
function valuesOf(row: EventRow): BlockValue[] {
  return [
    row.occurred_at,
    row.received_at,
    row.clock,
    row.name,
    row.anonymous_id,
    row.user_id,
    row.session_id,
    row.visitor_hash,
    row.ip,
    row.located,
    row.country,
    row.region,
    row.city,
    row.host,
    row.path,
    row.url_rest,
    row.url,
    row.referrer,
    row.title,
    row.utm_source,
    row.utm_medium,
    row.utm_campaign,
    row.utm_term,
    row.utm_content,
    row.click_id_kind,
    row.browser,
    row.os,
    row.device,
    row.bot,
    row.in_session,
    row.interactive,
    row.viewport_width,
    row.viewport_height,
    row.screen_width,
    row.screen_height,
    row.locale,
    row.timezone,
    row.pointer_x,
    row.pointer_y,
    row.document_width,
    row.document_height,
    row.depth_px,
    row.selector,
    row.fixed,
    row.rage,
    row.dead,
    row.properties,
    row.extra,
    row.sent_at,
  ];
}

/** The runs of a column while they are gathered. */
interface Gathered {
  readonly values: BlockValue[];
  /** The first event of each run. */
  readonly starts: number[];
}

/** Returns the runs of each column; null for a column that is null throughout. */
function gather(rows: readonly EventRow[]): (Gathered | null)[] {
  const gathered = new Array<Gathered | null>(BLOCK_COLUMNS.length).fill(null);
  const last = new Array<BlockValue>(BLOCK_COLUMNS.length).fill(null);
  for (let i = 0; i < rows.length; i++) {
    const values = valuesOf(rows[i]!);
    for (let c = 0; c < last.length; c++) {
      const value = values[c]!;
      if (value === last[c]) continue;
      last[c] = value;
      const column = gathered[c] ??= i === 0
        ? { values: [], starts: [] }
        : { values: [null], starts: [0] };
      column.values.push(value);
      column.starts.push(i);
    }
  }
  return gathered;
}

function columnsOf(rows: readonly EventRow[]): Columns {
  const columns: Columns = { same: {}, runs: {}, repeated: {} };
  gather(rows).forEach((gathered, c) => {
    if (gathered === null) return;
    const column = BLOCK_COLUMNS[c]!;
    const { values, starts } = gathered;
    if (values.length === 1) {
      columns.same[column] = values[0]!;
      return;
    }
    const lengths = values.length === rows.length
      ? []
      : starts.map((start, i) => (starts[i + 1] ?? rows.length) - start);
    const repeated = REPEATED.has(column) ? repeatedValues(values) : null;
    if (repeated === null) columns.runs[column] = [values, lengths];
    else columns.repeated[column] = [...repeated, lengths];
  });
  return columns;
}

/** Returns the distinct values, and the place of each value among them; null: over half are distinct. */
function repeatedValues(
  values: readonly BlockValue[],
): [distinct: BlockValue[], places: number[]] | null {
  const places = new Map<BlockValue, number>();
  const placeOf = new Array<number>(values.length);
  for (let i = 0; i < values.length; i++) {
    let place = places.get(values[i]!);
    if (place === undefined) {
      if (2 * places.size > values.length) return null;
      place = places.size;
      places.set(values[i]!, place);
    }
    placeOf[i] = place;
  }
  return [[...places.keys()], placeOf];
}

/** The largest buffer that is kept between calls; a larger one is allocated for one call. */
const KEPT_BYTES_MAX = 1024 * 1024;
let kept = new Uint8Array(0);

/**
 * Returns a buffer of at least `bytes` bytes, which may hold old content. It is valid until the next call, so
 * the caller must not await anything while it uses it. Reuse saves allocating and clearing.
 */
function workspace(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes > KEPT_BYTES_MAX) return new Uint8Array(bytes);
  if (kept.length < bytes) kept = new Uint8Array(bytes);
  return kept;
}

/** Encodes rows of one project, whose ids must be UUIDs; `project_id` is left out. */
export function encodeBlock(rows: readonly EventRow[]): Uint8Array<ArrayBuffer> {
  const { length: count } = rows;
  const ids = uuidBytes(rows.map(({ event_id }) => event_id));
  const json = JSON.stringify(columnsOf(rows));
  const content = workspace(ID_HEAD_BYTES * count + UNIT_BYTES_MAX * json.length);
  for (let p = 0; p < ID_HEAD_BYTES; p++) {
    for (let i = 0; i < count; i++) content[p * count + i] = ids[ID_BYTES * i + p]!;
  }
  const { written } = new TextEncoder().encodeInto(json, content.subarray(ID_HEAD_BYTES * count));
  const frame = zstdFrame(content.subarray(0, ID_HEAD_BYTES * count + written));
  const block = new Uint8Array(BLOCK_HEAD_BYTES + ID_TAIL_BYTES * count + frame.length);
  let at = BLOCK_HEAD_BYTES;
  for (let id = 0; id < ids.length; id += ID_BYTES) {
    for (let p = ID_HEAD_BYTES; p < ID_BYTES; p++) block[at++] = ids[id + p]!;
  }
  block.set(frame, at);
  const head = new DataView(block.buffer);
  head.setUint8(0, VERSION);
  head.setUint32(COUNT_AT, count);
  head.setUint32(CRC_AT, crc32(block.subarray(COUNT_AT)));
  return block;
}

/** Returns the earliest and latest `occurred_at` of at least one row, in epoch milliseconds. */
export function blockSpan(rows: readonly EventRow[]): { fromMs: number; toMs: number } {
  let fromMs = Infinity;
  let toMs = -Infinity;
  let [first, last] = ["", ""];
  for (const { occurred_at } of rows) {
    // Texts of equal length sort like their times; parsing one would take 0.1 µs.
    const isOneLength = occurred_at.length === first.length && first.length === last.length;
    if (isOneLength && occurred_at >= first && occurred_at <= last) continue;
    const ms = Date.parse(occurred_at);
    if (ms < fromMs) [fromMs, first] = [ms, occurred_at];
    if (ms > toMs) [toMs, last] = [ms, occurred_at];
  }
  return { fromMs, toMs };
}

/** Returns the number of events that the head of a block states. */
export function eventsInBlock({ buffer, byteOffset }: Uint8Array): number {
  return new DataView(buffer, byteOffset).getUint32(COUNT_AT);
}

/** About twice what a block of 500 typical events holds; larger ones get memory of their own. */
const CONTENT_BYTES_AIM = 256 * 1024;

/** Decompresses the content of a block, valid until the next use of the workspace. */
function decompressed(frame: Uint8Array): Uint8Array {
  try {
    return zstdContent(frame, workspace(CONTENT_BYTES_AIM), CONTENT_BYTES_MAX);
  } catch (cause) {
    throw new UnreadableBlock("A journal block cannot be decompressed", { cause });
  }
}

/** Checks and decompresses a block, and puts its ids together. Throws UnreadableBlock. */
export function contentOf(
  block: Uint8Array,
): { readonly ids: Uint8Array; readonly columns: Columns; readonly jsonLength: number } {
  const [version] = block;
  if (version !== undefined && version !== VERSION) {
    throw new UnreadableBlock(
      `A journal block of version ${version}; this program reads ${VERSION}`,
    );
  }
  const head = new DataView(block.buffer, block.byteOffset, block.byteLength);
  if (
    block.length <= BLOCK_HEAD_BYTES || head.getUint32(CRC_AT) !== crc32(block.subarray(COUNT_AT))
  ) {
    throw new UnreadableBlock("A journal block is damaged");
  }
  const count = head.getUint32(COUNT_AT);
  const frameAt = BLOCK_HEAD_BYTES + ID_TAIL_BYTES * count;
  const content = frameAt < block.length ? decompressed(block.subarray(frameAt)) : null;
  if (content === null || content.length < ID_HEAD_BYTES * count) {
    throw new UnreadableBlock("A journal block has fewer events than it states");
  }
  const ids = new Uint8Array(ID_BYTES * count);
  for (let i = 0; i < count; i++) {
    for (let p = 0; p < ID_HEAD_BYTES; p++) ids[ID_BYTES * i + p] = content[p * count + i]!;
    const tailAt = BLOCK_HEAD_BYTES + ID_TAIL_BYTES * i;
    const idTailAt = ID_BYTES * i + ID_HEAD_BYTES;
    for (let p = 0; p < ID_TAIL_BYTES; p++) ids[idTailAt + p] = block[tailAt + p]!;
  }
  const { buffer, byteOffset, length } = content.subarray(ID_HEAD_BYTES * count);
  const json = Buffer.from(buffer, byteOffset, length).toString();
  try {
    return { ids, columns: JSON.parse(json) as Columns, jsonLength: json.length };
  } catch (cause) {
    throw new UnreadableBlock("The columns of a journal block are not JSON", { cause });
  }
}
