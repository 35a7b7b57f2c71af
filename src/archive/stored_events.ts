import type { Database } from "../db/sql.ts";
import { damageOf } from "../store/damage.ts";
import type { EventRow } from "../store/event_row.ts";
import { compareIds, ID_BYTES } from "../store/id_codec.ts";
import { journalEvents, waitingEvents } from "../store/journal_block.ts";
import { type Yield, yielding } from "../store/yielding.ts";
import {
  ARCHIVED_EVENTS_AIM,
  ARCHIVED_JSON_LENGTH_AIM,
  JOURNAL_ROWS_AT_ONCE,
} from "./archive_limits.ts";
import { type Damaged, refuseDamage } from "./damaged_blocks.ts";
import type { HeldSegments, PendingRow, ProjectSnapshot } from "./events_snapshot.ts";
import { eventText, type Sum } from "./figures.ts";
import { type Place, type ReadBlock, readNextBlock, UnreadablePlace } from "./stored_blocks.ts";

/** Events that are handed on together, between which others may have their turn. */
const EVENTS_A_TURN = 64;

/** Whether an event comes behind a place, in the order of segments. */
function isBehind(identity: number, ms: number, ids: Uint8Array, at: number, place: Place) {
  if (identity !== place.identity) return identity > place.identity;
  if (ms !== place.ms) return ms > place.ms;
  return compareIds(ids, ID_BYTES * at, place.id, 0) > 0;
}

/** The events of a block that come behind a place, and the place of its last one. */
async function* blockEvents(
  { segmentId, block, runs, moments, ids, rowAt }: ReadBlock,
  from: Place | null,
  pause: Yield,
): AsyncGenerator<EventRow[], Place> {
  const { identities, starts } = runs;
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
  const last = moments.length - 1;
  const id = ids.slice(ID_BYTES * last, ID_BYTES * (last + 1));
  return { segmentId, block, identity: identities.at(-1)!, ms: moments[last]!, id };
}

/** The events of one segment, block by block. */
async function* segmentEvents(
  database: Database,
  { projectId, id: project }: ProjectSnapshot,
  origin: number,
  damaged: Damaged,
  pause: Yield,
): AsyncGenerator<EventRow[]> {
  for (let after: Place | null = null;;) {
    const from: Place | null = after;
    let read: ReadBlock | null;
    try {
      read = await readNextBlock(database, projectId, origin, from, pause);
    } catch (error) {
      if (!(error instanceof UnreadablePlace)) throw error;
      damaged({ project, ...error.told });
      if (error.behind === null) return;
      after = error.behind;
      continue;
    }
    if (read === null) return;
    after = yield* blockEvents(read, from, pause);
    if (read.isLast) return;
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

/** The events of a row of the journal; where it cannot be read, that is told. */
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

/**
 * Every event of a project as it was at the snapshot, each once; what is erased meanwhile is left out.
 * @param damaged told of what cannot be read: nothing is left out where it throws
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
SELECT j.project_id, p.public_id AS id, j.journal_id, j.event_count, j.block, j.known_ids
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
      const { id, journal_id: journalId, event_count } = row;
      const read = () => journalEvents(row);
      yield {
        journalId,
        id,
        rows: await journalRow(id, journalId, event_count, refuseDamage, read),
      };
      await pause();
    }
    if (rows.length < JOURNAL_ROWS_AT_ONCE) return;
    last = rows.at(-1)!.journal_id;
  }
}
