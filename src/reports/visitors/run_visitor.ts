import type { RunBits } from "../../timelines/timeline.ts";
import { type FollowRun, followRuns, type Visitor } from "../../scans/visitor.ts";

/** A visitor that follows each run by itself, and keeps nothing of whose it is. */
export function runVisitor<Counts>(
  follow: FollowRun,
  result: () => Counts,
  bits?: RunBits,
): Visitor<Counts> {
  return {
    ...bits === undefined ? {} : { bits },
    visit: (actor, timeline) => followRuns(actor, timeline, follow, bits),
    result,
  };
}
