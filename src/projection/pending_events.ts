import { keyedRow } from "../db/keyed_rows.ts";
import { arrayLiteral, arrayLiterals, exists, isOneOf, type Sql } from "../db/sql.ts";
import { EventColumns } from "../store/event_columns.ts";
import { ID_BYTES, uuidOf } from "../store/id_codec.ts";
import { UnreadableBlock } from "../store/journal_block.ts";
import { decodeColumns } from "../store/journal_events.ts";
import { STORED_ROW, storedRow } from "../store/stored_journal.ts";
import { blockTexts } from "../store/text_count.ts";
import { STALE_PROJECTS } from "./projected_project.ts";
import {
  PROJECTION_BLOCK_BYTES_AIM,
  PROJECTION_ROWS_MAX,
  PROJECTION_TEXT_CHARACTERS_AIM,
  SET_ASIDE_MS,
} from "./projection_limits.ts";

/** An event and its place in its journal row, for setting it aside if it fails alone. */
export interface PlacedEvent {
  readonly journalId: number;
  readonly eventId: string;
  /** How many events of the row precede it; -1: it is already set aside. */
  readonly place: number;
  /** Whether it is the last event of the row. */
  readonly isLast: boolean;
}

/** A journal row whose events are projected up to a place. */
interface TakenRow {
  readonly journalId: number;
  readonly upTo: number;
  /** Whether that is the row's end. */
  readonly isWhole: boolean;
}

interface PendingEvents {
  readonly columns: EventColumns;
  readonly first: PlacedEvent | null;
  readonly taken: readonly TakenRow[];
  /** Set if the only event is one that was set aside. */
  readonly aside: PlacedEvent | null;
  /** Rows that are damaged or of a later version, which are set aside whole. */
  readonly unreadable: readonly number[];
}

// The oldest rows that together hold at least this many events.
const OLDEST = `
SELECT ${STORED_ROW} FROM (
  SELECT journal_id, sum(event_count) OVER (ORDER BY journal_id) - event_count AS before,
    sum(bytes) OVER (ORDER BY journal_id) - bytes AS bytes_before
  FROM (
    SELECT journal_id, event_count, octet_length(block) AS bytes FROM journal
    WHERE project_id = $1::int AND projected_at IS NULL
    ORDER BY journal_id LIMIT ${PROJECTION_ROWS_MAX}) AS pending
) AS o CROSS JOIN ${keyedRow("journal v", "v.journal_id = o.journal_id", "$1::int")} AS j
WHERE o.before < $2::int AND o.bytes_before < ${PROJECTION_BLOCK_BYTES_AIM} ORDER BY j.journal_id`;

// One event that was set aside, alone: if it fails again, no other event is affected.
const ASIDE = `
SELECT ${STORED_ROW} FROM journal j
WHERE project_id = $1::int AND set_aside_until < now()
ORDER BY set_aside_until, journal_id LIMIT 1`;

// This version of the program may be able to read rows that an earlier one could not.
const WAIT_AGAIN = `
UPDATE journal SET projected_at = NULL, set_aside_until = NULL
WHERE project_id = $1::int AND journal_id = $2::int8`;

/** Takes one set-aside event that is due, or none. */
export async function asideEvent(tx: Sql, projectId: number): Promise<PendingEvents> {
  const columns = new EventColumns(projectId);
  const nothing = { columns, first: null, taken: [], aside: null, unreadable: [] };
  const [due] = await tx.binary(ASIDE, [projectId]);
  if (due === undefined) return nothing;
  const row = storedRow(due);
  if (row.set_aside_ids === null) {
    await tx.query(WAIT_AGAIN, [projectId, row.journal_id]);
    return nothing;
  }
  const eventId = row.set_aside_ids[0]!;
  const block = readable(() => decodeColumns(row.block));
  if (block === null) return { ...nothing, unreadable: [row.journal_id] };
  const isIt = (place: number) => uuidOf(block.ids, ID_BYTES * place) === eventId;
  columns.add(block, Int32Array.from(Array(block.events).keys().filter(isIt)));
  const aside = { journalId: row.journal_id, eventId, place: -1, isLast: false };
  return { ...nothing, first: aside, aside };
}

// Rows are looked up by their key, and their place in the ascending list by halving it: joined with it, all rows of the
// project may be read.
const PLACE = "width_bucket(journal_id, (SELECT $2::text::int8[]))";
const TAKEN = `
UPDATE journal SET projected_count = (SELECT $3::text::int[])[${PLACE}],
  projected_at = CASE WHEN (SELECT $4::text::bool[])[${PLACE}] THEN now() END
WHERE project_id = (SELECT $1::int) AND ${isOneOf("journal_id", "$2::text::int8[]")}`;

/** Returns the result of `read`; null: it threw UnreadableBlock. */
export function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableBlock) return null;
    throw error;
  }
}

