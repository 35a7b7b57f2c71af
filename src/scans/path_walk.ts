import type { VisitRun } from "../timelines/run_walk.ts";
import type { Span } from "../query/selection.ts";
import { type EventTest, eventTest } from "./event_tests.ts";
import type { Read } from "./read.ts";
import { selectHistories, walkSelectedStretches } from "./selected_histories.ts";

/** By path id; what has no path stands at 0. */
export interface PathCounts {
  /** Distinct actors of selected events of some names. */
  readonly visitors: Int32Array;
  /** Those of the events that have one of these names. */
  readonly events: Int32Array;
}

class PathWalk implements PathCounts {
  readonly visitors: Int32Array;
  readonly events: Int32Array;
  /** The last actor who was seen on each path. */
  readonly #lastActors: Int32Array;

  constructor(
    readonly span: Span,
    readonly test: EventTest,
    readonly names: readonly number[],
    readonly counted: number,
  ) {
    const counts = () => new Int32Array(test.termMax + 1);
    this.visitors = counts();
    this.events = counts();
    this.#lastActors = counts().fill(-1);
  }

  readonly visit: VisitRun = (actor, segment, start, end) => {
    const { times, names: ids, paths, contexts, marks } = segment;
    const { visitors, events, test, names, counted } = this;
    const lastActors = this.#lastActors;
    const fromTime = this.span.fromMs - segment.fromMs;
    const toTime = this.span.toMs - segment.fromMs;
    for (let at = start; at < end; at++) {
      const name = ids[at]!;
      const time = times[at]!;
      if (time < fromTime || time >= toTime || !names.includes(name)) continue;
      const path = paths[at]!;
      if (!test.passes(name, path, contexts[at]!, actor, marks[at]!)) continue;
      if (name === counted) events[path]!++;
      if (lastActors[path] === actor) continue;
      lastActors[path] = actor;
      visitors[path]!++;
    }
  };
}

/** Distinct actors of selected events of one name in a span, on paths whose id is marked by 1. */
export async function countActorsOn(
  source: Pick<Read, "sql" | "scope" | "histories">,
  span: Span,
  name: number,
  isOn: Uint8Array,
): Promise<number> {
  const { sql, scope } = source;
  const selected = await selectHistories(source, span);
  const { histories: { bits }, eventFilters } = selected;
  const test = await eventTest(sql, scope, scope.bots, eventFilters, bits);
  let actors = 0;
  let lastActor = -1;
  await walkSelectedStretches(sql, selected, (actor, segment, start, end) => {
    if (actor === lastActor) return;
    const { fromMs, times, names, paths, contexts, marks } = segment;
    for (let at = start; at < end; at++) {
      const ms = fromMs + times[at]!;
      if (names[at] !== name || isOn[paths[at]!] !== 1 || ms < span.fromMs || ms >= span.toMs) {
        continue;
      }
      if (!test.passes(name, paths[at]!, contexts[at]!, actor, marks[at]!)) continue;
      actors++;
      lastActor = actor;
      return;
    }
  });
  return actors;
}

/**
 * Who was on which path in a span: distinct actors of selected events of these names, and how many of
 * the events are of the name that is `counted`.
 */
export async function countPaths(
  source: Pick<Read, "sql" | "scope" | "histories">,
  span: Span,
  names: readonly number[],
  counted: number,
): Promise<PathCounts> {
  const { sql, scope } = source;
  const selected = await selectHistories(source, span);
  const { histories: { bits }, eventFilters } = selected;
  const test = await eventTest(sql, scope, scope.bots, eventFilters, bits);
  const walk = new PathWalk(span, test, names, counted);
  await walkSelectedStretches(sql, selected, walk.visit);
  return walk;
}
