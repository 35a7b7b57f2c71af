import type { Database, Sql } from "../db/sql.ts";
import type { EventRow } from "../store/event_row.ts";
import { compareIds, ID_BYTES } from "../store/id_codec.ts";
import { journalEvents, waitingEvents } from "../store/journal_block.ts";
import { COLUMNS } from "../store/segment_columns.ts";
import { blocksOf } from "../store/segment_head.ts";
import type { SegmentReader } from "../store/segment_reader.ts";
import { fetchBlocks, fetchHeadsById } from "../store/stored_segments.ts";
import { readRowsInTurns } from "../store/whole_events.ts";
import { type Yield, yielding } from "../store/yielding.ts";
import {
  ARCHIVED_EVENTS_AIM,
  ARCHIVED_JSON_LENGTH_AIM,
  JOURNAL_ROWS_AT_ONCE,
} from "./archive_limits.ts";
import type { HeldSegments, PendingRow, ProjectSnapshot } from "./events_snapshot.ts";
import { eventText, type Sum } from "./figures.ts";

const READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
/** Events that are handed on together, between which others may have their turn. */
const EVENTS_A_TURN = 64;

/** Up to where a segment was read: the last event, in the order of segments. */
interface Place {
  readonly segmentId: number;
  readonly block: number;
  readonly identity: number;
  readonly ms: number;
  readonly id: Uint8Array;
}

interface ReadBlock {
  readonly segmentId: number;
  readonly block: number;
  readonly isLast: boolean;
  readonly reader: SegmentReader;
}

const STANDING = `
SELECT segment_id FROM segments
WHERE project_id = $1::int AND (segment_id = $2::int8 OR origin_id = $2::int8)`;

/** The next block of a segment, or of what stands in its place; null: nothing is left of it. */
async function nextBlock(
  tx: Sql,
  projectId: number,
  origin: number,
  after: Place | null,
): Promise<ReadBlock | null> {
  const [standing] = await tx.query<{ segment_id: number }>(STANDING, [projectId, origin]);
  if (standing === undefined) return null;
  const { segment_id: segmentId } = standing;
  const stored = (await fetchHeadsById(tx, projectId, [segmentId])).get(segmentId)!;
  const { head } = stored;
  const block = after === null ? 0 : after.segmentId === segmentId
    ? after.block + 1
    // It was written anew meanwhile: what was read may stand in other blocks now.
    : blocksOf(head, after.identity, after.identity).first;
  const blocks = head.firstIdentities.length;
  if (block >= blocks) return null;
  const wanted = { ...stored, blocks: { first: block, end: block + 1 } };
  const [reader] = await fetchBlocks(tx, projectId, [wanted], COLUMNS);
  return { segmentId, block, isLast: block + 1 === blocks, reader: reader! };
}

function readBlock(
  database: Database,
  projectId: number,
  origin: number,
  after: Place | null,
): Promise<ReadBlock | null> {
  return database.transaction(async (tx) => {
    await tx.script(READ_ONLY);
    return await nextBlock(tx, projectId, origin, after);
  });
}

/** Whether an event comes behind a place, in the order of segments. */
function isBehind(identity: number, ms: number, ids: Uint8Array, at: number, place: Place) {
  if (identity !== place.identity) return identity > place.identity;
  if (ms !== place.ms) return ms > place.ms;
  return compareIds(ids, ID_BYTES * at, place.id, 0) > 0;
}

/** The events of one segment that come behind a place, block by block. */
async function* segmentEvents(
  database: Database,
  { projectId }: ProjectSnapshot,
  origin: number,
  pause: Yield,
): AsyncGenerator<EventRow[]> {
  for (let after: Place | null = null;;) {
    const from: Place | null = after;
    const read = await readBlock(database, projectId, origin, from);
    if (read === null) return;
    const { reader, segmentId, block } = read;
    const rowAt = await readRowsInTurns(reader, projectId, pause);
    const moments = reader.moments();
    const ids = reader.ids(moments);
    const { identities, starts } = reader.runs();
    let rows: EventRow[] = [];
    const isWhole = from === null || from.segmentId === segmentId;
    for (const [run, identity] of identities.entries()) {
      for (let at = starts[run]!; at < starts[run + 1]!; at++) {
        if (isWhole || isBehind(identity, moments[at]!, ids, at, from)) rows.push(rowAt(at));
        if (rows.length < EVENTS_A_TURN) continue;
        yield rows;
        rows = [];
        await pause();
      }
    }
    if (rows.length > 0) yield rows;
    if (read.isLast) return;
    const last = reader.events - 1;
    const id = ids.slice(ID_BYTES * last, ID_BYTES * (last + 1));
    after = { segmentId, block, identity: identities.at(-1)!, ms: moments[last]!, id };
  }
}

