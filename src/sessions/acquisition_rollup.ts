import type { Row, Sql } from "../db/sql.ts";
import { DAY_MS } from "../limits.ts";
import { AcquisitionSums, type DaySums } from "./acquisition_sums.ts";
import { type LocalDays, localDaysOf, NEVER } from "./local_days.ts";
import { DIMENSIONS, type ValueNumbers } from "./value_numbers.ts";

/** A fold's project, with the local days that its changed sessions start on. */
export interface AcquisitionFold {
  readonly projectId: number;
  readonly timezone: string;
  readonly local: LocalDays;
  readonly values: ValueNumbers;
}

/** What came and went, by all that a session is told apart by. */
const CHANGED_TOTALS = `
SELECT first_tick >> 16 AS ms, traffic_id, context_id, entry_path_id, sign, views,
  views <= 1 AND customs = 0 AS bounced
FROM fold_changed WHERE humans > 0`;

interface ChangedSession extends Row {
  readonly ms: number;
  readonly traffic_id: number;
  readonly context_id: number;
  readonly entry_path_id: number | null;
  readonly sign: number;
  readonly views: number;
  readonly bounced: boolean;
}

/** Bytes of one visit in a pack: see PACKS. */
const VISIT_BYTES = 36;

// Every visit of whom the fold has touched: `after` it is what the sessions say, and `before` it
// was that without what came and with what went. Visits of 256 actors travel as one row.
const PACKS = `
WITH touched AS (
  SELECT t.actor_id,
    coalesce(CASE WHEN d.actor_id IS NULL THEN a.first_day ELSE d.old_first END, ${NEVER}) AS old_first,
    coalesce(CASE WHEN d.actor_id IS NULL THEN a.first_day ELSE d.new_first END, ${NEVER}) AS new_first
  FROM (
    SELECT actor_id FROM fold_changed WHERE humans > 0
    UNION SELECT actor_id FROM fold_days WHERE old_first IS DISTINCT FROM new_first
  ) AS t
  LEFT JOIN fold_days d ON d.actor_id = t.actor_id
  LEFT JOIN actors a ON a.project_id = $1::int AND a.actor_id = t.actor_id
), visits AS (
  SELECT s.actor_id, s.first_tick, s.traffic_id, s.context_id, s.entry_path_id, 1 AS before, 1 AS after
  FROM touched t
  CROSS JOIN LATERAL (
    SELECT * FROM sessions
    WHERE project_id = $1::int AND actor_id = t.actor_id AND humans > 0 OFFSET 0) AS s
  UNION ALL
  SELECT actor_id, first_tick, traffic_id, context_id, entry_path_id, -sign, 0
  FROM fold_changed WHERE humans > 0
)
SELECT encode(string_agg(int4send(v.actor_id) || int8send(v.first_tick >> 16) || int4send(v.traffic_id)
  || int4send(v.context_id) || int4send(coalesce(v.entry_path_id, 0)) || int2send(v.before::int2)
  || int2send(v.after::int2) || int4send(t.old_first) || int4send(t.new_first), ''::bytea), 'base64') AS pack
FROM visits v JOIN touched t ON t.actor_id = v.actor_id
GROUP BY v.actor_id >> 8`;

async function countTotals(
  tx: Sql,
  { local, values }: AcquisitionFold,
  sums: AcquisitionSums,
): Promise<void> {
  for (const session of await tx.query<ChangedSession>(CHANGED_TOTALS)) {
    const { ms, traffic_id, context_id, entry_path_id, sign, views, bounced } = session;
    const rule = values.ruleOf(traffic_id);
    const day = local.dayAt(ms);
    values.of(traffic_id, context_id, entry_path_id).forEach((number, dimension) =>
      sums.of(dimension, day, number).addTotal(rule, sign, bounced ? sign : 0, sign * views)
    );
  }
}

/** A session's start, as far as visitors are told apart by it. */
interface Visit {
  readonly ms: number;
  readonly numbers: readonly number[];
  readonly before: number;
  readonly after: number;
}

interface Visitor {
  readonly oldFirst: number;
  readonly newFirst: number;
  readonly visits: Visit[];
}

