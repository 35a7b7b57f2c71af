import type { ActorWay } from "../histories/actor_way.ts";
import type { LoadedSegment } from "../histories/loaded_segment.ts";
import type { Span } from "../selection/selection.ts";
import { CLICK, PAGE_VIEW } from "../selection/terms.ts";
import { type EventTest, eventTest } from "../walks/event_tests.ts";
import type { Read } from "../walks/read.ts";
import { selectHistories, walkSelected } from "../walks/selected_histories.ts";

/** By path id: distinct actors of selected page views and clicks, and the clicks among these. */
export interface PathCounts {
  readonly visitors: Int32Array;
  readonly clicks: Int32Array;
}

class PathWalk implements PathCounts {
  readonly visitors: Int32Array;
  readonly clicks: Int32Array;
  /** The last actor who was seen on each path. */
  readonly #lastActors: Int32Array;

  constructor(readonly span: Span, readonly test: EventTest) {
    this.visitors = new Int32Array(test.termMax + 1);
    this.clicks = new Int32Array(test.termMax + 1);
    this.#lastActors = new Int32Array(test.termMax + 1).fill(-1);
  }

  visit(actor: number, way: ActorWay): void {
    const { segments, segmentOf, starts, ends } = way;
    for (let i = way.first; i < way.end; i++) {
      this.#follow(actor, segments[segmentOf[i]!]!, starts[i]!, ends[i]!);
    }
  }

  #follow(actor: number, segment: LoadedSegment, start: number, end: number): void {
    const { times, names, paths, contexts, marks } = segment;
    const { visitors, clicks, test } = this;
    const lastActors = this.#lastActors;
    const fromTime = this.span.fromMs - segment.fromMs;
    const toTime = this.span.toMs - segment.fromMs;
    for (let at = start; at < end; at++) {
      const name = names[at]!;
      if (name !== PAGE_VIEW && name !== CLICK) continue;
      const time = times[at]!;
      if (time < fromTime || time >= toTime) continue;
      const path = paths[at]!;
      if (!test.passes(name, path, contexts[at]!, actor, marks[at]!)) continue;
      if (name === CLICK) clicks[path]!++;
      if (lastActors[path] === actor) continue;
      lastActors[path] = actor;
      visitors[path]!++;
    }
  }
}

/** Who was on which page; null where histories do not hold what the filters ask for. */
export async function countPathsInHistories(
  read: Pick<Read, "sql" | "scope" | "histories">,
  span: Span,
): Promise<PathCounts | null> {
  const { sql, scope } = read;
  const selected = await selectHistories(read, span);
  if (selected === null) return null;
  const walk = new PathWalk(
    span,
    await eventTest(sql, scope, scope.bots, selected.eventFilters, selected.histories.bits),
  );
  await walkSelected(sql, selected, (actor, way) => walk.visit(actor, way));
  return walk;
}
