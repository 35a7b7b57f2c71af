import type { Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { EventInSession } from "../../scans/event_in_session.ts";
import { SessionScan } from "../../scans/session_scan.ts";
import type { VisitorKind } from "../../scans/visitor.ts";
import type { NewestInputs } from "../newest/newest_events.ts";
import { type FoundMoments, joinMoments, NewestActors } from "../newest/newest_actors.ts";

/** Visits that start in `span` are listed. */
interface NewestVisitsInputs extends Omit<NewestInputs, "test"> {
  /** Contains the whole of each of these visits. */
  readonly reach: Span;
  /** A visit must contain one of these events. */
  readonly selected: EventPasses;
  /** A visit must contain one of these events, too; null: no such condition. */
  readonly converting: EventPasses | null;
  /** Only this actor's visits are listed; null: all actors'. */
  readonly actor: number | null;
}

/** Lists the newest selected visits: when they start, and whose they are. */
export const NEWEST_VISITS: VisitorKind<NewestVisitsInputs, FoundMoments> = {
  name: "newest visits",
  create: (inputs, words) => {
    const { rows, edgeMs, span, reach, actor: wanted } = inputs;
    const newest = new NewestActors(rows, edgeMs, span.fromMs);
    const oneOf = (passes: EventPasses) => new EventInSession(new EventTest(passes, words));
    const selected = oneOf(inputs.selected);
    const converting = inputs.converting === null ? null : oneOf(inputs.converting);
    const { actors } = inputs.selected;
    const scan = new SessionScan(reach, (session) => {
      const { hasOwn, startMs, actor } = session;
      if (!hasOwn || startMs < newest.floorMs || startMs >= span.toMs) return;
      const isListed = selected.isIn(session) && converting?.isIn(session) !== false;
      if (isListed) newest.add(startMs, actor);
    });
    const visit = (actor: number, timeline: Timeline): void => {
      if (wanted !== null && actor !== wanted) return;
      if (actors !== null && actors[actor] !== 1) return;
      scan.visit(actor, timeline);
    };
    return { visit, result: () => newest.found() };
  },
  merge: joinMoments,
};
