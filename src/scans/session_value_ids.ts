import { sharedColumn } from "../timelines/shared_memory.ts";
import { sessionFieldId } from "../query/filter_conditions.ts";
import type { SessionField } from "../query/filters.ts";
import type { Span } from "../query/selection.ts";
import type { MatchPasses } from "./match_tests.ts";
import type { Read } from "./read.ts";
import type { SelectedTimelines } from "./selected_timelines.ts";
import { SESSION_ID_WRITER } from "./session_id_writer.ts";
import { idBounds } from "./id_bounds.ts";
import { emptyIds, MADE_IDS, NO_ID } from "./value_ids.ts";
import type { ValueIds } from "./event_value_ids.ts";
import { readIds, readTexts } from "./value_texts.ts";

/**
 * Returns the ids of a field of the events' sessions, for the events in a span that any match may take.
 * The timelines must hold whole sessions.
 */
export async function sessionValueIds(
  { sql, scope }: Pick<Read, "sql" | "scope">,
  by: SessionField,
  { timelines, reach }: SelectedTimelines,
  matches: MatchPasses,
  span: Span,
): Promise<ValueIds> {
  const of = sessionFieldId(by);
  const isOfTraffic = of === "traffic";
  const idMax = isOfTraffic
    ? (await idBounds(sql, scope.projectId, "trafficMax")).trafficMax
    : matches.scope.termMax;
  const inputs = { of, reach, span, matches };
  timelines.prepare(async ({ segments, memory, scan }) => {
    for (const { lazies, times } of segments) {
      lazies.set(MADE_IDS, sharedColumn(memory.take, emptyIds(idMax, times.length)));
    }
    await scan(SESSION_ID_WRITER, inputs);
  });
  return {
    from: MADE_IDS,
    idsFrom: NO_ID,
    idMax,
    idsOf: isOfTraffic ? null : (values) => readIds(sql, scope, by, values),
    users: null,
    textsOf: (ids, most) => readTexts(sql, scope, by, ids, most),
  };
}
