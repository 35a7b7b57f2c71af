import { numberOf } from "../db/binary_rows.ts";
import type { Database } from "../db/sql.ts";
import { damageOf } from "../store/damage.ts";
import type { EventRow } from "../store/event_row.ts";
import { compareIds, ID_BYTES } from "../store/id_codec.ts";
import { journalEvents, waitingEvents } from "../store/journal_events.ts";
import { STORED_ROW, storedRow } from "../store/stored_journal.ts";
import { type Yield, yielding } from "../store/yielding.ts";
import {
  ARCHIVED_EVENTS_AIM,
  ARCHIVED_JSON_LENGTH_AIM,
  JOURNAL_ROWS_AT_ONCE,
} from "./archive_limits.ts";
import { type Damaged, refuseDamage } from "./damaged_blocks.ts";
import type { HeldSegments, PendingRow, ProjectSnapshot } from "./events_snapshot.ts";
import { eventText, type Sum } from "./figures.ts";
import {
  type DecodedBlock,
  readNextBlock,
  type SegmentPosition,
  UnreadableSegmentBlock,
} from "./stored_blocks.ts";

const UTF8 = new TextDecoder();

/** Events that are yielded together; other work may run before the next. */
const EVENTS_A_TURN = 64;

/** Whether an event comes after a position, in segment order. */
function isAfter(
  identity: number,
  ms: number,
  ids: Uint8Array,
  at: number,
  place: SegmentPosition,
) {
  if (identity !== place.identity) return identity > place.identity;
  if (ms !== place.ms) return ms > place.ms;
  return compareIds(ids, ID_BYTES * at, place.id, 0) > 0;
}

/** Yields the events of a block after a position, and the position of the last one. */
async function* blockEvents(
  { segmentId, block, runs, moments, ids, rowAt }: DecodedBlock,
  from: SegmentPosition | null,
  pause: Yield,
): AsyncGenerator<EventRow[], SegmentPosition> {
  const { identities, starts } = runs;
  let rows: EventRow[] = [];
  const isWhole = from === null || from.segmentId === segmentId;
  for (const [run, identity] of identities.entries()) {
    for (let at = starts[run]!; at < starts[run + 1]!; at++) {
      if (isWhole || isAfter(identity, moments[at]!, ids, at, from)) rows.push(rowAt(at));
      if (rows.length < EVENTS_A_TURN) continue;
      yield rows;
      rows = [];
      await pause();
    }
  }
  if (rows.length > 0) yield rows;
  const last = moments.length - 1;
  const id = ids.slice(ID_BYTES * last, ID_BYTES * (last + 1));
  return { segmentId, block, identity: identities.at(-1)!, ms: moments[last]!, id };
}

/** Yields the events of one segment, block by block. */
async function* segmentEvents(
  database: Database,
  { projectId, id: project }: ProjectSnapshot,
  origin: number,
  damaged: Damaged,
  pause: Yield,
): AsyncGenerator<EventRow[]> {
  for (let after: SegmentPosition | null = null;;) {
    const from: SegmentPosition | null = after;
    let read: DecodedBlock | null;
    try {
      read = await readNextBlock(database, projectId, origin, from, pause);
    } catch (error) {
      if (!(error instanceof UnreadableSegmentBlock)) throw error;
      damaged({ project, ...error.damage });
      if (error.resumeAfter === null) return;
      after = error.resumeAfter;
      continue;
    }
    if (read === null) return;
    after = yield* blockEvents(read, from, pause);
    if (read.isLast) return;
  }
}

const PENDING = `
SELECT ${STORED_ROW}, event_count::int8 FROM journal j
WHERE project_id = $1::int AND journal_id = $2::int8`;

/** Returns the events of a journal row; reports the row to `damaged` if it cannot be read. */
async function journalRow(
  project: string,
  journalId: number,
  eventCount: number,
  damaged: Damaged,
  read: () => Promise<EventRow[]> | EventRow[],
): Promise<EventRow[]> {
  try {
    return await read();
  } catch (error) {
    const why = damageOf(error);
    if (why === null) throw error;
    damaged({ project, place: `row ${journalId} of the journal`, events: eventCount, why });
    return [];
  }
}

/** Returns the events of a journal row that were in no segment at the snapshot. */
async function pendingEvents(
  database: Database,
  { projectId, id }: ProjectSnapshot,
  then: PendingRow,
): Promise<EventRow[]> {
  const [stored] = await database.binary(PENDING, [projectId, then.journal_id]);
  // All of the row's events have expired or were erased.
  if (stored === undefined) return [];
  const row = storedRow(stored);
  // Erasing events shifts positions in a block, which matters if only a part of it was projected.
  const isOther = numberOf(stored.at(-1)!) !== then.event_count || row.block.length !== then.bytes;
  if (isOther && then.projected_count > 0 && then.set_aside_ids === null) {
    throw new Error(`Somebody of ${id} was erased while their events were being read. Try again.`);
  }
  const { projected_count, set_aside_ids } = then;
  return waitingEvents({ ...row, projected_count, set_aside_ids });
}

/**
 * Yields every event of a project as it was at the snapshot, each once, without those erased since.
 * @param damaged called for each block that cannot be read: it may throw, or return to leave it out
 */
export async function* storedEvents(
  database: Database,
  project: ProjectSnapshot,
  held: HeldSegments,
  damaged: Damaged = refuseDamage,
): AsyncGenerator<EventRow[]> {
  const pause = yielding();
  for (const origin of project.segments) {
    held.assertHeld();
    yield* segmentEvents(database, project, origin, damaged, pause);
  }
  for (const row of project.pending) {
    held.assertHeld();
    const waiting = row.event_count - row.projected_count;
    yield await journalRow(
      project.id,
      row.journal_id,
      Math.max(waiting, row.set_aside_ids?.length ?? 0),
      damaged,
      () => pendingEvents(database, project, row),
    );
    await pause();
  }
}

/** Groups events into blocks of about ARCHIVED_EVENTS_AIM, and adds each event to the sum. */
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
SELECT ${STORED_ROW}, j.event_count::int8, p.public_id
FROM journal j JOIN projects p USING (project_id)
WHERE j.journal_id > $1::int8 ORDER BY j.journal_id LIMIT ${JOURNAL_ROWS_AT_ONCE}`;

/** Events of one row of the journal. */
interface JournalEvents {
  readonly journalId: number;
  /** The id of their project. */
  readonly id: string;
  readonly rows: readonly EventRow[];
}

/**
 * Yields the events stored after a journal row. Rows must be numbered in the order of their commits, as they are
 * in the embedded engine, or with a single writer.
 */
export async function* eventsSince(
  database: Database,
  journalId: number,
): AsyncGenerator<JournalEvents> {
  const pause = yielding();
  for (let last = journalId;;) {
    const stored = await database.binary(SINCE, [last]);
    for (const one of stored) {
      const row = storedRow(one);
      const [count, publicId] = one.slice(-2);
      const id = UTF8.decode(publicId);
      const read = () => journalEvents(row);
      last = row.journal_id;
      yield {
        journalId: last,
        id,
        rows: await journalRow(id, last, numberOf(count!), refuseDamage, read),
      };
      await pause();
    }
    if (stored.length < JOURNAL_ROWS_AT_ONCE) return;
  }
}
