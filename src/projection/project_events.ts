import type { Sql } from "../db/sql.ts";
import type { EventRow } from "../store/event_row.ts";
import type { SegmentEvent } from "../store/segment_event.ts";
import { addEvents } from "../store/segments.ts";
import { type TimedEvent, visitTimedEvents } from "../store/timed_events.ts";
import { Arrivals } from "./arrivals.ts";
import { readActors } from "./actor_days.ts";
import { identitiesOf, type Move, raiseLinksVersion } from "./identities.ts";
import type { KnownProject } from "./known_projects.ts";
import { inSlices, mapInSlices } from "./slices.ts";
import { sessionsOfActors } from "./stored_sessions.ts";

/** An event for the segments, and for the rest. */
type ResolvedEvent = SegmentEvent & TimedEvent;

/** Gives all that the events say its numbers, and finds who did them. */
async function resolved(
  tx: Sql,
  projectId: number,
  known: KnownProject,
  rows: readonly EventRow[],
) {
  const times = await mapInSlices(rows, ({ occurred_at }) => Date.parse(occurred_at));
  const numbers = await known.dictionaries.resolve(tx, projectId, rows);
  const { identities, ...who } = await known.identities.resolve(tx, projectId, rows, times);
  const events = await mapInSlices(rows, (row, i): ResolvedEvent => {
    const { name, path, context, traffic, title, referrer } = numbers[i]!;
    return {
      identity: identities[i]!.id,
      ms: times[i]!,
      id: Uint8Array.fromHex(row.event_id.replaceAll("-", "")),
      eventId: row.event_id,
      name,
      path,
      context,
      traffic,
      title,
      referrer,
      row,
    };
  });
  return { events, actors: identities.map(({ actor }) => actor), ...who };
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
  rows: readonly EventRow[],
): Promise<void> {
  const { events, actors, moves, isLinked, newActors } = await resolved(tx, projectId, known, rows);
  const arrivals = new Arrivals(known, newActors);
  if (moves.length > 0) await move(tx, projectId, moves, arrivals);
  if (isLinked) known.linksVersion = await raiseLinksVersion(tx, projectId);
  await inSlices(events, (event, i) => {
    arrivals.totals.add(event, 1);
    arrivals.add(event, actors[i]!);
  });
  await arrivals.store(tx, projectId);
  await addEvents(tx, projectId, events);
}
