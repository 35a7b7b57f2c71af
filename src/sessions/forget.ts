import { arrayLiteral, type Database, type Sql } from "../db/sql.ts";
import { cutHistories, eraseFromHistories } from "../histories/segment_writer.ts";
import { cutSessions } from "./fold_cut.ts";
import { beginFold } from "./fold.ts";
import { raiseLinksVersion } from "./fold_identities.ts";
import { CHANGED } from "./fold_tables.ts";
import { rememberDays, rollUp } from "./rollups.ts";
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
    SELECT FROM actors a WHERE a.project_id = $1::int AND a.actor_id = i.actor_id)`;

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
    await rollUp(tx, projectId, project.known_timezone ?? project.timezone, new ValueNumbers());
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

// page_view, click and scroll stay, whoever did them.
const TERMS_OF_ACTOR = `
SELECT DISTINCT term_id
FROM facts f, unnest(ARRAY[f.name_id, f.path_id]) AS term_id
WHERE f.project_id = $1::int AND f.actor_id = $2::int AND term_id > 3`;

const DELETE_UNUSED_TERMS = `
DELETE FROM terms t USING unnest($2::text::int[]) AS gone (term_id)
WHERE t.project_id = $1::int AND t.term_id = gone.term_id
  AND NOT EXISTS (
    SELECT FROM facts f WHERE f.project_id = $1::int AND f.name_id > 3 AND f.name_id = t.term_id)
  AND NOT EXISTS (SELECT FROM facts f WHERE f.project_id = $1::int AND f.path_id = t.term_id)`;

async function identitiesOf(tx: Sql, projectId: number, actorId: number): Promise<Set<number>> {
  const rows = await tx.query<{ identity_id: number }>(
    "SELECT identity_id FROM identities WHERE project_id = $1::int AND actor_id = $2::int",
    [projectId, actorId],
  );
  return new Set(rows.map(({ identity_id }) => identity_id));
}

/**
 * Erases one actor: events, facts, sessions and identities, and the paths and names that only this
 * actor's events had (a path may say who somebody is), in one transaction. Fold first, so that
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
    const terms = await tx.query<{ term_id: number }>(TERMS_OF_ACTOR, [projectId, actorId]);
    const erased = await tx.query(deleteEvents, [projectId, actorId]);
    await tx.query(deleteFacts, [projectId, actorId]);
    await rememberDays(tx, projectId);
    await eraseFromHistories(tx, projectId, await identitiesOf(tx, projectId, actorId));
    for (const statement of rest) await tx.query(statement, [projectId, actorId]);
    const termIds = arrayLiteral(terms.map(({ term_id }) => term_id));
    await tx.query(DELETE_UNUSED_TERMS, [projectId, termIds]);
    await raiseLinksVersion(tx, projectId);
    await rollUp(tx, projectId, project.known_timezone ?? project.timezone, new ValueNumbers());
    return erased.length;
  });
}
