import { type Database, READ_SNAPSHOT, type Sql } from "../db/sql.ts";
import type { EventRow } from "../store/event_row.ts";
import { damageOf } from "../store/damage.ts";
import { ID_BYTES } from "../store/id_codec.ts";
import { COLUMNS } from "../store/segment_columns.ts";
import { blocksOf, type SegmentHead } from "../store/segment_head.ts";
import type { Runs, SegmentReader } from "../store/segment_reader.ts";
import { fetchBlocks, fetchHeadsById, type StoredHead } from "../store/stored_segments.ts";
import { readRows } from "../store/whole_events.ts";
import type { Yield } from "../store/yielding.ts";
import type { DamagedBlock } from "./damaged_blocks.ts";

/** How far a segment was read: the position of the last event read, in segment order. */
export interface SegmentPosition {
  readonly segmentId: number;
  readonly block: number;
  readonly identity: number;
  readonly ms: number;
  readonly id: Uint8Array;
}

/** The events of one block of a segment. */
export interface DecodedBlock {
  readonly segmentId: number;
  readonly block: number;
  readonly isLast: boolean;
  readonly runs: Runs;
  readonly moments: Float64Array;
  /** 16 bytes an event. */
  readonly ids: Uint8Array;
  readonly rowAt: (at: number) => EventRow;
}

/** A block of a segment cannot be read, or the whole segment cannot. */
export class UnreadableSegmentBlock extends Error {
  override readonly name = "UnreadableSegmentBlock";
  constructor(
    readonly damage: Omit<DamagedBlock, "project">,
    /** The position after which reading continues; null: no readable block follows. */
    readonly resumeAfter: SegmentPosition | null,
    options: ErrorOptions,
  ) {
    super(damage.why, options);
  }
}

/** Returns an UnreadableSegmentBlock if damaged bytes caused the error, else the error itself. */
function asDamageError(
  cause: unknown,
  damage: Omit<DamagedBlock, "project" | "why">,
  resumeAfter: SegmentPosition | null,
): unknown {
  const why = damageOf(cause);
  return why === null
    ? cause
    : new UnreadableSegmentBlock({ ...damage, why }, resumeAfter, { cause });
}

/** Returns what `asDamageError` returns, for an error while a block was read. */
function asBlockError(error: unknown, head: SegmentHead, segmentId: number, block: number) {
  const first = block * head.blockEvents;
  const events = Math.min(head.blockEvents, head.events - first);
  const identity = head.firstIdentities[block]!;
  const isLast = block + 1 === head.firstIdentities.length;
  const resumeAfter = { segmentId, block, identity, ms: -Infinity, id: new Uint8Array(ID_BYTES) };
  const damage = { place: `block ${block} of segment ${segmentId}`, events };
  return asDamageError(error, damage, isLast ? null : resumeAfter);
}

const CURRENT = `
SELECT segment_id, events FROM segments
WHERE project_id = $1::int AND (segment_id = $2::int8 OR origin_id = $2::int8)`;

/** Fetches the head of a segment, or of the segment that replaced it; null: neither exists any more. */
async function currentSegment(
  tx: Sql,
  projectId: number,
  origin: number,
): Promise<StoredHead | null> {
  type Current = { segment_id: number; events: number };
  const [current] = await tx.query<Current>(CURRENT, [projectId, origin]);
  if (current === undefined) return null;
  const { segment_id: segmentId, events } = current;
  try {
    return (await fetchHeadsById(tx, projectId, [segmentId])).get(segmentId)!;
  } catch (error) {
    throw asDamageError(error, { place: `segment ${segmentId}`, events }, null);
  }
}

interface FetchedBlock {
  readonly segmentId: number;
  readonly head: SegmentHead;
  readonly block: number;
  readonly reader: SegmentReader;
}

/** Fetches the next block of a segment, or of the segment that replaced it; null: no block is left. */
async function fetchNext(
  tx: Sql,
  projectId: number,
  origin: number,
  after: SegmentPosition | null,
): Promise<FetchedBlock | null> {
  const stored = await currentSegment(tx, projectId, origin);
  if (stored === null) return null;
  const { segmentId, head } = stored;
  const block = after === null ? 0 : after.segmentId === segmentId
    ? after.block + 1
    // The segment was rewritten meanwhile, so events that were read already may be in other blocks now.
    : blocksOf(head, after.identity, after.identity).first;
  if (block >= head.firstIdentities.length) return null;
  const wanted = { ...stored, blocks: { first: block, end: block + 1 } };
  try {
    const [reader] = await fetchBlocks(tx, projectId, [wanted], COLUMNS);
    return { segmentId, head, block, reader: reader! };
  } catch (error) {
    throw asBlockError(error, head, segmentId, block);
  }
}

/**
 * Reads the first block after a position in a segment, or in the segment that replaced it; null: no
 * block is left. Throws UnreadableSegmentBlock.
 */
export async function readNextBlock(
  database: Database,
  projectId: number,
  origin: number,
  after: SegmentPosition | null,
  pause: Yield,
): Promise<DecodedBlock | null> {
  const next = (sql: Sql) => fetchNext(sql, projectId, origin, after);
  const fetched = await database.transaction(next, undefined, () => [READ_SNAPSHOT]);
  if (fetched === null) return null;
  const { segmentId, head, block, reader } = fetched;
  try {
    const moments = reader.moments();
    const ids = reader.ids(moments);
    const rowAt = await readRows(reader, projectId, pause, moments, ids);
    const isLast = block + 1 === head.firstIdentities.length;
    return { segmentId, block, isLast, runs: reader.runs(), moments, ids, rowAt };
  } catch (error) {
    throw asBlockError(error, head, segmentId, block);
  }
}
