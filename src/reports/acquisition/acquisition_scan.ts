import type { AcquisitionDimension } from "../../attribution/dimensions.ts";
import { packInts, unpackInts } from "../../db/packed_ints.ts";
import type { Sql } from "../../db/sql.ts";
import { SESSION_GAP_MS } from "../../limits.ts";
import { type EventMatch, onEvents } from "../../query/filters.ts";
import { matchFilters, type Scope, type Span } from "../../query/selection.ts";
import { eventPasses } from "../../scans/event_tests.ts";
import type { FilterBits } from "../../scans/filter_bits.ts";
import { prepareNumbers } from "../../scans/number_columns.ts";
import type { Read } from "../../scans/read.ts";
import { sessionsEndByMs } from "../../scans/session_end.ts";
import { sessionPasses } from "../../scans/session_tests.ts";
import { readTechnicalNames } from "../../scans/technical_names.ts";
import type { GoalValue } from "../saved/goal_definitions.ts";
import { worthProperty } from "../saved/goal_worth.ts";
import { countNew, withNewcomers } from "../visitors/new_actors.ts";
import { type NumberedValues, numberValues } from "../visitors/session_values.ts";
import { AcquisitionTally } from "./acquisition_tally.ts";
import {
  ACQUISITION_COUNTS,
  type AcquisitionInputs,
  type CountedSessions,
  type SessionsAndEvents,
} from "./acquisition_visitor.ts";

/** What the figures are of: whom `by` splits, and what counts as a conversion (null: nothing). */
export interface Asked {
  readonly scope: Scope;
  readonly span: Span;
  readonly by: AcquisitionDimension;
  readonly goal: EventMatch | null;
  /** What conversions are worth; null: nothing. */
  readonly value: GoalValue | null;
}

async function readRules(sql: Sql, projectId: number): Promise<Int32Array> {
  const [row] = await sql.query<{ pack: string | null }>(
    `SELECT ${packInts(["traffic_id", "least"])} AS pack
    FROM (
      SELECT traffic_id, min(traffic_id) OVER (PARTITION BY rule COLLATE "C") AS least
      FROM traffic WHERE project_id = $1::int
    ) AS alike`,
    [projectId],
  );
  const pairs = unpackInts(row!.pack);
  const ruleOf = new Int32Array(pairs.reduce((max, id) => Math.max(max, id), 0) + 1);
  for (let i = 0; i < pairs.length; i += 2) ruleOf[pairs[i]!] = pairs[i + 1]!;
  return ruleOf;
}

/** The filters on all sessions, and those on sessions that convert. */
const filtersOf = ({ scope, goal }: Asked) => [
  scope.filters,
  ...goal === null ? [] : [matchFilters(goal)],
];

/** The values with those of some places at the first of these. */
function withFolded(values: NumberedValues, folded: readonly number[]): NumberedValues {
  if (folded.length === 0) return values;
  const isFolded = new Set(folded);
  const first = folded[0]! - 1;
  const numberOf = values.numberOf.map((number) => isFolded.has(number + 1) ? first : number);
  return { ...values, numberOf };
}

async function inputsOf(
  sql: Sql,
  asked: Asked,
  reach: Span,
  bits: FilterBits,
  tellRow: TellRow,
): Promise<AcquisitionInputs> {
  const { span, scope, by, value } = asked;
  const { projectId } = scope;
  const lists = filtersOf(asked);
  const passing = await eventPasses(sql, scope, scope.bots, lists.map(onEvents), bits);
  const tests: SessionsAndEvents[] = [];
  for (const [i, events] of passing.entries()) {
    tests.push({ sessions: await sessionPasses(sql, scope, lists[i]!), events });
  }
  const [selected, goal = null] = tests;
  const numbered = await numberValues(sql, projectId, [by], selected!.events.termMax);
  const { values, told } = await tellRow(numbered.get(by)!);
  return {
    selected: selected!,
    goal,
    worth: value === null ? null : { property: worthProperty(value) },
    values,
    ruleOf: await readRules(sql, projectId),
    newcomers: { span, technical: await readTechnicalNames(sql, projectId) },
    span,
    reach,
    told,
  };
}

/** Makes of the numbered values what is counted by, and says whose sessions are told. */
type TellRow = (
  values: NumberedValues,
) => Promise<Pick<AcquisitionInputs, "values" | "told">>;

/** What a scan counts, and who is new. */
interface Scanned {
  readonly counts: CountedSessions;
  readonly isNew: (actor: number) => boolean;
}

export async function scanSessions(
  source: Pick<Read, "sql" | "timelines">,
  asked: Asked,
  tellRow: TellRow,
): Promise<Scanned> {
  const { sql } = source;
  const { scope: { projectId }, span } = asked;
  // Of a session that crosses the beginning of the span, only that it does matters: it does not count.
  const reach: Span = {
    fromMs: span.fromMs - SESSION_GAP_MS,
    toMs: await sessionsEndByMs(source, projectId, span.toMs),
  };
  const property = worthProperty(asked.value);
  const columns = property === null ? [] : [{ property }];
  const timelines = await source.timelines(reach, onEvents(filtersOf(asked).flat()), columns);
  if (property !== null) prepareNumbers(timelines, property);
  const inputs = await inputsOf(sql, asked, reach, timelines.bits, tellRow);
  const scan = timelines.scan(ACQUISITION_COUNTS, () => inputs);
  return await withNewcomers(sql, timelines, { span, reach }, scan);
}

/** What the values come to, counted in one scan. `folded`: places whose values are counted as one, at the first. */
export async function scanAcquisition(
  source: Pick<Read, "sql" | "timelines">,
  asked: Asked,
  folded: readonly number[] = [],
): Promise<AcquisitionTally> {
  const { counts: { counts, newcomers }, isNew } = await scanSessions(
    source,
    asked,
    (values) => Promise.resolve({ values: withFolded(values, folded), told: null }),
  );
  const tally = new AcquisitionTally(counts.idOf, counts);
  tally.sums.newVisitors.set(countNew(newcomers, isNew, counts.idOf.length + 1));
  return tally.sumUp();
}
