import type { Row } from "../db/sql.ts";
import type { LoadedSegment } from "../histories/segment_cache.ts";
import { TREND_VALUES_MAX } from "../limits.ts";
import { eventTest, isHeldByHistories, isKnownToHistories } from "./event_tests.ts";
import { type FieldId, fieldId } from "./filter_conditions.ts";
import type { EventMatch, Field, Filter } from "./filters.ts";
import { type MatchTests, matchTests, UNMATCHED } from "./match_tests.ts";
import { idOf, type Lines, MatchWalk } from "./match_walk.ts";
import { select } from "./medians.ts";
import type { Read } from "./report.ts";
import {
  type SelectedHistories,
  selectHistories,
  walkSelected,
  walkSelectedRuns,
} from "./selected_histories.ts";
import { factValue, type Span } from "./selection.ts";
import { SqlParams } from "./sql_params.ts";

/** What is counted in every bucket. */
export interface TrendQuestion {
  readonly buckets: readonly Span[];
  readonly events: readonly EventMatch[];
  readonly kind: "total" | "visitors" | "perVisitor";
  readonly by: Field | null;
}

export interface PointRow extends Row {
  /** 1-based among the most frequent values, 0 for any other. */
  readonly line: number;
  /** 1-based. */
  readonly bucket: number;
  readonly value: number | null;
  /** What `value` is to be divided by. */
  readonly divisor: number | null;
}

/** What trends are told from. */
export interface FoundTrends {
  /** Values with a line of their own, most events first; null where nothing is told apart. */
  readonly top: readonly (string | null)[] | null;
  /** Of each event, the buckets that have any. */
  readonly points: readonly (readonly PointRow[])[];
}

type Source = Pick<Read, "sql" | "scope" | "histories">;

const FACT_COLUMNS: Readonly<Record<FieldId, string>> = {
  name: "name_id",
  path: "path_id",
  context: "context_id",
  actor: "actor_id",
};
const OF_USERS: Filter = { field: "userId", op: "exists", values: [] };
/** No event has it, so its value is missing. */
const NO_ID = 0;

/** Counts the events that any of the matches takes, by the id of a field's value. */
class ValueCount {
  /** The count of id i stands at `i - idsFrom`. */
  readonly counts: Float64Array;

  /** `users`: the actors who are, if the id is an actor's; all others have none. */
  constructor(
    readonly tests: MatchTests,
    readonly span: Span,
    readonly of: FieldId,
    readonly idsFrom: number,
    ids: number,
    readonly users: Uint8Array | null,
  ) {
    this.counts = new Float64Array(ids);
  }

  follow(actor: number, segment: LoadedSegment, start: number, end: number): void {
    const { fromMs, times, names, paths, contexts } = segment;
    const fromTime = this.span.fromMs - fromMs;
    const toTime = this.span.toMs - fromMs;
    if (times[end - 1]! < fromTime || times[start]! >= toTime) return;
    const { counts, tests, of, idsFrom } = this;
    const { scope, groupOf, isScopeNarrowed } = tests;
    const { contextMin, contextMax } = scope;
    const actorId = this.users === null || this.users[actor] === 1 ? actor : NO_ID;
    for (let at = start; at < end; at++) {
      const name = names[at]!;
      const group = groupOf[name]!;
      if (group <= UNMATCHED) continue;
      const time = times[at]!;
      if (time < fromTime) continue;
      if (time >= toTime) return;
      const context = contexts[at]!;
      if (context < contextMin || context > contextMax) continue;
      const path = paths[at]!;
      if (isScopeNarrowed && !scope.passesBeyondName(path, context, actor)) continue;
      if (!tests.takesAny(group, path, context, actor)) continue;
      counts[idOf(of, name, path, context, actorId) - idsFrom]!++;
    }
  }

  /** The ids with events, without such as cannot be among the most frequent values. */
  candidates(): number[] {
    const ids: number[] = [];
    this.counts.forEach((count, at) => {
      if (count > 0) ids.push(at + this.idsFrom);
    });
    // Many contexts share a value: each counts.
    if (this.of === "context" || ids.length <= TREND_VALUES_MAX) return ids;
    const counts = Float64Array.from(ids, (id) => this.countOf(id));
    const edge = counts.length - TREND_VALUES_MAX;
    select(counts, 0, counts.length, edge);
    const least = counts[edge]!;
    return ids.filter((id) => this.countOf(id) >= least);
  }

  countOf(id: number): number {
    return this.counts[id - this.idsFrom]!;
  }
}

interface TopValue extends Row {
  readonly value: string | null;
  /** Those with events. */
  readonly ids: readonly number[];
}

