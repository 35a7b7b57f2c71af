import type { Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { firstCountedMs, type TechnicalNames } from "../../scans/technical_names.ts";
import { GrowingList } from "../../store/growing_list.ts";

/** Rows of an actor, and the place that the actor counts at if new. */
export interface Pairs {
  readonly actors: Int32Array;
  readonly places: Int32Array;
}

export interface NewcomerInputs {
  readonly span: Span;
  readonly technical: TechnicalNames;
}

/**
 * Collects the actors who may be new in a span, since their first counted event in the scan is in it.
 * Meanwhile the database reads which of them are new: see `withNewcomers`.
 */
export class NewcomerFinder {
  readonly #actors = new GrowingList(new Int32Array(1_024));
  readonly #places = new GrowingList(new Int32Array(1_024));

  constructor(private readonly inputs: NewcomerInputs) {}

  /** Returns the time of the timeline's first counted event; null: not in the span, so the actor is not new. */
  firstMs(timeline: Timeline): number | null {
    const { span, technical } = this.inputs;
    const firstMs = firstCountedMs(timeline, technical);
    return firstMs >= span.fromMs && firstMs < span.toMs ? firstMs : null;
  }

  /** Records that an actor, if new, counts at a place. */
  add(actor: number, place: number): void {
    this.#actors.add(actor);
    this.#places.add(place);
  }

  found(): Pairs {
    return { actors: this.#actors.all(), places: this.#places.all() };
  }
}
