import type { Row } from "../db/sql.ts";
import { walkPartActors } from "../timelines/actor_walk.ts";
import type { ActorWay } from "../timelines/actor_way.ts";
import type { IntegerColumn } from "../store/integer_codec.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { type SessionFieldId, sessionFieldId } from "../query/filter_conditions.ts";
import type { SessionField } from "../query/filters.ts";
import type { Span } from "../query/selection.ts";
import { type MatchTests, UNMATCHED } from "./match_tests.ts";
import type { Read } from "./read.ts";
import type { SelectedHistories } from "./selected_histories.ts";
import { SessionWalk, type WalkedSession } from "./session_walk.ts";
import { emptyIds, idsIn, type IdsOf, NO_ID, type ValueIds } from "./value_ids.ts";
import { readTexts } from "./value_texts.ts";

const TRAFFIC_MAX =
  "SELECT coalesce(max(traffic_id), 0) AS traffic_max FROM traffic WHERE project_id = $1::int";

interface TrafficMax extends Row {
  readonly traffic_max: number;
}

/** Writes an id of its session beside each event that is in one, of sessions with an event in a span. */
class SessionIdWriter {
  readonly #columns = new WeakMap<LoadedSegment, IntegerColumn>();
  readonly idsOf: IdsOf = idsIn(this.#columns);
  readonly #idMax: number;
  readonly #of: SessionFieldId;
  readonly #span: Span;
  readonly #groupOf: Int32Array;
  readonly #walk: SessionWalk;
  #id = NO_ID;
  readonly #visitStretch = (segment: LoadedSegment, start: number, end: number) =>
    this.#write(segment, start, end);

  constructor(reach: Span, { groupOf }: MatchTests, span: Span, of: SessionFieldId, idMax: number) {
    this.#idMax = idMax;
    this.#of = of;
    this.#span = span;
    this.#groupOf = groupOf;
    this.#walk = new SessionWalk(reach, (session) => this.#visitSession(session));
  }

  /** What follows is of these segments. */
  open(segments: readonly LoadedSegment[]): void {
    for (const segment of segments) {
      this.#columns.set(segment, emptyIds(this.#idMax, segment.times.length));
    }
  }

  visit(actor: number, way: ActorWay): void {
    if (this.#isAsked(way)) this.#walk.visit(actor, way);
  }

  /** Whether any match may take an event: most actors need not be followed for a seldom name. */
  #isAsked(way: ActorWay): boolean {
    const groupOf = this.#groupOf;
    const { segments, segmentOf, starts, ends } = way;
    for (let i = way.first; i < way.end; i++) {
      const { names } = segments[segmentOf[i]!]!;
      const end = ends[i]!;
      for (let at = starts[i]!; at < end; at++) if (groupOf[names[at]!]! > UNMATCHED) return true;
    }
    return false;
  }

  #visitSession(session: WalkedSession): void {
    const { fromMs, toMs } = this.#span;
    if (session.traffic === 0 || session.lastMs < fromMs || session.startMs >= toMs) return;
    this.#id = session[this.#of];
    session.forEachStretch(this.#visitStretch);
  }

  #write(segment: LoadedSegment, start: number, end: number): void {
    const ids = this.idsOf(segment)!;
    const { traffics } = segment;
    const id = this.#id;
    for (let at = start; at < end; at++) if (traffics[at] !== 0) ids[at] = id;
  }
}

/**
 * The ids of a field of the events' sessions, of all events in a span that any match may take. The
 * sessions must lie whole in the reach of the histories.
 */
export async function sessionValueIds(
  { sql, scope }: Pick<Read, "sql" | "scope">,
  by: SessionField,
  { histories, reach }: SelectedHistories,
  tests: MatchTests,
  span: Span,
): Promise<ValueIds> {
  const of = sessionFieldId(by);
  const isOfTraffic = of === "traffic";
  const [found] = await sql.query<TrafficMax>(TRAFFIC_MAX, [scope.projectId]);
  const idMax = isOfTraffic ? found!.traffic_max : tests.scope.termMax;
  const writer = new SessionIdWriter(reach, tests, span, of, idMax);
  histories.prepare(async (part) => {
    writer.open(part.segments);
    await walkPartActors(sql, histories, part, (actor, way) => writer.visit(actor, way));
  });
  return {
    idsOf: writer.idsOf,
    idsFrom: NO_ID,
    idMax,
    areShared: isOfTraffic,
    users: null,
    textsOf: (ids) => readTexts(sql, scope, by, ids),
  };
}
