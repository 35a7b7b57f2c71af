import { GrowingList } from "../../store/growing_list.ts";

/**
 * The people or visits that a number counts: each actor with a time, the start of the visit or the moment
 * from which the person counts.
 */
export interface Behind {
  readonly actors: Int32Array;
  readonly ms: Float64Array;
}

/** Collects the people or visits that a number counts. */
export class BehindTally {
  readonly #actors = new GrowingList(new Int32Array(1_024));
  readonly #ms = new GrowingList(new Float64Array(1_024));

  add(actor: number, ms: number): void {
    this.#actors.add(actor);
    this.#ms.add(ms);
  }

  all(): Behind {
    return { actors: this.#actors.all(), ms: this.#ms.all() };
  }
}

/** Returns the entries at the places that pass a test. */
export function behindWhere({ actors, ms }: Behind, test: (place: number) => boolean): Behind {
  const kept = new BehindTally();
  for (let i = 0; i < actors.length; i++) if (test(i)) kept.add(actors[i]!, ms[i]!);
  return kept.all();
}
