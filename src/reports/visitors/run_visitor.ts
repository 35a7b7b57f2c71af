import type { RunBits } from "../../timelines/timeline.ts";
import { type FollowRun, followRuns, type Visitor } from "../../scans/visitor.ts";

/** Makes a visitor that handles each run by itself. */
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