/** Actors of a pack with their visits. */
function visitorsOf(pack: string, values: ValueNumbers): Iterable<Visitor> {
  const view = new DataView(Uint8Array.fromBase64(pack).buffer);
  const visitors = new Map<number, Visitor>();
  for (let at = 0; at < view.byteLength; at += VISIT_BYTES) {
    const actor = view.getInt32(at);
    let visitor = visitors.get(actor);
    if (visitor === undefined) {
      visitor = { oldFirst: view.getInt32(at + 28), newFirst: view.getInt32(at + 32), visits: [] };
      visitors.set(actor, visitor);
    }
    visitor.visits.push({
      ms: Number(view.getBigInt64(at + 4)),
      numbers: values.of(view.getInt32(at + 12), view.getInt32(at + 16), view.getInt32(at + 20)),
      before: view.getInt16(at + 24),
      after: view.getInt16(at + 26),
    });
  }
  return visitors.values();
}

/** On how many visits of each day something was seen, before and after. */
type Days = Map<number, [before: number, after: number]>;

function daysWith(days: Days, side: 0 | 1): number[] {
  const found: number[] = [];
  for (const [day, counts] of days) if (counts[side] > 0) found.push(day);
  return found.sort((a, b) => a - b);
}

/** Takes the links between an actor's days as they were, and adds those that there are now. */
function addLinks(
  sumsOf: (day: number) => DaySums,
  days: Days,
  { oldFirst, newFirst }: Visitor,
): void {
  const [before, after] = [daysWith(days, 0), daysWith(days, 1)];
  let same = 0;
  if (oldFirst === newFirst) {
    while (same < before.length && before[same] === after[same]) same++;
  }
  const add = (list: readonly number[], first: number, sign: number) => {
    for (let i = same; i < list.length; i++) {
      if (i === 0) sumsOf(list[i]!).addLink(NEVER, first, sign);
      else sumsOf(list[i]!).addLink(list[i - 1]!, NEVER, sign);
    }
  };
  add(before, oldFirst, -1);
  add(after, newFirst, 1);
}

function addVisitor(sums: AcquisitionSums, visitor: Visitor, dayAt: (ms: number) => number): void {
  const days = visitor.visits.map(({ ms }) => dayAt(ms));
  for (let dimension = 0; dimension < DIMENSIONS.length; dimension++) {
    const daysOf = new Map<number, Days>();
    visitor.visits.forEach(({ numbers, before, after }, i) => {
      const number = numbers[dimension]!;
      let ofValue = daysOf.get(number);
      if (ofValue === undefined) daysOf.set(number, ofValue = new Map());
      const counts = ofValue.get(days[i]!);
      if (counts === undefined) ofValue.set(days[i]!, [before, after]);
      else {
        counts[0] += before;
        counts[1] += after;
      }
    });
    for (const [number, ofValue] of daysOf) {
      addLinks((day) => sums.of(dimension, day, number), ofValue, visitor);
    }
  }
}

async function countVisitors(
  tx: Sql,
  { projectId, timezone, values }: AcquisitionFold,
  sums: AcquisitionSums,
): Promise<void> {
  for (const { pack } of await tx.query<{ pack: string }>(PACKS, [projectId])) {
    const visitors = [...visitorsOf(pack, values)];
    const utcDays = new Set(
      visitors.flatMap(({ visits }) => visits.map(({ ms }) => Math.floor(ms / DAY_MS))),
    );
    const { dayAt } = localDaysOf([...utcDays], timezone);
    for (const visitor of visitors) addVisitor(sums, visitor, dayAt);
  }
}

/**
 * Adds to the rollup of acquisition what the fold has changed: sessions that came and went
 * (`fold_changed`), and first days of actors (`fold_days`, where they have not been written yet).
 */
export async function rollUpAcquisition(tx: Sql, fold: AcquisitionFold): Promise<void> {
  await fold.values.readOn(tx, fold.projectId);
  const sums = new AcquisitionSums();
  await countTotals(tx, fold, sums);
  await countVisitors(tx, fold, sums);
  await sums.store(tx, fold.projectId);
}
