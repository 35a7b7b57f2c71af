import { arrayLiteral, type Database, type Row, type Sql } from "../db/sql.ts";
import { cutHistories, eraseFromHistories } from "../histories/segment_writer.ts";
import { cutSessions } from "./fold_cut.ts";
import { beginFold, type FoldedProject } from "./fold_project.ts";
import { digestOf } from "./fold_dictionaries.ts";
import { raiseLinksVersion } from "./fold_identities.ts";
import { CHANGED } from "./fold_tables.ts";
import { rememberDays, rollUp, startRecountAnew } from "./rollups.ts";
import { ValueNumbers } from "./value_numbers.ts";

// What begins before the bound and ends after it is cut anew from what is left.
const DISSOLVE_CROSSING = `
INSERT INTO fold_dissolved
SELECT session_id FROM sessions
WHERE project_id = $1::int AND first_tick < $2::int8 << 16 AND last_tick >= $2::int8 << 16
RETURNING session_id`;

const DELETE_SESSIONS = `
WITH gone AS (
  DELETE FROM sessions WHERE project_id = $1::int AND last_tick < $2::int8 << 16 RETURNING *
)
INSERT INTO fold_changed SELECT -1, ${CHANGED} FROM gone`;

// The actors whose first sighting is to be found again stand in fold_moves, as moved to themselves.
const DELETE_FACTS = `
WITH gone AS (
  DELETE FROM facts WHERE project_id = $1::int AND tick < $2::int8 << 16 RETURNING *
), told AS (
  INSERT INTO fold_removed SELECT tick, actor_id, name_id, context_id FROM gone
)
INSERT INTO fold_moves SELECT DISTINCT actor_id, actor_id, actor_id FROM gone
RETURNING identity_id`;

const DELETE_STRANGERS = `
DELETE FROM identities i
WHERE i.project_id = $1::int
  AND i.actor_id IN (SELECT identity_id FROM fold_moves)
  AND NOT EXISTS (
    SELECT FROM facts f WHERE f.project_id = $1::int AND f.actor_id = i.actor_id)`;

/** Takes what is gone out of the rollups; while they are counted again, that begins anew. */
async function takeFromRollups(tx: Sql, projectId: number, project: FoldedProject): Promise<void> {
  const { known_timezone } = project;
  if (known_timezone === null) await startRecountAnew(tx, projectId);
  else await rollUp(tx, projectId, known_timezone, new ValueNumbers());
}

/**
 * Takes everything before an instant out of what the fold has made of a project, as if those events
 * had never been stored: sessions that cross the instant keep their later part, and first sightings
 * are found anew. Whom an anonymous id belongs to stays known while that user has events left.
 */
export async function forgetBefore(
  database: Database,
  projectId: number,
  beforeMs: number,
): Promise<void> {
  await database.transaction(async (tx) => {
    const project = await beginFold(tx, projectId);
    if (project === null) return;
    const crossing = await tx.query(DISSOLVE_CROSSING, [projectId, beforeMs]);
    await tx.query(DELETE_SESSIONS, [projectId, beforeMs]);
    const actors = await tx.query(DELETE_FACTS, [projectId, beforeMs]);
    await cutHistories(tx, projectId, beforeMs);
    if (actors.length === 0) return;
    await cutSessions(tx, projectId, { moved: true, dissolved: crossing.length > 0 });
    await takeFromRollups(tx, projectId, project);
    await tx.query(DELETE_STRANGERS, [projectId]);
    await raiseLinksVersion(tx, projectId);
  });
}

const ERASE = [
  `DELETE FROM events e USING facts f
  WHERE e.project_id = $1::int AND f.project_id = $1::int AND f.actor_id = $2::int
    AND e.event_id = f.event_id
  RETURNING e.event_id`,
  `WITH gone AS (
    DELETE FROM facts WHERE project_id = $1::int AND actor_id = $2::int RETURNING *
  )
  INSERT INTO fold_removed SELECT tick, actor_id, name_id, context_id FROM gone`,
  `WITH gone AS (
    DELETE FROM sessions WHERE project_id = $1::int AND actor_id = $2::int RETURNING *
  )
  INSERT INTO fold_changed SELECT -1, ${CHANGED} FROM gone`,
  "DELETE FROM actors WHERE project_id = $1::int AND actor_id = $2::int",
  "DELETE FROM identities WHERE project_id = $1::int AND actor_id = $2::int",
] as const;

// What is set aside is nobody's fact: its own ids tell whose it is. Its mark goes when it is tried next.
const ERASE_SET_ASIDE = `
DELETE FROM events e USING fold_marks m
WHERE m.project_id = $1::int AND m.set_aside_until IS NOT NULL
  AND e.project_id = $1::int AND e.event_id = m.event_ids[1]
  AND EXISTS (
    SELECT FROM identities i
    WHERE i.project_id = $1::int AND i.actor_id = $2::int
      AND (i.kind = 'u' AND i.value = e.user_id OR i.kind = 'a' AND i.value = e.anonymous_id
        OR i.kind = 'h' AND i.value = translate(encode(e.visitor_hash, 'base64'), '+/=', '-_')))
RETURNING e.event_id`;