/** Takes the oldest pending events. */
export async function pendingEvents(
  tx: Sql,
  projectId: number,
  eventsMax: number,
): Promise<PendingEvents> {
  const oldest = (await tx.binary(OLDEST, [projectId, eventsMax])).map(storedRow);
  const columns = new EventColumns(projectId);
  const taken: TakenRow[] = [];
  const unreadable: number[] = [];
  let first: PlacedEvent | null = null;
  let [events, characters] = [0, 0];
  const isFull = () => events >= eventsMax || characters >= PROJECTION_TEXT_CHARACTERS_AIM;
  for (const journalRow of oldest) {
    const { journal_id, known_ids, projected_count } = journalRow;
    const block = readable(() => decodeColumns(journalRow.block));
    if (block === null) {
      unreadable.push(journal_id);
      continue;
    }
    const known = new Set(known_ids);
    const { events: end } = block;
    const idAt = (at: number) => uuidOf(block.ids, ID_BYTES * at);
    const texts = blockTexts(block);
    const places = new Int32Array(end - projected_count);
    let length = 0;
    let place = projected_count;
    // Most blocks fit in as a whole. Counting texts event by event took 4 % of the projection's thread.
    const total = projected_count > 0 || known.size > 0 ? Infinity : texts.total();
    const fits = events + end <= eventsMax && characters + total < PROJECTION_TEXT_CHARACTERS_AIM;
    for (; place < end && (fits || !isFull()); place++) {
      if (known.size > 0 && known.has(idAt(place))) continue;
      first ??= { journalId: journal_id, eventId: idAt(place), place, isLast: place + 1 === end };
      places[length++] = place;
      if (fits) continue;
      events++;
      characters += texts.add(place);
    }
    if (fits) [events, characters] = [events + length, characters + total];
    columns.add(block, places.subarray(0, length));
    taken.push({ journalId: journal_id, upTo: place, isWhole: place === end });
    if (isFull()) break;
  }
  return { columns, first, taken, aside: null, unreadable };
}

/** Marks events as projected, in the transaction that stores the result. */
export async function markProjected(
  tx: Sql,
  projectId: number,
  { taken, aside, unreadable }: PendingEvents,
): Promise<void> {
  if (unreadable.length > 0) {
    await tx.query(
      `UPDATE journal SET projected_at = now(),
        set_aside_until = now() + make_interval(secs => ${SET_ASIDE_MS / 1000})
      WHERE project_id = (SELECT $1::int) AND ${isOneOf("journal_id", "$2::text::int8[]")}`,
      [projectId, arrayLiteral(unreadable)],
    );
  }
  if (aside !== null) {
    await tx.query(
      `UPDATE journal SET set_aside_ids = nullif(array_remove(set_aside_ids, $3::text::uuid), '{}'),
        set_aside_until = CASE WHEN cardinality(set_aside_ids) > 1 THEN set_aside_until END
      WHERE project_id = $1::int AND journal_id = $2::int8`,
      [projectId, aside.journalId, aside.eventId],
    );
  }
  if (taken.length === 0) return;
  await tx.query(TAKEN, [projectId, ...arrayLiterals(["journalId", "upTo", "isWhole"], taken)]);
}

// An event that is already set aside moves to the end of its row's list.
const SET_ASIDE = `
UPDATE journal SET
  set_aside_ids = array_append(array_remove(set_aside_ids, $3::text::uuid), $3::text::uuid),
  set_aside_until = now() + make_interval(secs => ${SET_ASIDE_MS / 1000}),
  projected_count = greatest(projected_count, $4::int + 1),
  projected_at = CASE WHEN $5::bool THEN now() ELSE projected_at END
WHERE project_id = $1::int AND journal_id = $2::int8
  AND (projected_count <= $4::int OR set_aside_ids[1] = $3::text::uuid)
RETURNING journal_id`;

/** Sets an event aside for a while, so that later ones are projected. @returns whether it was found */
export async function setAside(tx: Sql, projectId: number, event: PlacedEvent): Promise<boolean> {
  const { journalId, eventId, place, isLast } = event;
  const rows = await tx.query(SET_ASIDE, [projectId, journalId, eventId, place, isLast]);
  return rows.length > 0;
}

/** Returns the id of the last pending journal row; null: none is pending. */
export async function lastWaiting(sql: Sql, projectId: number): Promise<number | null> {
  const [row] = await sql.query<{ journal_id: number | null }>(
    "SELECT max(journal_id) AS journal_id FROM journal WHERE project_id = (SELECT $1::int) AND projected_at IS NULL",
    [projectId],
  );
  return row?.journal_id ?? null;
}

/** Whether this journal row or an earlier one is pending. */
export function isWaiting(sql: Sql, projectId: number, upTo: number): Promise<boolean> {
  return exists(
    sql,
    `SELECT 1 FROM journal
    WHERE project_id = $1::int AND journal_id <= $2::int8 AND projected_at IS NULL LIMIT 1`,
    [projectId, upTo],
  );
}

/** Whether a set-aside event is due. */
export function isAsideDue(sql: Sql, projectId: number): Promise<boolean> {
  const due =
    "SELECT 1 FROM journal WHERE project_id = $1::int AND set_aside_until < now() LIMIT 1";
  return exists(sql, due, [projectId]);
}

/** Whether a project has pending events, or was projected with other settings than it has now. */
export function isBehind(sql: Sql, projectId: number): Promise<boolean> {
  return exists(
    sql,
    `SELECT WHERE EXISTS (
        SELECT FROM journal WHERE project_id = $1::int AND projected_at IS NULL)
      OR EXISTS (${STALE_PROJECTS} AND project_id = $1::int)`,
    [projectId],
  );
}

/** Selects the projects with pending events, or with set-aside events that are due. */
export const PROJECTS_WAITING = `
SELECT DISTINCT project_id FROM journal WHERE projected_at IS NULL OR set_aside_until < now()`;
