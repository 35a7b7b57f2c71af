import type { Sql } from "../db/sql.ts";
import type { EventColumns } from "../store/event_columns.ts";
import type { EventBatch } from "../store/event_source.ts";
import { FLAG_CODES } from "../store/segment_columns.ts";
import { addEvents } from "../store/segments.ts";
import { type TimedEvent, visitTimedEvents } from "../store/timed_events.ts";
import { Arrivals } from "./arrivals.ts";
import { readActors } from "./actor_days.ts";
import { identitiesOf, type Move, raiseLinksVersion } from "./identities.ts";
import type { KnownProject } from "./known_projects.ts";
import { inSlices } from "./slices.ts";
import { sessionsOfActors } from "./stored_sessions.ts";

/** Gives all that the events say its numbers, and finds who did them. */
async function resolved(tx: Sql, projectId: number, known: KnownProject, columns: EventColumns) {
  const eventIds = columns.eventIds();
  const moments = columns.moments();
  const numbers = await known.dictionaries.resolve(tx, projectId, columns);
  const { identities: people, codes, ...who } = await known.identities
    .resolve(tx, projectId, columns, moments, eventIds);
  const ids = people.map(({ id }) => id);
  const identities = codes.map((code) => ids[code]!);
  const batch: EventBatch = { columns, identities, moments, ids: columns.ids(), numbers };
  const actorAt = (i: number) => people[codes[i]!]!.actor;
  return { batch, eventIds, actorAt, ...who };
}

/** An event of a batch, as much of it as sessions and rollups are made of. */
function timedAt(batch: EventBatch, eventIds: readonly string[]) {
  const { identities, moments, numbers, columns } = batch;
  const interactive = columns.flags("interactive");
  const { names, paths, contexts, traffics } = numbers;
  return (i: number): TimedEvent => ({
    identity: identities[i]!,
    ms: moments[i]!,
    eventId: eventIds[i]!,
    name: names[i]!,
    path: paths[i]!,
    context: contexts[i]!,
    traffic: traffics[i]!,
    isPassive: interactive[i] === FLAG_CODES.no,
  });
}

/**
 * Anonymous ids get other owners. One that was nobody's yet takes its sessions and days along, and no
 * event is read. One that leaves a user takes its events; what that user keeps is cut anew.
 */
async function move(
  tx: Sql,
  projectId: number,
  moves: readonly Move[],
  arrivals: Arrivals,
): Promise<void> {
  const whole = moves.filter(({ identity, from }) => identity === from);
  const parted = moves.filter(({ identity, from }) => identity !== from);
  for (const { from } of parted) arrivals.recut.add(from);
  const to = new Map(whole.map((move) => [move.identity, move.to]));
  for (const part of await sessionsOfActors(tx, projectId, [...to.keys()])) {
    arrivals.gone.push(part);
    const actor = to.get(part.actor)!;
    if (!arrivals.recut.has(actor)) arrivals.parts.add({ ...part, actor });
  }
  for (const [identity, stored] of await readActors(tx, projectId, [...to.keys()])) {
    arrivals.left.set(identity, stored);
    const actor = to.get(identity)!;
    if (!arrivals.recut.has(actor)) arrivals.sightings.addAll(actor, stored.firstMs, stored.days);
  }
  if (parted.length === 0) return;
  const actorOf = await identitiesOf(tx, projectId, arrivals.recut);
  for (const { identity, to } of parted) actorOf.set(identity, to);
  const identities = new Set(actorOf.keys());
  await visitTimedEvents(tx, projectId, { identities }, (event) => {
    arrivals.add(event, actorOf.get(event.identity)!);
  });
}

/** Projects events of one project: none of them has been projected before. */
export async function projectEvents(
  tx: Sql,
  projectId: number,
  known: KnownProject,
  columns: EventColumns,
): Promise<void> {
  const { batch, eventIds, actorAt, moves, isLinked, newActors } = await resolved(
    ...[tx, projectId, known, columns] as const,
  );
  const arrivals = new Arrivals(known, newActors);
  if (moves.length > 0) await move(tx, projectId, moves, arrivals);
  if (isLinked) known.linksVersion = await raiseLinksVersion(tx, projectId);
  const eventAt = timedAt(batch, eventIds);
  let sessionlessToMs = -Infinity;
  await inSlices(eventIds.keys(), (i) => {
    const event = eventAt(i);
    if (event.traffic === 0) sessionlessToMs = Math.max(sessionlessToMs, event.ms);
    arrivals.totals.add(event, 1);
    arrivals.add(event, actorAt(i));
  });
  await arrivals.store(tx, projectId);
  await addEvents(tx, projectId, batch);
  if (sessionlessToMs > -Infinity) {
    await tx.query(
      `UPDATE projections SET sessionless_to_ms = greatest(sessionless_to_ms, $2::int8)
      WHERE project_id = $1::int`,
      [projectId, sessionlessToMs],
    );
  }
}
