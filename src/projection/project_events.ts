import type { Sql } from "../db/sql.ts";
import type { EventColumns } from "../store/event_columns.ts";
import type { EventBatch } from "../store/batch_columns.ts";
import { FLAG_CODES } from "../store/segment_columns.ts";
import { addEvents } from "../store/segments.ts";
import { type TimedEvent, visitTimedEvents } from "../store/timed_events.ts";
import { ActorUpdates } from "./actor_updates.ts";
import { readActors } from "./actor_days.ts";
import { identitiesOf, type Move, raiseLinksVersion } from "./identities.ts";
import type { KnownProject } from "./known_projects.ts";
import { numbersOfCodes } from "./numbers_of_codes.ts";
import { inSlices } from "./slices.ts";
import { sessionsOfActors } from "./stored_sessions.ts";

/** Resolves the dictionary numbers and the identities of the events. */
async function resolved(tx: Sql, projectId: number, known: KnownProject, columns: EventColumns) {
  const eventIds = columns.eventIds();
  const moments = columns.moments();
  const { technical } = known.dictionaries;
  const technicalBefore = technical.size;
  const numbers = await known.dictionaries.resolve(tx, projectId, columns);
  const isNamed = technical.size > technicalBefore;
  const { identities: distinct, codes, ...changes } = await known.identities
    .resolve(tx, projectId, columns, moments, eventIds);
  const identities = numbersOfCodes(codes, distinct.map(({ id }) => id));
  const batch: EventBatch = { columns, identities, moments, ids: columns.ids(), numbers };
  const actors = numbersOfCodes(codes, distinct.map(({ actor }) => actor));
  return { batch, eventIds, actors, isNamed, ...changes };
}

/** The events of a batch, reduced to what sessions and rollups need, and added to the changes one by one. */
class TimedBatch {
  readonly #interactive: Int32Array;
  /** The time of the latest event without a session, in epoch milliseconds; -Infinity: there is none. */
  sessionlessToMs = -Infinity;

  constructor(
    private readonly batch: EventBatch,
    private readonly eventIds: readonly string[],
    private readonly actors: Int32Array,
    private readonly updates: ActorUpdates,
  ) {
    this.#interactive = batch.columns.flags("interactive");
  }

  #at(i: number): TimedEvent {
    const { identities, moments, numbers } = this.batch;
    return {
      identity: identities[i]!,
      ms: moments[i]!,
      eventId: this.eventIds[i]!,
      name: numbers.names[i]!,
      path: numbers.paths[i]!,
      context: numbers.contexts[i]!,
      traffic: numbers.traffics[i]!,
      isPassive: this.#interactive[i] === FLAG_CODES.no,
    };
  }

  add(i: number): void {
    const event = this.#at(i);
    if (event.traffic === 0) this.sessionlessToMs = Math.max(this.sessionlessToMs, event.ms);
    this.updates.totals.add(event, 1);
    this.updates.add(event, this.actors[i]!);
  }
}

const addAt = (i: number, batch: TimedBatch): void => batch.add(i);

/**
 * Moves anonymous ids to other actors. An id that was an actor of its own takes its sessions and days along,
 * and no event is read. An id that leaves a user takes its events along, and the user's remaining sessions
 * are cut again.
 */
async function move(
  tx: Sql,
  projectId: number,
  moves: readonly Move[],
  updates: ActorUpdates,
): Promise<void> {
  const whole = moves.filter(({ identity, from }) => identity === from);
  const leaving = moves.filter(({ identity, from }) => identity !== from);
  for (const { from } of leaving) updates.recut.add(from);
  const to = new Map(whole.map((move) => [move.identity, move.to]));
  const parts = await sessionsOfActors(tx, projectId, [...to.keys()]);
  updates.remove(parts);
  for (const part of parts) {
    const actor = to.get(part.actor)!;
    if (!updates.recut.has(actor)) updates.parts.add({ ...part, actor });
  }
  const moved = await readActors(tx, projectId, [...to.keys()]);
  updates.replace(moved);
  for (const [identity, stored] of moved) {
    const actor = to.get(identity)!;
    if (!updates.recut.has(actor)) updates.sightings.addAll(actor, stored.firstMs, stored.days);
  }
  if (leaving.length === 0) return;
  const actorOf = await identitiesOf(tx, projectId, updates.recut);
  for (const { identity, to } of leaving) actorOf.set(identity, to);
  const identities = new Set(actorOf.keys());
  await visitTimedEvents(tx, projectId, { identities }, (event) => {
    updates.add(event, actorOf.get(event.identity)!);
  });
}

/**
 * Projects events of one project that have not been projected before.
 * @param rollsUp whether the rollups are complete, and are updated
 */
export async function projectEvents(
  tx: Sql,
  projectId: number,
  known: KnownProject,
  columns: EventColumns,
  rollsUp: boolean,
): Promise<void> {
  const { batch, eventIds, actors, moves, isLinked, isNamed, newActors } = await resolved(
    tx,
    projectId,
    known,
    columns,
  );
  const updates = new ActorUpdates(known, newActors);
  if (moves.length > 0) await move(tx, projectId, moves, updates);
  // Other servers cache links and technical names, and may recount stored events: they must reload.
  if (isLinked || isNamed) known.linksVersion = await raiseLinksVersion(tx, projectId);
  const timed = new TimedBatch(batch, eventIds, actors, updates);
  await inSlices(eventIds.keys(), addAt, timed);
  await updates.store(tx, projectId, rollsUp);
  await addEvents(tx, projectId, batch);
  const { sessionlessToMs } = timed;
  if (sessionlessToMs > -Infinity) {
    await tx.query(
      `UPDATE projections SET sessionless_to_ms = greatest(sessionless_to_ms, $2::int8)
      WHERE project_id = $1::int`,
      [projectId, sessionlessToMs],
    );
  }
}
