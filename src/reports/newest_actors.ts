import { select } from "../scans/medians.ts";
import type { Behind } from "./behind_tally.ts";

/** Moments, and whose each is. */
export interface FoundMoments {
  readonly ms: readonly number[];
  readonly actors: readonly number[];
}

/** Moments between two looks at which of them are still wanted, at least. */
const CROWD_MIN = 100;

/**
 * The newest moments of those that are met, such as of visits or of people's last events: as many as are
 * wanted, and all of the last one's millisecond.
 */
export class NewestActors {
  readonly #rows: number;
  readonly #edgeMs: number;
  /** Whether an actor counts once, by the last of the moments. */
  readonly #isOnce: boolean;
  /** What is older is not wanted. */
  floorMs: number;
  ms: number[] = [];
  actors: number[] = [];
  #crowd: number;

  /** `edgeMs`: moments of this millisecond, the last that may be met, are wanted beside the `rows`. */
  constructor(rows: number, edgeMs: number, floorMs: number, { isOnce = false } = {}) {
    this.#rows = rows;
    this.#edgeMs = edgeMs;
    this.#isOnce = isOnce;
    this.floorMs = floorMs;
    this.#crowd = 2 * rows + CROWD_MIN;
  }

  add(ms: number, actor: number): void {
    if (ms < this.floorMs) return;
    this.ms.push(ms);
    this.actors.push(actor);
    if (this.ms.length >= this.#crowd) this.#thin();
  }

  addAll({ ms, actors }: FoundMoments): void {
    for (const [i, at] of ms.entries()) this.add(at, actors[i]!);
  }

  /** What was found so far, in no order. */
  found(): FoundMoments {
    this.#thin();
    return { ms: this.ms, actors: this.actors };
  }

  /** Keeps the last moment of each actor. */
  #keepLast(): void {
    const last = new Map<number, number>();
    for (const [i, actor] of this.actors.entries()) {
      const ms = this.ms[i]!;
      if (ms > (last.get(actor) ?? -Infinity)) last.set(actor, ms);
    }
    this.actors = [...last.keys()];
    this.ms = [...last.values()];
  }

  /** Lets go of what is not among the newest. */
  #thin(): void {
    if (this.#isOnce) this.#keepLast();
    const { ms, actors } = this;
    const ofEdge = ms.reduce((count, at) => count + Number(at === this.#edgeMs), 0);
    const first = ms.length - this.#rows - ofEdge;
    if (first > 0) {
      const ordered = Float64Array.from(ms);
      select(ordered, 0, ordered.length, first);
      this.floorMs = ordered[first]!;
      const isKept = (_: number, i: number) => ms[i]! >= this.floorMs;
      this.ms = ms.filter(isKept);
      this.actors = actors.filter(isKept);
    }
    this.#crowd = 2 * this.ms.length + CROWD_MIN;
  }
}

/** The newest of those whom a number counts; `edgeMs`: none later, and of it all. Null: the newest of all. */
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
