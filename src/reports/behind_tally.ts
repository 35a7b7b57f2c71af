import { joined } from "../scans/visitor.ts";
import { lengthened } from "../timelines/timeline.ts";

/** Whom a number counts: each actor with a moment. Of visits it is when the visit starts, of people when they came to count. */
export interface Behind {
  readonly actors: Int32Array;
  readonly ms: Float64Array;
}

/** Gathers whom a number counts. */
export class BehindTally {
  #length = 0;
  #actors = new Int32Array(1_024);
  #ms = new Float64Array(1_024);

  add(actor: number, ms: number): void {
    if (this.#length === this.#actors.length) {
      this.#actors = lengthened(this.#actors);
      this.#ms = lengthened(this.#ms);
    }
    this.#actors[this.#length] = actor;
    this.#ms[this.#length++] = ms;
  }

  all(): Behind {
    return {
      actors: this.#actors.slice(0, this.#length),
      ms: this.#ms.slice(0, this.#length),
    };
  }
}

/** Those of two visitors, one behind the other. */
export function joinBehind(some: Behind, more: Behind): Behind {
  return { actors: joined(some.actors, more.actors), ms: joined(some.ms, more.ms) };
}

/** Those at the places for which a test holds. */
export function behindWhere({ actors, ms }: Behind, test: (place: number) => boolean): Behind {
  const kept = new BehindTally();
  for (let i = 0; i < actors.length; i++) if (test(i)) kept.add(actors[i]!, ms[i]!);
  return kept.all();
}
