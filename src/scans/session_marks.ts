import type { Sql } from "../db/sql.ts";
import { walkPartActors } from "../timelines/actor_walk.ts";
import type { Histories, HistoryPart } from "../timelines/histories.ts";
import type { Filter } from "../query/filters.ts";
import type { Scope, Span } from "../query/selection.ts";
import type { Marked } from "./property_marks.ts";
import { sessionTest } from "./session_tests.ts";
import { SessionWalk } from "./session_walk.ts";

/** A filter on a session's field, and of each segment where its bit goes to. */
export interface SessionMarks {
  readonly filter: Filter;
  readonly marks: readonly Marked[];
}

/**
 * Marks the events of a part whose session passes a filter, as steps and goals ask for them; those of
 * no session pass a negative one. Sessions must lie whole in the reach.
 */
export async function markBySessions(
  sql: Sql,
  scope: Pick<Scope, "projectId" | "siteHost">,
  { projectId, actorOf }: Pick<Histories, "projectId" | "actorOf">,
  part: HistoryPart,
  reach: Span,
  asked: readonly SessionMarks[],
): Promise<void> {
  for (const { filter, marks } of asked) {
    const test = await sessionTest(sql, scope, [filter]);
    const walk = new SessionWalk(reach, (session) => {
      const { traffic, entryPath, exitPath } = session;
      const passes = traffic !== 0 && test.passes(traffic, entryPath, exitPath);
      if (!passes && !test.passesNone) return;
      session.forEachStretch(({ traffics }, start, end, place) => {
        const { bits, first, bit } = marks[place]!;
        for (let at = start; at < end; at++) {
          if (traffics[at] === 0 ? test.passesNone : passes) bits[first + at]! |= bit;
        }
      });
    });
    await walkPartActors(sql, { projectId, actorOf }, part, (actor, way) => walk.visit(actor, way));
  }
}
