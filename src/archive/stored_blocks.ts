import type { Database, Sql } from "../db/sql.ts";
import type { EventRow } from "../store/event_row.ts";
import { damageOf } from "../store/damage.ts";
import { ID_BYTES } from "../store/id_codec.ts";
import { COLUMNS } from "../store/segment_columns.ts";
import { blocksOf, type SegmentHead } from "../store/segment_head.ts";
import type { Runs, SegmentReader } from "../store/segment_reader.ts";
import { fetchBlocks, fetchHeadsById, type StoredHead } from "../store/stored_segments.ts";
import { readRowsInTurns } from "../store/whole_events.ts";
import type { Yield } from "../store/yielding.ts";
import type { DamagedBlock } from "./damaged_blocks.ts";

const READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";

/** Up to where a segment was read: the last event, in the order of segments. */
export interface Place {
  readonly segmentId: number;
  readonly block: number;
  readonly identity: number;
  readonly ms: number;
  readonly id: Uint8Array;
}

/** The events of one block of a segment. */
export interface ReadBlock {
  readonly segmentId: number;
  readonly block: number;
  readonly isLast: boolean;
  readonly runs: Runs;
  readonly moments: Float64Array;
  /** 16 bytes an event. */
  readonly ids: Uint8Array;
  readonly rowAt: (at: number) => EventRow;
}

/** A block cannot be read, or none of its segment. */
export class UnreadablePlace extends Error {
  override readonly name = "UnreadablePlace";
  constructor(
    readonly told: Omit<DamagedBlock, "project">,
    /** Where the rest of the segment begins; null: nothing is left of it. */
    readonly behind: Place | null,
    options: ErrorOptions,
  ) {
    super(told.why, options);
  }
}

/** What is thrown in the place of an error: the same, unless stored bytes are damaged. */
function meant(
  cause: unknown,
  told: Omit<DamagedBlock, "project" | "why">,
  behind: Place | null,
): unknown {
  const why = damageOf(cause);
  return why === null ? cause : new UnreadablePlace({ ...told, why }, behind, { cause });
}

/** What is thrown in the place of an error that a block brought about. */
function meantOfBlock(error: unknown, head: SegmentHead, segmentId: number, block: number) {
  const first = block * head.blockEvents;
  const events = Math.min(head.blockEvents, head.events - first);
  const identity = head.firstIdentities[block]!;
  const isLast = block + 1 === head.firstIdentities.length;
  const behind = { segmentId, block, identity, ms: -Infinity, id: new Uint8Array(ID_BYTES) };
  const told = { place: `block ${block} of segment ${segmentId}`, events };
  return meant(error, told, isLast ? null : behind);
}

const STANDING = `
SELECT segment_id, events FROM segments
WHERE project_id = $1::int AND (segment_id = $2::int8 OR origin_id = $2::int8)`;

/** A segment, or what stands in its place; null: nothing is left of it. */
async function standingSegment(
  tx: Sql,
  projectId: number,
  origin: number,
): Promise<StoredHead | null> {
  type Standing = { segment_id: number; events: number };
  const [standing] = await tx.query<Standing>(STANDING, [projectId, origin]);
  if (standing === undefined) return null;
  const { segment_id: segmentId, events } = standing;
  try {
    return (await fetchHeadsById(tx, projectId, [segmentId])).get(segmentId)!;
  } catch (error) {
    throw meant(error, { place: `segment ${segmentId}`, events }, null);
  }
}

interface FetchedBlock {
  readonly segmentId: number;
  readonly head: SegmentHead;
  readonly block: number;
  readonly reader: SegmentReader;
}

/** The next block of a segment, or of what stands in its place; null: nothing is left of it. */
async function fetchNext(
  tx: Sql,
  projectId: number,
  origin: number,
  after: Place | null,
): Promise<FetchedBlock | null> {
  const stored = await standingSegment(tx, projectId, origin);
  if (stored === null) return null;
  const { segmentId, head } = stored;
  const block = after === null ? 0 : after.segmentId === segmentId
    ? after.block + 1
    // It was written anew meanwhile: what was read may stand in other blocks now.
    : blocksOf(head, after.identity, after.identity).first;
  if (block >= head.firstIdentities.length) return null;
  const wanted = { ...stored, blocks: { first: block, end: block + 1 } };
  try {
    const [reader] = await fetchBlocks(tx, projectId, [wanted], COLUMNS);
    return { segmentId, head, block, reader: reader! };
  } catch (error) {
    throw meantOfBlock(error, head, segmentId, block);
  }
}

/**
 * The events of the next block of a segment behind a place, or of what stands in its place; null:
 * nothing is left of it. Throws UnreadablePlace.
 */
export async function readNextBlock(
  database: Database,
  projectId: number,
  origin: number,
  after: Place | null,
  pause: Yield,
): Promise<ReadBlock | null> {
  const fetched = await database.transaction(async (tx) => {
    await tx.script(READ_ONLY);
    return await fetchNext(tx, projectId, origin, after);
  });
  if (fetched === null) return null;
  const { segmentId, head, block, reader } = fetched;
  try {
    const rowAt = await readRowsInTurns(reader, projectId, pause);
    const moments = reader.moments();
    const isLast = block + 1 === head.firstIdentities.length;
    const ids = reader.ids(moments);
    return { segmentId, block, isLast, runs: reader.runs(), moments, ids, rowAt };
  } catch (error) {
    throw meantOfBlock(error, head, segmentId, block);
  }
}
