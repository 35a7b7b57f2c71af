import { ROLLED_DIMENSIONS } from "../attribution/dimensions.ts";
import { arrayLiteral, type Sql } from "../db/sql.ts";
import { packInts, unpackInts } from "../db/packed_ints.ts";
import { AcquisitionSums, type DaySums } from "./acquisition_sums.ts";
import { type LocalDays, NEVER } from "./local_days.ts";
import type { Changes, Rollups } from "./changes.ts";
import type { SessionPart } from "./session_parts.ts";
import { inSlices } from "./slices.ts";
import type { ValueNumbers } from "./value_numbers.ts";

async function addTotals(
  sums: AcquisitionSums,
  { days, values }: Rollups,
  sessions: readonly SessionPart[],
  sign: 1 | -1,
): Promise<void> {
  await inSlices(sessions, ({ firstMs, traffic, context, entryPath, views, customs, humans }) => {
    if (humans === 0) return;
    const rule = values.ruleOf(traffic);
    const day = days.dayAt(firstMs);
    const bounces = views <= 1 && customs === 0 ? sign : 0;
    values.of(traffic, context, entryPath).forEach((number, dimension) =>
      sums.of(dimension, day, number).addTotal(rule, sign, bounces, sign * views)
    );
  });
}

/** How a session starts, as far as visitors are told apart by it. */
interface Visit {
  readonly day: number;
  readonly traffic: number;
  readonly context: number;
  readonly entryPath: number;
}

/** On how many visits of each day something was seen, before and after. */
type Days = Map<number, [before: number, after: number]>;

/** An actor whose visits, or whose first day, are others than before. */
class Visitor {
  /** Visits that are alike, each once. */
  readonly visits = new Map<string, Visit & { before: number; after: number }>();
  oldFirst = NEVER;
  newFirst = NEVER;

  add(visit: Visit, before: number, after: number): void {
    const key = `${visit.day} ${visit.traffic} ${visit.context} ${visit.entryPath}`;
    const known = this.visits.get(key);
    if (known === undefined) this.visits.set(key, { ...visit, before, after });
    else {
      known.before += before;
      known.after += after;
    }
  }

  get isChanged(): boolean {
    return this.oldFirst !== this.newFirst ||
      this.visits.values().some(({ before, after }) => before !== after);
  }
}

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

function addVisitor(sums: AcquisitionSums, visitor: Visitor, values: ValueNumbers): void {
  const visits = [...visitor.visits.values()].map((visit) => ({
    visit,
    numbers: values.of(visit.traffic, visit.context, visit.entryPath),
  }));
  const [first] = visits;
  // Most people come once.
  if (visits.length === 1 && first!.visit.before === 0) {
    first!.numbers.forEach((number, dimension) =>
      sums.of(dimension, first!.visit.day, number).addLink(NEVER, visitor.newFirst, 1)
    );
    return;
  }
  for (let dimension = 0; dimension < ROLLED_DIMENSIONS.length; dimension++) {
    const daysOf = new Map<number, Days>();
    for (const { visit: { day, before, after }, numbers } of visits) {
      const number = numbers[dimension]!;
      let ofValue = daysOf.get(number);
      if (ofValue === undefined) daysOf.set(number, ofValue = new Map());
      const counts = ofValue.get(day);
      if (counts === undefined) ofValue.set(day, [before, after]);
      else {
        counts[0] += before;
        counts[1] += after;
      }
    }
    for (const [number, ofValue] of daysOf) {
      addLinks((day) => sums.of(dimension, day, number), ofValue, visitor);
    }
  }
}

/** Whose visits or first days changed: a session that only grew longer changes neither. */
function changedVisitors(
  { days }: Rollups,
  { gone, came, actors, stored }: Changes,
): Map<number, Visitor> {
  const visitors = new Map<number, Visitor>();
  const of = (actor: number) => {
    let visitor = visitors.get(actor);
    if (visitor === undefined) visitors.set(actor, visitor = new Visitor());
    return visitor;
  };
  for (const [actor, { firstDay }] of stored) {
    const visitor = of(actor);
    visitor.oldFirst = visitor.newFirst = firstDay;
  }
  for (const { actor, before, after } of actors) {
    const visitor = of(actor);
    visitor.oldFirst = before?.firstDay ?? NEVER;
    visitor.newFirst = after?.firstDay ?? NEVER;
  }
  for (const part of gone) if (part.humans > 0) of(part.actor).add(visitOf(part, days), 1, 0);
  for (const part of came) if (part.humans > 0) of(part.actor).add(visitOf(part, days), 0, 1);
  for (const [actor, visitor] of visitors) if (!visitor.isChanged) visitors.delete(actor);
  return visitors;
}

const visitOf = (part: SessionPart, days: LocalDays): Visit => ({
  day: days.dayAt(part.firstMs),
  traffic: part.traffic,
  context: part.context,
  entryPath: part.entryPath,
});

// Milliseconds are two numbers: they do not fit into one of 32 bits.
const VISITS = `
SELECT ${
  packInts([
    "s.actor_id",
    "(s.first_ms >> 31)::int",
    "(s.first_ms & 2147483647)::int",
    "s.traffic_id",
    "s.context_id",
    "coalesce(s.entry_path_id, 0)",
  ])
} AS pack
FROM unnest($2::text::int[]) AS k (actor_id)
CROSS JOIN LATERAL (
  SELECT actor_id, first_ms, traffic_id, context_id, entry_path_id FROM sessions
  WHERE project_id = $1::int AND actor_id = k.actor_id AND humans > 0 OFFSET 0) AS s`;
const VISIT_INTS = 6;

/** Adds the stored visits that stay. */
async function completeVisitors(
  tx: Sql,
  { projectId, days }: Rollups,
  visitors: ReadonlyMap<number, Visitor>,
  { gone, newActors }: Changes,
): Promise<void> {
  const known = [...visitors.keys()].filter((actor) => !newActors.has(actor));
  if (known.length === 0) return;
  const [row] = await tx.query<{ pack: string | null }>(VISITS, [projectId, arrayLiteral(known)]);
  const ints = unpackInts(row!.pack);
  const left = new Set(gone.map(({ actor, firstMs }) => `${actor} ${firstMs}`));
  for (let i = 0; i < ints.length; i += VISIT_INTS) {
    const ms = ints[i + 1]! * 2 ** 31 + ints[i + 2]!;
    if (left.has(`${ints[i]} ${ms}`)) continue;
    const [traffic, context, entryPath] = [ints[i + 3]!, ints[i + 4]!, ints[i + 5]!];
    visitors.get(ints[i]!)!.add({ day: days.dayAt(ms), traffic, context, entryPath }, 1, 1);
  }
}

/** Adds to the rollup of acquisition what came and went; before sessions are written anew. */
export async function rollUpAcquisition(
  tx: Sql,
  rollups: Rollups,
  changes: Changes,
): Promise<void> {
  const { projectId, values } = rollups;
  const { gone, came } = changes;
  const visitors = changedVisitors(rollups, changes);
  await completeVisitors(tx, rollups, visitors, changes);
  const visits = [...visitors.values()].flatMap((visitor) => [...visitor.visits.values()]);
  await values.readOn(tx, projectId, [...gone, ...came, ...visits]);
  const sums = new AcquisitionSums();
  await addTotals(sums, rollups, gone, -1);
  await addTotals(sums, rollups, came, 1);
  await inSlices(visitors.values(), (visitor) => addVisitor(sums, visitor, values));
  await sums.store(tx, projectId);
}
