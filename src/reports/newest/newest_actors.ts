import type { Behind } from "../behind/behind_tally.ts";
import { NewestMoments } from "./newest_moments.ts";

/** Moments, and the actor of each. */
export interface FoundMoments {
  readonly ms: readonly number[];
  readonly actors: readonly number[];
}

/** Returns the moments of two visitors, one after the other. */
export function joinMoments(some: FoundMoments, more: FoundMoments): FoundMoments {
  return { ms: [...some.ms, ...more.ms], actors: [...some.actors, ...more.actors] };
}

/** Keeps the newest times, such as starts of visits or times of people's last events, with their actors. */
export class NewestActors extends NewestMoments {
  readonly actors = this.columns[0]!;
  /** Whether only the last moment of each actor counts. */
  readonly #isOnce: boolean;

  constructor(rows: number, edgeMs: number, floorMs: number, { isOnce = false } = {}) {
    super(1, rows, edgeMs, floorMs);
    this.#isOnce = isOnce;
  }

  add(ms: number, actor: number): void {
    if (ms < this.floorMs) return;
    this.actors.push(actor);
    this.addMoment(ms);
  }

  addAll({ ms, actors }: FoundMoments): void {
    for (const [i, at] of ms.entries()) this.add(at, actors[i]!);
  }

  /** Returns the newest moments so far, unordered. */
  found(): FoundMoments {
    this.thin();
    return { ms: this.ms, actors: this.actors };
  }

  override thin(): void {
    if (this.#isOnce) this.#keepLast();
    super.thin();
  }

  /** Keeps the last moment of each actor. */
  #keepLast(): void {
    const { ms, actors } = this;
    const last = new Map<number, number>();
    for (const [i, actor] of actors.entries()) {
      if (ms[i]! > (last.get(actor) ?? -Infinity)) last.set(actor, ms[i]!);
    }
    let kept = 0;
    for (const [actor, at] of last) {
      actors[kept] = actor;
      ms[kept++] = at;
    }
    actors.length = ms.length = kept;
  }
}

/**
 * Returns the newest of the people or visits that a number counts.
 * @param edgeMs the last millisecond to return; all of it are returned beside the `rows`; null: no such bound
 */
export function newestOf(
  { actors, ms }: Behind,
  rows: number,
  edgeMs: number | null,
): FoundMoments {
  const newest = new NewestActors(rows, edgeMs ?? NaN, -Infinity);
  for (let i = 0; i < ms.length; i++) {
    if (edgeMs === null || ms[i]! <= edgeMs) newest.add(ms[i]!, actors[i]!);
  }
  return newest.found();
}