/** The values with most events, ties by value, the missing one (null) last, and the ids that mean them. */
async function readTop(
  { sql, scope }: Source,
  by: Field,
  counted: ValueCount,
): Promise<TopValue[]> {
  const ids = counted.candidates();
  const params = new SqlParams();
  const { joins, value } = factValue(params, scope, by);
  const project = params.int(scope.projectId);
  const counts = `unnest(${params.ints(ids)}, ${
    params.bigints(ids.map((id) => counted.countOf(id)))
  })`;
  return await sql.query<TopValue>(
    `SELECT value, ids FROM (
      SELECT ${value} AS value, sum(f.events) AS events, json_agg(f.id) AS ids
      FROM (
        SELECT ${project} AS project_id, c.id, c.id AS ${FACT_COLUMNS[counted.of]}, c.events
        FROM ${counts} AS c (id, events)
      ) AS f ${joins} GROUP BY 1
    ) AS counted
    ORDER BY events DESC, value COLLATE "C" ASC NULLS LAST LIMIT ${params.int(TREND_VALUES_MAX)}`,
    params.values,
  );
}

/** The most frequent values of a field, and the line of each id: that of its value, 0 for any other. */
async function readLines(
  source: Source,
  { buckets, by }: TrendQuestion & { readonly by: Field },
  selected: SelectedHistories,
  tests: MatchTests,
): Promise<{ top: (string | null)[]; lines: Lines }> {
  const { sql, scope } = source;
  const of = fieldId(by);
  const { termMax, contextsFrom, contextsTo } = tests.scope;
  const isOfContext = of === "context";
  const idsFrom = isOfContext ? contextsFrom : 0;
  const idMax = isOfContext
    ? contextsTo
    : of === "actor"
    ? selected.histories.actorOf.length - 1
    : termMax;
  const users = of === "actor" ? (await eventTest(sql, scope, "include", [OF_USERS])).actors : null;
  const span: Span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const counted = new ValueCount(tests, span, of, idsFrom, idMax - idsFrom + 1, users);
  await walkSelectedRuns(
    sql,
    selected,
    (actor, segment, start, end) => counted.follow(actor, segment, start, end),
  );
  const top = await readTop(source, by, counted);
  const lineOf = new Uint8Array(idMax - idsFrom + 1);
  for (const [i, { ids }] of top.entries()) {
    for (const id of ids) lineOf[id - idsFrom] = i + 1;
  }
  if (users !== null) {
    for (let actor = 0; actor < lineOf.length; actor++) {
      if (users[actor] !== 1) lineOf[actor] = lineOf[NO_ID]!;
    }
  }
  return {
    top: top.map(({ value }) => value),
    lines: { of, count: top.length + 1, lineOf, idsFrom },
  };
}

function pointsOf(
  walk: MatchWalk,
  event: number,
  lines: number,
  { buckets, kind }: TrendQuestion,
): PointRow[] {
  const rows: PointRow[] = [];
  for (let line = 0; line < lines; line++) {
    const place = walk.placeOf(event, line);
    for (let bucket = 0; bucket < buckets.length; bucket++) {
      const total = walk.totalsOf[place + bucket]!;
      if (total === 0) continue;
      const actors = walk.actorsOf[place + bucket]!;
      rows.push({
        line,
        bucket: bucket + 1,
        value: kind === "visitors" ? actors : total,
        divisor: kind === "perVisitor" ? actors : null,
      });
    }
  }
  return rows;
}

/**
 * What the trends of events come to, followed in histories. Null where these are not at hand, or do
 * not hold what filters or `by` ask for: then the facts tell it.
 */
export async function findInHistories(
  source: Source,
  question: TrendQuestion,
): Promise<FoundTrends | null> {
  const { sql, scope } = source;
  const { buckets, events, kind, by } = question;
  if (!isKnownToHistories(events.flatMap((event) => event.filters))) return null;
  if (by !== null && !isHeldByHistories(by)) return null;
  const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const selected = await selectHistories(source, span);
  if (selected === null) return null;
  const tests = await matchTests(sql, { ...scope, filters: selected.eventFilters }, events);
  const found = by === null ? null : await readLines(source, { ...question, by }, selected, tests);
  const walk = new MatchWalk(tests, buckets, found?.lines ?? null, false);
  if (kind === "total") {
    await walkSelectedRuns(
      sql,
      selected,
      (actor, segment, start, end) => walk.follow(actor, segment, start, end),
    );
  } else await walkSelected(sql, selected, (actor, way) => walk.visit(actor, way));
  const lines = found?.lines.count ?? 1;
  return {
    top: found?.top ?? null,
    points: events.map((_, event) => pointsOf(walk, event, lines, question)),
  };
}