const PENDING = `
SELECT block, known_ids, event_count, octet_length(block) AS bytes FROM journal
WHERE project_id = $1::int AND journal_id = $2::int8`;

interface JournalRow extends Record<string, unknown> {
  readonly block: Uint8Array;
  readonly known_ids: string[] | null;
  readonly event_count: number;
  readonly bytes: number;
}

/** The events of a journal row that were in no segment then. */
async function pendingEvents(
  database: Database,
  { projectId, id }: ProjectSnapshot,
  then: PendingRow,
): Promise<EventRow[]> {
  const [row] = await database.query<JournalRow>(PENDING, [projectId, then.journal_id]);
  // Expired, or erased.
  if (row === undefined) return [];
  // Places in a block shift when somebody leaves it; they matter where a part of it was projected.
  const isOther = row.event_count !== then.event_count || row.bytes !== then.bytes;
  if (isOther && then.projected_count > 0 && then.set_aside_ids === null) {
    throw new Error(`Somebody of ${id} was erased while their events were being read. Try again.`);
  }
  return waitingEvents({ ...then, ...row, project_id: projectId });
}

/** Every event of a project as it was at the snapshot, each once; what is erased meanwhile is left out. */
export async function* storedEvents(
  database: Database,
  project: ProjectSnapshot,
  held: HeldSegments,
): AsyncGenerator<EventRow[]> {
  const pause = yielding();
  for (const origin of project.segments) {
    held.assertHeld();
    yield* segmentEvents(database, project, origin, pause);
  }
  for (const row of project.pending) {
    held.assertHeld();
    yield await pendingEvents(database, project, row);
    await pause();
  }
}

/** Gathers events, and adds each to the sum: so many at once as are held in memory. */
export async function* gathered(
  events: AsyncIterable<readonly EventRow[]>,
  sum: Sum,
): AsyncGenerator<EventRow[]> {
  let rows: EventRow[] = [];
  let length = 0;
  for await (const some of events) {
    for (const row of some) {
      const text = eventText(row);
      sum.add(text);
      rows.push(row);
      length += text.length;
      if (rows.length < ARCHIVED_EVENTS_AIM && length < ARCHIVED_JSON_LENGTH_AIM) continue;
      yield rows;
      rows = [];
      length = 0;
    }
  }
  if (rows.length > 0) yield rows;
}

const SINCE = `
SELECT j.project_id, p.public_id AS id, j.journal_id, j.block, j.known_ids
FROM journal j JOIN projects p USING (project_id)
WHERE j.journal_id > $1::int8 ORDER BY j.journal_id LIMIT ${JOURNAL_ROWS_AT_ONCE}`;

/** Events of one row of the journal. */
export interface JournalEvents {
  readonly journalId: number;
  /** Of their project. */
  readonly id: string;
  readonly rows: readonly EventRow[];
}

/**
 * The events that were stored behind a row of the journal, where rows are numbered in the order in which
 * they are committed: on the embedded engine, or where one alone stores.
 */
export async function* eventsSince(
  database: Database,
  journalId: number,
): AsyncGenerator<JournalEvents> {
  const pause = yielding();
  type Row = JournalRow & { project_id: number; id: string; journal_id: number };
  for (let last = journalId;;) {
    const rows = await database.query<Row>(SINCE, [last]);
    for (const row of rows) {
      yield { journalId: row.journal_id, id: row.id, rows: journalEvents(row) };
      await pause();
    }
    if (rows.length < JOURNAL_ROWS_AT_ONCE) return;
    last = rows.at(-1)!.journal_id;
  }
}
