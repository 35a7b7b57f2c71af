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

/** What becomes of actors: events, and sessions of others, that are theirs now; and what they lose. */
export class Arrivals {
  /** Events that are new, or gone. */
  readonly totals: EventTotals;
  readonly parts = new PartsOfActors();
  readonly sightings: Sightings;
  /** Actors whose events are all told again: what is stored of them does not count. */
  readonly recut = new Set<number>();
  /** Stored sessions that are nobody's any more, and actors that are others now. */
  readonly gone: SessionPart[] = [];
  readonly left = new Map<number, StoredActor>();
  readonly #known: KnownProject;
  readonly #newActors: ReadonlySet<number>;

  /** @param newActors of whom nothing was stored before */
  constructor(known: KnownProject, newActors: ReadonlySet<number>) {
    const { days, dictionaries: { technical } } = known;
    this.#known = known;
    this.#newActors = newActors;
    this.totals = new EventTotals(days, technical);
    this.sightings = new Sightings(days, technical);
  }

  add(event: TimedEvent, actor: number): void {
    if (event.traffic !== 0) this.parts.addEvent(event, actor);
    this.sightings.add(actor, event);
  }

  /** Cuts the sessions that they touch, and stores sessions, actors and, where they hold, rollups. */
  async store(tx: Sql, projectId: number, rollsUp = true): Promise<void> {
    const { days, values } = this.#known;
    const fresh = await this.parts.sessions();
    const isStored = (actor: number) => !this.recut.has(actor) && !this.#newActors.has(actor);
    const left = new Set(this.gone.map(sessionKey));
    const near = (await sessionsNear(tx, projectId, fresh.filter(({ actor }) => isStored(actor))))
      .filter((part) => !left.has(sessionKey(part)));
    const recut = await sessionsOfActors(tx, projectId, [...this.recut]);
    const gone = [...this.gone, ...near, ...recut];
    const parts = new PartsOfActors();
    await inSlices([...fresh, ...near], (part) => parts.add(part));
    const came = await parts.sessions();
    const { stored, actors } = await this.#actors(tx, projectId, [...gone, ...came]);
    const changes = { totals: this.totals, gone, came, stored, actors, newActors: this.#newActors };
    if (rollsUp) await rollUp(tx, { projectId, days, values }, changes);
    await replaceSessions(tx, projectId, gone, came);
    await writeActors(tx, projectId, actors);
  }

  /** What is stored, and will be, of all whom this touches. */
  async #actors(tx: Sql, projectId: number, sessions: readonly SessionPart[]) {
    const { sightings, recut, left } = this;
    const touched = new Set([...sightings.actors(), ...recut, ...left.keys()]);
    for (const { actor } of sessions) touched.add(actor);
    const known = [...touched].filter((actor) => !this.#newActors.has(actor) && !left.has(actor));
    const stored = new Map([...left, ...await readActors(tx, projectId, known)]);
    const actors: ActorChange[] = [];
    await inSlices(touched, (actor) => {
      const before = stored.get(actor) ?? null;
      const isAnew = recut.has(actor) || left.has(actor);
      const after = sightings.together(actor, isAnew ? null : before);
      if (after !== before) actors.push({ actor, before, after });
    });
    return { stored, actors };
  }
}
