import type { Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { firstCountedMs, type TechnicalNames } from "../../scans/technical_names.ts";
import { joined } from "../../scans/visitor.ts";
import { GrowingList } from "./growing_list.ts";

/** Actors, and what each is noted for, in as many rows as there are. */
export interface Pairs {
  readonly actors: Int32Array;
  readonly places: Int32Array;
}

/** One behind the other. */
export function joinPairs(some: Pairs, more: Pairs): Pairs {
  return {
    actors: joined(some.actors, more.actors),
    places: joined(some.places, more.places),
  };
}

export interface NewcomerInputs {
  readonly span: Span;
  readonly technical: TechnicalNames;
}

/**
 * Who may be new in a span: actors whose first event, of any name that is counted, lies in it as far as
 * a scan looks back. The database tells meanwhile who is.
 */
export class NewcomerFinder {
  readonly #inputs: NewcomerInputs;
  readonly #actors = new GrowingList(new Int32Array(1_024));
  readonly #places = new GrowingList(new Int32Array(1_024));

  constructor(inputs: NewcomerInputs) {
    this.#inputs = inputs;
  }

  /** When the first event on the timeline was, if it lies in the span; else the actor is not new: null. */
  firstMs(timeline: Timeline): number | null {
    const { span, technical } = this.#inputs;
    const firstMs = firstCountedMs(timeline, technical);
    return firstMs >= span.fromMs && firstMs < span.toMs ? firstMs : null;
  }

  /** Notes that an actor, if new, counts at a place. */
  add(actor: number, place: number): void {
    this.#actors.add(actor);
    this.#places.add(place);
  }

  found(): Pairs {
    return { actors: this.#actors.all(), places: this.#places.all() };
  }
}
