import type { Sql } from "../db/sql.ts";
import type { TimedEvent } from "../store/timed_events.ts";
import {
  type ActorChange,
  readActors,
  Sightings,
  type StoredActor,
  writeActors,
} from "./actor_days.ts";
import type { KnownProject } from "./known_projects.ts";
import { EventTotals } from "./changes.ts";
import { rollUp } from "./rollups.ts";
import { PartsOfActors, type SessionPart } from "./session_parts.ts";
import { inSlices } from "./slices.ts";
import { replaceSessions, sessionKey, sessionsNear, sessionsOfActors } from "./stored_sessions.ts";

const addPart = (part: SessionPart, parts: PartsOfActors): void => parts.add(part);

/** What the changes of actors are found by, and `actors`, which they are put into. */
interface Changing {
  readonly sightings: Sightings;
  readonly stored: ReadonlyMap<number, StoredActor>;
  /** Actors whose stored rows do not count any more. */
  readonly replaced: ReadonlySet<number>;
  readonly actors: ActorChange[];
}

function addChange(actor: number, { sightings, stored, replaced, actors }: Changing): void {
  const before = stored.get(actor) ?? null;
  const after = sightings.mergedWith(actor, replaced.has(actor) ? null : before);
  if (after !== before) actors.push({ actor, before, after });
}

/** Collects the events and sessions that actors gain and lose in one transaction, then stores the changes. */
export class ActorUpdates {
  /** The numbers of added events, less the removed ones. */
  readonly totals: EventTotals;
  readonly parts = new PartsOfActors();
  readonly sightings: Sightings;
  /** Actors whose events are all added again; `store` replaces their rows and sessions. */
  readonly recut = new Set<number>();
  readonly #goneSessions: SessionPart[] = [];
  readonly #goneActors = new Map<number, StoredActor>();

  /** @param newActors actors without any stored data so far */
  constructor(
    private readonly known: KnownProject,
    private readonly newActors: ReadonlySet<number>,
  ) {
    const { days, dictionaries: { technical } } = known;
    this.totals = new EventTotals(days, technical);
    this.sightings = new Sightings(days, technical);
  }

  add(event: TimedEvent, actor: number): void {
    if (event.traffic !== 0) this.parts.addEvent(event, actor);
    this.sightings.add(actor, event);
  }

  /** Marks stored sessions for deletion. */
  remove(sessions: readonly SessionPart[]): void {
    for (const session of sessions) this.#goneSessions.push(session);
  }

  /** Marks stored rows of actors to be replaced by the sightings that are added here. */
  replace(actors: ReadonlyMap<number, StoredActor>): void {
    for (const [actor, stored] of actors) this.#goneActors.set(actor, stored);
  }

  /** Cuts all sessions that the changes touch, and stores sessions, actors and, if `rollsUp`, rollups. */
  async store(tx: Sql, projectId: number, rollsUp: boolean): Promise<void> {
    const { days, values } = this.known;
    const added = await this.parts.sessions();
    const isStored = (actor: number) => !this.recut.has(actor) && !this.newActors.has(actor);
    const goneKeys = new Set(this.#goneSessions.map(sessionKey));
    const near = (await sessionsNear(tx, projectId, added.filter(({ actor }) => isStored(actor))))
      .filter((part) => !goneKeys.has(sessionKey(part)));
    const recut = await sessionsOfActors(tx, projectId, [...this.recut]);
    const gone = [...this.#goneSessions, ...near, ...recut];
    const parts = new PartsOfActors();
    await inSlices([...added, ...near], addPart, parts);
    const came = await parts.sessions();
    const { stored, actors } = await this.#actors(tx, projectId, [...gone, ...came]);
    const changes = { totals: this.totals, gone, came, stored, actors, newActors: this.newActors };
    if (rollsUp) await rollUp(tx, { projectId, days, values }, changes);
    await replaceSessions(tx, projectId, gone, came);
    await writeActors(tx, projectId, actors);
  }

  /** Reads the stored rows of all touched actors, and returns them with their changes. */
  async #actors(tx: Sql, projectId: number, sessions: readonly SessionPart[]) {
    const { sightings, recut } = this;
    const goneActors = this.#goneActors;
    const touched = new Set([...sightings.actors(), ...recut, ...goneActors.keys()]);
    for (const { actor } of sessions) touched.add(actor);
    const isUnread = (actor: number) => !this.newActors.has(actor) && !goneActors.has(actor);
    const read = await readActors(tx, projectId, [...touched].filter(isUnread));
    const stored = new Map([...goneActors, ...read]);
    const actors: ActorChange[] = [];
    const context = { sightings, stored, replaced: recut.union(goneActors), actors };
    await inSlices(touched, addChange, context);
    return { stored, actors };
  }
}
