import { arrayLiterals, exists, type Sql } from "../db/sql.ts";
import type { EventRow } from "../store/event_row.ts";
import { JOURNAL_BLOCK_ROWS_MAX } from "../limits.ts";
import { blockSpan, encodeBlock } from "../store/journal_block.ts";

const SENT = `
sent AS MATERIALIZED (
  SELECT project_id, ids::uuid[] AS ids, decode(block, 'base64') AS block, from_ms, to_ms
  FROM unnest($1::text::int[], $2::text::text[], $3::text::text[], $4::text::int8[], $5::text::int8[])
    AS sent (project_id, ids, block, from_ms, to_ms)
)`;

// Ids first, so that the statement waits for others that are storing one of them. ON CONFLICT would look up
// each id before inserting it, and write a third log record to confirm it.
const INSERT_NEW = `
WITH journaled AS (
  INSERT INTO journal (project_id, event_count, from_ms, to_ms, block)
  SELECT project_id, events, from_ms, to_ms, decode(block, 'base64')
  FROM unnest($3::text::int[], $4::text::int[], $5::text::text[], $6::text::int8[], $7::text::int8[])
    WITH ORDINALITY AS blocks (project_id, events, block, from_ms, to_ms, number)
  ORDER BY number
)
INSERT INTO event_ids (project_id, event_id)
SELECT project_id, sent_id
FROM unnest($1::text::int[], $2::text::text[]) AS sent (project_id, ids), unnest(ids::uuid[]) AS sent_id`;

// Ids first here too, so that each is new to only one statement. EXCEPT is hashed whatever lengths the planner
// assumes for the arrays (an anti-join could become a nested loop), and skipped if every id was new.
const insertText = (isNew: string): string => `
WITH ${SENT}, stored AS (
  INSERT INTO event_ids (project_id, event_id)
  SELECT project_id, sent_id FROM sent, unnest(ids) AS sent_id WHERE ${isNew}
  ON CONFLICT (project_id, event_id) DO NOTHING
  RETURNING project_id, event_id
), known AS MATERIALIZED (
  SELECT project_id, event_id FROM sent, unnest(ids) AS event_id
  WHERE (SELECT count(*) FROM stored) < $6::int
  EXCEPT
  SELECT project_id, event_id FROM stored WHERE (SELECT count(*) FROM stored) < $6::int
), journaled AS (
  INSERT INTO journal (project_id, event_count, from_ms, to_ms, block, known_ids)
  SELECT s.project_id, cardinality(s.ids) - coalesce(k.count, 0), s.from_ms, s.to_ms, s.block, k.ids
  FROM sent s LEFT JOIN (
    SELECT project_id, count(*)::int, array_agg(event_id) AS ids FROM known GROUP BY project_id
  ) k USING (project_id)
  WHERE cardinality(s.ids) > coalesce(k.count, 0)
  ORDER BY s.project_id
)
SELECT project_id, event_id FROM known`;

const INSERT = insertText("true");
/** `INSERT` while some events are only in `earlier_events`, the table of versions before segments. */
const INSERT_BESIDE_EARLIER = insertText(`NOT EXISTS (
    SELECT FROM earlier_events e
    WHERE e.project_id = sent.project_id AND e.event_id = sent_id OFFSET 0)`);

/** Whether events of versions before segments are still to be moved. */
export function hasEarlierEvents(sql: Sql): Promise<boolean> {
  return exists(sql, "SELECT WHERE to_regclass('earlier_events') IS NOT NULL");
}

/** Returns the key of an event: its project and its id, as one text. */
export function keyOf(row: Pick<EventRow, "project_id" | "event_id">): string {
  return `${row.project_id}/${row.event_id}`;
}

type OfProject = readonly [projectId: number, rows: readonly EventRow[]];

/** Groups events by project, in the order of the projects. */
function byProject(rows: readonly EventRow[]): OfProject[] {
  return [...Map.groupBy(rows, (row) => row.project_id)].sort(([a], [b]) => a - b);
}

/**
 * Returns the ids of a project as parameters of the statements: sorted, so that servers that store the same replay
 * lock ids in the same order and cannot deadlock, and so that neighbours share index pages.
 */
function idsOf([projectId, rows]: OfProject) {
  return { projectId, ids: `{${rows.map((row) => row.event_id).sort().join(",")}}` };
}

/** Returns a block of a project, in the order of arrival: neighbours are mostly of the same request. */
function blockOf([projectId, rows]: OfProject) {
  const { fromMs, toMs } = blockSpan(rows);
  return { projectId, events: rows.length, block: encodeBlock(rows).toBase64(), fromMs, toMs };
}

/** Divides events into blocks of about the same size. */
function* blocksOf([projectId, rows]: OfProject): Generator<OfProject> {
  const blocks = Math.ceil(rows.length / JOURNAL_BLOCK_ROWS_MAX);
  const startOf = (block: number) => Math.ceil(block * rows.length / blocks);
  for (let block = 0; block < blocks; block++) {
    yield [projectId, rows.slice(startOf(block), startOf(block + 1))];
  }
}

/**
 * Stores events in one statement, which has committed when this resolves. Fails with unique_violation and
 * stores nothing if one of them was stored before or is twice in `rows`.
 */
export async function insertNewEvents(sql: Sql, rows: readonly EventRow[]): Promise<void> {
  const projects = byProject(rows);
  const blocks = projects.flatMap((project) => [...blocksOf(project)].map(blockOf));
  await sql.query(INSERT_NEW, [
    ...arrayLiterals(["projectId", "ids"], projects.map(idsOf)),
    ...arrayLiterals(["projectId", "events", "block", "fromMs", "toMs"], blocks),
  ]);
}

/**
 * Stores the events that were not stored before in one statement, which has committed when this resolves.
 * `rows` must not contain an event twice.
 * @param besideEarlier whether the table `earlier_events` exists; its ids count as stored before
 * @returns the keys that were stored before
 */
export async function insertEvents(
  sql: Sql,
  rows: readonly EventRow[],
  besideEarlier = false,
): Promise<Set<string>> {
  const statement = besideEarlier ? INSERT_BESIDE_EARLIER : INSERT;
  const sent = byProject(rows).map((project) => ({ ...idsOf(project), ...blockOf(project) }));
  const known = await sql.query<{ project_id: number; event_id: string }>(statement, [
    ...arrayLiterals(["projectId", "ids", "block", "fromMs", "toMs"], sent),
    rows.length,
  ]);
  return new Set(known.map(keyOf));
}
