import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import { PAGE_VIEW } from "../../query/terms.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { followRuns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import { type Behind, BehindTally, joinBehind } from "../behind_tally.ts";

export const MINUTE_MS = 60_000;

interface Inputs {
  readonly test: EventPasses;
  readonly asOfMs: number;
  /** When the longer and the shorter time back begins. */
  readonly longAgoMs: number;
  readonly shortAgoMs: number;
}

/** Who is there, and what they look at: few, so that each is kept by name. */
export interface LiveCounts {
  readonly lastLong: Set<number>;
  readonly lastShort: Set<number>;
  /** By path, in the shorter time. */
  readonly actorsOn: Map<number, Set<number>>;
  /** Page views, by the minute of the clock since 1970. */
  readonly viewsAt: Map<number, number>;
}

class LiveVisitor implements Visitor<LiveCounts> {
  readonly #counts: LiveCounts = {
    lastLong: new Set(),
    lastShort: new Set(),
    actorsOn: new Map(),
    viewsAt: new Map(),
  };
  readonly #test: EventTest;

  constructor(readonly inputs: Inputs, words: readonly Int32Array[]) {
    this.#test = new EventTest(inputs.test, words);
  }

  visit(actor: number, timeline: Timeline): void {
    followRuns(actor, timeline, this.#follow);
  }

  result(): LiveCounts {
    return this.#counts;
  }

  /** From the last event of a slice back to the first one that counts. */
  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    const { asOfMs, longAgoMs, shortAgoMs } = this.inputs;
    const { lastLong, lastShort, viewsAt } = this.#counts;
    for (let at = end - 1; at >= start; at--) {
      const ms = fromMs + times[at]!;
      if (ms < longAgoMs) return;
      const [name, path] = [names[at]!, paths[at]!];
      if (ms > asOfMs) continue;
      if (!this.#test.passes(name, path, contexts[at]!, actor, filterBits[at]!)) continue;
      lastLong.add(actor);
      const minute = Math.floor(ms / MINUTE_MS);
      if (name === PAGE_VIEW) viewsAt.set(minute, (viewsAt.get(minute) ?? 0) + 1);
      if (ms < shortAgoMs) continue;
      lastShort.add(actor);
      if (path !== 0) this.#addTo(path, actor);
    }
  };

  #addTo(path: number, actor: number): void {
    const { actorsOn } = this.#counts;
    const actors = actorsOn.get(path);
    if (actors === undefined) actorsOn.set(path, new Set([actor]));
    else actors.add(actor);
  }
}

/** Run by run: an actor may be met by several visitors. */
export const LIVE_COUNTS: VisitorKind<Inputs, LiveCounts> = {
  name: "live",
  create: (inputs, words) => new LiveVisitor(inputs, words),
  merge: (counts, more) => {
    for (const [path, actors] of more.actorsOn) {
      counts.actorsOn.set(path, (counts.actorsOn.get(path) ?? new Set()).union(actors));
    }
    for (const [minute, views] of more.viewsAt) {
      counts.viewsAt.set(minute, (counts.viewsAt.get(minute) ?? 0) + views);
    }
    return {
      ...counts,
      lastLong: counts.lastLong.union(more.lastLong),
      lastShort: counts.lastShort.union(more.lastShort),
    };
  },
};

interface PeopleInputs {
  readonly test: EventPasses;
  /** From when to when, both included, they were there. */
  readonly fromMs: number;
  readonly asOfMs: number;
}

/** Notes who was there, each with the last event that counts. */
class LivePeopleVisitor implements Visitor<Behind> {
  readonly #behind = new BehindTally();
  readonly #test: EventTest;
  #lastMs = -Infinity;

  constructor(readonly inputs: PeopleInputs, words: readonly Int32Array[]) {
    this.#test = new EventTest(inputs.test, words);
  }

  visit(actor: number, timeline: Timeline): void {
    this.#lastMs = -Infinity;
    followRuns(actor, timeline, this.#follow);
    if (this.#lastMs > -Infinity) this.#behind.add(actor, this.#lastMs);
  }

  result(): Behind {
    return this.#behind.all();
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    const { inputs } = this;
    for (let at = end - 1; at >= start; at--) {
      const ms = fromMs + times[at]!;
      if (ms < inputs.fromMs) return;
      if (ms > inputs.asOfMs) continue;
      const [name, path] = [names[at]!, paths[at]!];
      if (!this.#test.passes(name, path, contexts[at]!, actor, filterBits[at]!)) continue;
      this.#lastMs = Math.max(this.#lastMs, ms);
      return;
    }
  };
}

export const LIVE_PEOPLE: VisitorKind<PeopleInputs, Behind> = {
  name: "live people",
  create: (inputs, words) => new LivePeopleVisitor(inputs, words),
  merge: joinBehind,
};
