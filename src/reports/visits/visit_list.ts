import type { Goal } from "../saved/goal_definitions.ts";
import { isNarrowed, matchFilters, type Span } from "../../query/selection.ts";
import { keyedRow } from "../../db/keyed_rows.ts";
import { SqlParams } from "../../query/sql_params.ts";
import { withoutTechnical } from "../../query/technical.ts";
import { eventPasses } from "../../scans/event_tests.ts";
import type { ScanSource } from "../../scans/read.ts";
import { selectTimelines } from "../../scans/selected_timelines.ts";
import { partsBackwards } from "../newest/backwards.ts";
import { type FoundMoments, NewestActors } from "../newest/newest_actors.ts";
import { NEWEST_VISITS } from "./newest_visits_visitor.ts";
import type { VisitPlace } from "./visit_id.ts";
import { NEWEST_FIRST, readVisits, type StoredVisit } from "./visit_rows.ts";

/** Which of the visits that pass the scope are listed. */
interface VisitQuestion {
  readonly span: Span;
  /** Only this actor's visits; null: all actors'. */
  readonly actorId: number | null;
  /** Visits that reached this goal; null: all. */
  readonly goal: Goal | null;
  /** The last visit of the page before; null: the page is the first. */
  readonly after: VisitPlace | null;
  readonly rows: number;
}

/** Returns the SQL condition for visits after a position, in the order of the list. */
function isAfter(params: SqlParams, after: VisitPlace | null): string {
  if (after === null) return "true";
  const ms = params.ms(after.ms);
  return `s.first_ms <= ${ms} AND (s.first_ms < ${ms} OR s.entry_id < ${
    params.text(after.entryId)
  }::uuid)`;
}

/**
 * Lists visits without filters from the table of sessions, by the index on their start. Not for `bots=only`:
 * such visits are too few among all, and are found by a scan, as with filters.
 */
async function listStored(
  { sql, scope }: ScanSource,
  { span, actorId, after, rows }: VisitQuestion,
): Promise<StoredVisit[]> {
  const params = new SqlParams();
  const conditions = [
    // Hidden from the planner, which would take a project that its statistics do not know for one without rows.
    `s.project_id = (SELECT ${params.int(scope.projectId)})`,
    `s.first_ms >= ${params.ms(span.fromMs)} AND s.first_ms < ${params.ms(span.toMs)}`,
    isAfter(params, after),
    ...scope.bots === "exclude" ? ["s.humans > 0"] : [],
    ...actorId === null ? [] : [`s.actor_id = ${params.int(actorId)}`],
  ];
  const chosen = `SELECT * FROM sessions s WHERE ${
    conditions.join(" AND ")
  } ORDER BY ${NEWEST_FIRST} LIMIT ${params.int(rows)}`;
  return await readVisits(sql, chosen, params.values);
}

/** Finds the newest visits that start in a part of the span: when they start, and whose they are. */
async function newestIn(
  source: ScanSource,
  part: Span,
  { actorId, goal, after, rows }: VisitQuestion,
): Promise<FoundMoments> {
  const { sql, scope } = source;
  const selected = await selectTimelines(source, part, {
    filters: goal?.match.filters ?? [],
    sessions: true,
  });
  const { eventFilters, timelines, reach } = selected;
  const lists = [
    withoutTechnical(eventFilters),
    ...goal === null ? [] : [matchFilters(goal.match)],
  ];
  const passes = await eventPasses(sql, scope, scope.bots, lists, timelines.bits);
  const edgeMs = after?.ms ?? NaN;
  const newest = new NewestActors(rows, edgeMs, part.fromMs);
  newest.addAll(
    await selected.scan(NEWEST_VISITS, () => ({
      span: part,
      reach,
      actor: actorId,
      rows,
      edgeMs,
      selected: passes[0]!,
      converting: passes[1] ?? null,
    }), { askedEvents: passes[0]! }),
  );
  return newest.found();
}

/** Reads the found visits after the position, in the order of the list. */
export async function readFound(
  { sql, scope }: ScanSource,
  { ms, actors }: FoundMoments,
  after: VisitPlace | null,
  rows: number,
): Promise<StoredVisit[]> {
  if (ms.length === 0) return [];
  const params = new SqlParams();
  const lists = `${params.ints(actors)}, ${params.bigints(ms)}`;
  const key = "v.actor_id = k.actor_id AND v.first_ms = k.first_ms";
  const chosen = `SELECT s.* FROM unnest(${lists}) AS k (actor_id, first_ms)
    CROSS JOIN ${keyedRow("sessions v", key, params.int(scope.projectId))} AS s
    WHERE ${isAfter(params, after)}
    ORDER BY s.first_ms DESC, s.entry_id DESC LIMIT ${params.int(rows)}`;
  return await readVisits(sql, chosen, params.values);
}

/** Lists visits under filters: part by part, from the end of the span backwards. */
async function listScanned(source: ScanSource, question: VisitQuestion): Promise<StoredVisit[]> {
  const { span, after, rows } = question;
  const toMs = after === null ? span.toMs : Math.min(span.toMs, after.ms + 1);
  const listed: StoredVisit[] = [];
  for await (const part of partsBackwards(source, { fromMs: span.fromMs, toMs }, rows)) {
    const wanted = rows - listed.length;
    const found = await newestIn(source, part, { ...question, rows: wanted });
    listed.push(...await readFound(source, found, after, wanted));
    if (listed.length === rows) break;
  }
  return listed;
}

/** Lists the next visits after a position, newest first; fewer if no more follow. */
export async function listVisits(
  source: ScanSource,
  question: VisitQuestion,
): Promise<StoredVisit[]> {
  const { scope } = source;
  const areStored = !isNarrowed(scope) && question.goal === null && scope.bots !== "only";
  return areStored ? await listStored(source, question) : await listScanned(source, question);
}
