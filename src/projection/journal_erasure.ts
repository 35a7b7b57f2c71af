import { arrayLiteral, type Sql } from "../db/sql.ts";
import type { EventRow } from "../store/event_row.ts";
import { blockSpan, decodeBlock, encodeBlock } from "../store/journal_block.ts";
import { nameOf } from "./identities.ts";
import { readable } from "./pending_events.ts";
import { JOURNAL_ROWS_READ_AT_ONCE } from "./projection_limits.ts";

interface JournalRow extends Record<string, unknown> {
  readonly journal_id: number;
  readonly block: Uint8Array;
  readonly event_count: number;
  readonly known_ids: string[] | null;
  readonly projected_count: number;
  readonly set_aside_ids: string[] | null;
  readonly is_moved: boolean;
}

/**
 * The transaction that journal rows of earlier events, which an upgrade moves, say they are of: one of
 * before every snapshot, so that no tail takes them for new.
 */
export const MOVED_XID = "3";

const READ = `
SELECT journal_id, block, event_count, known_ids, projected_count, set_aside_ids,
  stored_by = '${MOVED_XID}' AS is_moved
FROM journal
WHERE project_id = $1::int AND journal_id > $2::int8 AND from_ms < $3::int8
  AND (projected_count > 0 OR stored_by = '${MOVED_XID}')
ORDER BY journal_id LIMIT ${JOURNAL_ROWS_READ_AT_ONCE}`;

const REWRITE = `
UPDATE journal SET block = decode($3::text, 'base64'), event_count = $4::int,
  known_ids = nullif($5::text::uuid[], '{}'), projected_count = $6::int,
  set_aside_ids = nullif($7::text::uuid[], '{}'),
  set_aside_until = CASE WHEN $7::text <> '{}' THEN set_aside_until END,
  from_ms = $8::int8, to_ms = $9::int8
WHERE project_id = $1::int AND journal_id = $2::int8`;

const DELETE = "DELETE FROM journal WHERE project_id = $1::int AND journal_id = $2::int8";

/** Which events leave the journal. */
interface Leaving {
  /** All of them happened before. */
  readonly beforeMs: number;
  readonly leaves: (event: EventRow) => boolean;
  /** Whether pending ones leave too that an upgrade has moved here. */
  readonly takesMoved: boolean;
}

/** Puts what is kept of a row in its place. @returns which of its events were set aside, and go */
async function takeOut(
  tx: Sql,
  projectId: number,
  row: JournalRow,
  events: readonly EventRow[],
  { leaves, takesMoved }: Leaving,
): Promise<string[]> {
  // What is pending was sent since, and stays, unless an upgrade has moved it here.
  const projected = events.slice(0, row.projected_count);
  const meant = row.is_moved && takesMoved ? events : projected;
  const gone = new Set(meant.filter(leaves).map(({ event_id }) => event_id));
  if (gone.size === 0) return [];
  const isKept = ({ event_id }: EventRow) => !gone.has(event_id);
  const kept = events.filter(isKept);
  const of = (ids: string[] | null) => (ids ?? []).filter((id) => !gone.has(id));
  const known = of(row.known_ids);
  const aside = of(row.set_aside_ids);
  if (kept.length === 0) {
    await tx.query(DELETE, [projectId, row.journal_id]);
  } else {
    const { fromMs, toMs } = blockSpan(kept);
    await tx.query(REWRITE, [
      projectId,
      row.journal_id,
      encodeBlock(kept).toBase64(),
      kept.length - known.length,
      arrayLiteral(known),
      projected.filter(isKept).length,
      arrayLiteral(aside),
      fromMs,
      toMs,
    ]);
  }
  return (row.set_aside_ids ?? []).filter((id) => gone.has(id));
}

async function takeOutAll(tx: Sql, projectId: number, leaving: Leaving): Promise<string[]> {
  const aside: string[] = [];
  for (let after = 0;;) {
    const rows = await tx.query<JournalRow>(READ, [projectId, after, leaving.beforeMs]);
    for (const row of rows) {
      // What nobody can read is deleted with its row, 48 hours after its projection.
      const events = readable(() => decodeBlock(row.block, projectId)) ?? [];
      aside.push(...await takeOut(tx, projectId, row, events, leaving));
    }
    if (rows.length < JOURNAL_ROWS_READ_AT_ONCE) return aside;
    after = rows.at(-1)!.journal_id;
  }
}

/**
 * Takes the events of some people out of the journal: of those that are projected or set aside, which
 * is nobody's in the segments. Where an upgrade moves events (`takesMoved`) also of those that are
 * pending. @returns the ids of those that were set aside
 */
export function eraseFromJournal(
  tx: Sql,
  projectId: number,
  names: ReadonlySet<string>,
  takesMoved = false,
): Promise<string[]> {
  const leaves = (event: EventRow) => names.has(nameOf(event));
  return takeOutAll(tx, projectId, { beforeMs: Number.MAX_SAFE_INTEGER, leaves, takesMoved });
}

/**
 * Takes what happened before an instant out of the journal, as far as it is projected or set aside:
 * no tail shows it any more. @returns the ids of those that were set aside
 */
export async function forgetFromJournal(
  tx: Sql,
  projectId: number,
  beforeMs: number,
): Promise<string[]> {
  // Whole rows need not be read, and are most where a retention ends within the 48 hours.
  await tx.query(
    `DELETE FROM journal WHERE project_id = $1::int AND to_ms < $2::int8
      AND projected_at IS NOT NULL AND set_aside_until IS NULL`,
    [projectId, beforeMs],
  );
  const leaves = ({ occurred_at }: EventRow) => Date.parse(occurred_at) < beforeMs;
  return await takeOutAll(tx, projectId, { beforeMs, leaves, takesMoved: false });
}
