import { ROLLED_DIMENSIONS } from "../attribution/dimensions.ts";
import type { Sql } from "../db/sql.ts";
import { isBounce } from "../store/bounce.ts";
import { AcquisitionSums, type DaySums } from "./acquisition_sums.ts";
import { changedVisitors, type Visitor } from "./changed_visitors.ts";
import { NEVER } from "./local_days.ts";
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
  await inSlices(sessions, (session) => {
    const { firstMs, traffic, context, entryPath, views, humans } = session;
    if (humans === 0) return;
    const rule = values.ruleOf(traffic);
    const day = days.dayAt(firstMs);
    const bounces = isBounce(session) ? sign : 0;
    values.of(traffic, context, entryPath).forEach((number, dimension) =>
      sums.of(dimension, day, number).addTotal(rule, sign, bounces, sign * views)
    );
  });
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

/** Adds to the rollup of acquisition what came and went; before sessions are written anew. */
export async function rollUpAcquisition(
  tx: Sql,
  rollups: Rollups,
  changes: Changes,
): Promise<void> {
  const { projectId, values } = rollups;
  const { gone, came } = changes;
  await values.readOn(tx, projectId, [...gone, ...came]);
  const visitors = await changedVisitors(tx, rollups, changes);
  const sums = new AcquisitionSums();
  await addTotals(sums, rollups, gone, -1);
  await addTotals(sums, rollups, came, 1);
  await inSlices(visitors.values(), (visitor) => addVisitor(sums, visitor, values));
  await sums.store(tx, projectId);
}