/** What an actor's events say in words that may tell who it is. */
interface Said {
  readonly terms: readonly number[] | null;
  readonly titles: readonly string[] | null;
  readonly referrers: readonly string[] | null;
}

// page_view, click and scroll stay, whoever did them.
const SAID = `
SELECT
  (SELECT json_agg(DISTINCT term_id)
    FROM facts f, unnest(ARRAY[f.name_id, f.path_id]) AS term_id
    WHERE f.project_id = $1::int AND f.actor_id = $2::int AND term_id > 3) AS terms,
  json_agg(DISTINCT e.title) FILTER (WHERE e.title IS NOT NULL) AS titles,
  json_agg(DISTINCT e.referrer) FILTER (WHERE e.referrer IS NOT NULL) AS referrers
FROM facts f JOIN events e ON e.project_id = $1::int AND e.event_id = f.event_id
WHERE f.project_id = $1::int AND f.actor_id = $2::int`;

const NEEDED_BY_FACTS = `
  AND NOT EXISTS (
    SELECT FROM facts f WHERE f.project_id = $1::int AND f.name_id > 3 AND f.name_id = t.term_id)
  AND NOT EXISTS (SELECT FROM facts f WHERE f.project_id = $1::int AND f.path_id = t.term_id)`;

// A name or a path may be somebody's title too, and the other way round. One look at all events,
// for all texts that they may still say: no index has them.
const DELETE_UNUSED_TERMS = `
WITH gone AS MATERIALIZED (
  SELECT t.term_id, t.term FROM terms t
  WHERE t.project_id = $1::int AND t.term_id > 3
    AND (t.term_id = ANY ($2::text::int[]) OR t.digest IN (
      SELECT ${digestOf("title")} FROM unnest($3::text::text[]) AS title))
    ${NEEDED_BY_FACTS}
), told AS MATERIALIZED (
  SELECT DISTINCT title FROM events
  WHERE project_id = $1::int AND title IN (SELECT term FROM gone)
)
DELETE FROM terms t USING gone
WHERE t.project_id = $1::int AND t.term_id = gone.term_id
  AND NOT EXISTS (SELECT FROM told WHERE told.title = gone.term)`;

// Numbers of terms are given out again.
const DELETE_UNUSED_NAMES = `
DELETE FROM technical_names n
WHERE n.project_id = $1::int AND NOT EXISTS (
  SELECT FROM terms t WHERE t.project_id = $1::int AND t.term_id = n.term_id)`;

const DELETE_UNUSED_REFERRERS = `
WITH told AS MATERIALIZED (
  SELECT DISTINCT referrer FROM events
  WHERE project_id = $1::int AND referrer IN (SELECT unnest($2::text::text[]))
)
DELETE FROM referrers r
WHERE r.project_id = $1::int AND r.address IN (SELECT unnest($2::text::text[]))
  AND NOT EXISTS (SELECT FROM told WHERE told.referrer = r.address)`;

/** Deletes the words that nobody's events say any more. */
async function deleteUnused(tx: Sql, projectId: number, said: Said): Promise<void> {
  const [terms, titles] = [said.terms ?? [], said.titles ?? []];
  if (terms.length + titles.length > 0) {
    await tx.query(DELETE_UNUSED_TERMS, [projectId, arrayLiteral(terms), arrayLiteral(titles)]);
    await tx.query(DELETE_UNUSED_NAMES, [projectId]);
  }
  if (said.referrers === null) return;
  await tx.query(DELETE_UNUSED_REFERRERS, [projectId, arrayLiteral(said.referrers)]);
}

async function identitiesOf(tx: Sql, projectId: number, actorId: number): Promise<Set<number>> {
  const rows = await tx.query<{ identity_id: number }>(
    "SELECT identity_id FROM identities WHERE project_id = $1::int AND actor_id = $2::int",
    [projectId, actorId],
  );
  return new Set(rows.map(({ identity_id }) => identity_id));
}

/**
 * Erases one actor: events, facts, sessions and identities, and the names, paths, titles and
 * referrers that only this actor's events had (they may say who somebody is), in one transaction. Fold first, so that
 * nothing of theirs is pending.
 *
 * An anonymous id that others have used too is forgotten with the one whose it was: it is theirs
 * from their next event with it on.
 * @returns how many events there were
 */
export async function eraseActor(
  database: Database,
  projectId: number,
  actorId: number,
): Promise<number> {
  return await database.transaction(async (tx) => {
    const project = await beginFold(tx, projectId);
    if (project === null) return 0;
    const [deleteEvents, deleteFacts, ...rest] = ERASE;
    const [said] = await tx.query<Said & Row>(SAID, [projectId, actorId]);
    const erased = await tx.query(deleteEvents, [projectId, actorId]);
    const aside = await tx.query(ERASE_SET_ASIDE, [projectId, actorId]);
    await tx.query(deleteFacts, [projectId, actorId]);
    await rememberDays(tx, projectId);
    await eraseFromHistories(tx, projectId, await identitiesOf(tx, projectId, actorId));
    for (const statement of rest) await tx.query(statement, [projectId, actorId]);
    await raiseLinksVersion(tx, projectId);
    await takeFromRollups(tx, projectId, project);
    await deleteUnused(tx, projectId, said!);
    return erased.length + aside.length;
  });
}
