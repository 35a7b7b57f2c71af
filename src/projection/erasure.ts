import { arrayLiteral, type Sql } from "../db/sql.ts";
import { earliestCarriers } from "../store/anonymous_ids.ts";
import { eraseFromSegments } from "../store/segments.ts";
import { visitTimedEvents } from "../store/timed_events.ts";
import { type UsedWords, usedWords } from "../store/used_words.ts";
import { readActors } from "./actor_days.ts";
import { Arrivals } from "./arrivals.ts";
import { forgetIds } from "./event_ids.ts";
import { identitiesOf, linkIdentities, raiseLinksVersion } from "./identities.ts";
import { eraseFromJournal } from "./journal_erasure.ts";
import { newlyKnown } from "./known_projects.ts";
import { beginProjection } from "./projected_project.ts";
import { rollUpsHold, startRecountAnew } from "./settling.ts";
import { sessionsOfActors } from "./stored_sessions.ts";

/** page_view, click and scroll stay, whoever did them. */
const RESERVED_MAX = 3;

const DELETE_WORDS = [
  "DELETE FROM terms WHERE project_id = $1::int AND term_id = ANY ($2::text::int[])",
  // Numbers of terms are given out again.
  "DELETE FROM technical_names WHERE project_id = $1::int AND term_id = ANY ($2::text::int[])",
] as const;

/** Deletes the words that nobody's events say any more. */
async function deleteUnused(tx: Sql, projectId: number, said: UsedWords): Promise<void> {
  const used = await usedWords(tx, projectId);
  const terms = [...said.terms.difference(used.terms)].filter((id) => id > RESERVED_MAX);
  if (terms.length > 0) {
    for (const statement of DELETE_WORDS) {
      await tx.query(statement, [projectId, arrayLiteral(terms)]);
    }
  }
  const referrers = [...said.referrers.difference(used.referrers)];
  if (referrers.length === 0) return;
  await tx.query(
    "DELETE FROM referrers WHERE project_id = $1::int AND referrer_id = ANY ($2::text::int[])",
    [projectId, arrayLiteral(referrers)],
  );
}

/** Names of some identities, their kind and then their value, and the numbers. */
async function namesOf(
  tx: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
): Promise<Map<string, number>> {
  const rows = await tx.query<{ name: string; identity_id: number }>(
    `SELECT kind::text || value AS name, identity_id FROM identities
    WHERE project_id = $1::int AND identity_id = ANY ($2::text::int[])`,
    [projectId, arrayLiteral([...identities])],
  );
  return new Map(rows.map(({ name, identity_id }) => [name, identity_id]));
}

/**
 * Forgets identities of which no event is left. An anonymous id that somebody else's events carry is
 * theirs from now on, as if nobody else had ever had it: of several, of whose event is the earliest.
 */
async function forgetIdentities(
  tx: Sql,
  projectId: number,
  identities: ReadonlyMap<string, number>,
): Promise<void> {
  const anonymous = [...identities.keys()].filter((name) => name.startsWith("a"));
  const carriers = await earliestCarriers(
    tx,
    projectId,
    new Set(anonymous.map((name) => name.slice(1))),
  );
  const passed = [...carriers].map(([value, carrier]) => ({
    ...carrier,
    id: identities.get(`a${value}`)!,
  }));
  const kept = new Set(passed.map(({ id }) => id));
  const gone = [...identities.values()].filter((id) => !kept.has(id));
  await tx.query(
    "DELETE FROM identities WHERE project_id = $1::int AND identity_id = ANY ($2::text::int[])",
    [projectId, arrayLiteral(gone)],
  );
  if (passed.length > 0) await linkIdentities(tx, projectId, passed);
}

/**
 * Erases one actor: events, wherever they are stored, sessions and identities, and the names, paths,
 * titles and referrers that only this actor's events had (they may say who somebody is), in one
 * transaction, which is the caller's. Project first, so that nothing of theirs is pending.
 * @param isUpgrading whether what an upgrade has moved into the journal goes with it, projected or not
 * @returns the ids of the events that were there, and the names of the identities: their kind, then their value
 */
export async function eraseActor(
  tx: Sql,
  projectId: number,
  actorId: number,
  isUpgrading = false,
): Promise<{ eventIds: readonly string[]; names: ReadonlySet<string> }> {
  const project = await beginProjection(tx, projectId);
  if (project === null) return { eventIds: [], names: new Set() };
  const identities = new Set((await identitiesOf(tx, projectId, [actorId])).keys());
  const names = await namesOf(tx, projectId, identities);
  const arrivals = new Arrivals(await newlyKnown(tx, projectId, project), new Set());
  const eventIds: string[] = [];
  await visitTimedEvents(tx, projectId, { identities }, (event) => {
    arrivals.totals.add(event, -1);
    eventIds.push(event.eventId);
  });
  arrivals.gone.push(...await sessionsOfActors(tx, projectId, [actorId]));
  for (const [actor, stored] of await readActors(tx, projectId, [actorId])) {
    arrivals.left.set(actor, stored);
  }
  await arrivals.store(tx, projectId, rollUpsHold(project));
  if (!rollUpsHold(project)) await startRecountAnew(tx, projectId);
  const said = await usedWords(tx, projectId, identities);
  await eraseFromSegments(tx, projectId, identities);
  const aside = await eraseFromJournal(tx, projectId, new Set(names.keys()), isUpgrading);
  await forgetIds(tx, projectId, [...eventIds, ...aside]);
  await forgetIdentities(tx, projectId, names);
  await raiseLinksVersion(tx, projectId);
  await deleteUnused(tx, projectId, said);
  return { eventIds: [...eventIds, ...aside], names: new Set(names.keys()) };
}
