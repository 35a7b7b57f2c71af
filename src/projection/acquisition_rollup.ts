import { ROLLED_DIMENSIONS } from "../attribution/dimensions.ts";
import type { Sql } from "../db/sql.ts";
import { isBounce } from "../store/bounce.ts";
import { NEVER } from "../store/no_day.ts";
import { AcquisitionSums } from "./acquisition_sums.ts";
import { changedVisitors, type CountedVisit, type Visitor } from "./changed_visitors.ts";
import type { Changes, Rollups } from "./changes.ts";
import type { SessionPart } from "./session_parts.ts";
import { inSlices } from "./slices.ts";

/** The sums, and what is needed to add sessions and visitors to them. */
interface Summing extends Pick<Rollups, "days" | "values"> {
  readonly sums: AcquisitionSums;
}

/** A session is added (1) or subtracted (-1). */
interface SignedSumming extends Summing {
  readonly sign: 1 | -1;
}

function addTotals(
  session: SessionPart,
  { sums, days, values, sign }: SignedSumming,
): Promise<void> | undefined {
  const { firstMs, traffic, context, entryPath, views, humans } = session;
  if (humans === 0) return;
  const rule = values.ruleOf(traffic);
  const day = days.dayAt(firstMs);
  const bounces = isBounce(session) ? sign : 0;
  const numbers = values.numbersOf(traffic, context, entryPath);
  for (let dimension = 0; dimension < numbers.length; dimension++) {
    sums.dayOf(dimension, day, numbers[dimension]!).addTotal(rule, sign, bounces, sign * views);
  }
  return sums.storeIfFull();
}

/** By day, how many of an actor's visits have a value, before and after the change. */
type DayCounts = Map<number, [before: number, after: number]>;

/** Returns the days with such visits before (0) or after (1) the change, ascending. */
function daysWith(counts: DayCounts, side: 0 | 1): number[] {
  return [...counts].filter(([, count]) => count[side] > 0).map(([day]) => day)
    .sort((a, b) => a - b);
}

/** The link of a day with a value, and whether it is added (1) or subtracted (-1). */
type LinkChange = readonly [day: number, prevDay: number, firstDay: number, sign: 1 | -1];

/**
 * Yields the links between an actor's days with a value before the change, subtracted, and the links after
 * it. The first such day is linked to the actor's first day ever, every other one to the one before it. Links
 * that stay are not touched: a person may have visits on a hundred thousand days.
 */
function* linkChanges(counts: DayCounts, { oldFirst, newFirst }: Visitor): Generator<LinkChange> {
  const [before, after] = [daysWith(counts, 0), daysWith(counts, 1)];
  const linkOf = (days: readonly number[], i: number, first: number): [number, number] =>
    i === 0 ? [NEVER, first] : [days[i - 1]!, NEVER];
  for (let [b, a] = [0, 0]; b < before.length || a < after.length;) {
    const day = Math.min(before[b] ?? Infinity, after[a] ?? Infinity);
    const gone = before[b] === day ? linkOf(before, b++, oldFirst) : null;
    const come = after[a] === day ? linkOf(after, a++, newFirst) : null;
    if (gone !== null && come !== null && gone[0] === come[0] && gone[1] === come[1]) continue;
    if (gone !== null) yield [day, ...gone, -1];
    if (come !== null) yield [day, ...come, 1];
  }
}

interface NumberedVisit {
  readonly visit: CountedVisit;
  readonly numbers: readonly number[];
}

/** Returns, for each value of a dimension, the number of visits with it by day. */
function countsByValue(visits: readonly NumberedVisit[], dimension: number) {
  const countsOf = new Map<number, DayCounts>();
  for (const { visit: { day, before, after }, numbers } of visits) {
    const counts = countsOf.getOrInsertComputed(numbers[dimension]!, () => new Map());
    const count = counts.getOrInsertComputed(day, () => [0, 0]);
    count[0] += before;
    count[1] += after;
  }
  return countsOf;
}

async function addReturning(
  sums: AcquisitionSums,
  visitor: Visitor,
  visits: readonly NumberedVisit[],
): Promise<void> {
  for (let dimension = 0; dimension < ROLLED_DIMENSIONS.length; dimension++) {
    for (const [number, counts] of countsByValue(visits, dimension)) {
      for (const [day, ...link] of linkChanges(counts, visitor)) {
        sums.dayOf(dimension, day, number).addLink(...link);
        const storing = sums.storeIfFull();
        if (storing !== undefined) await storing;
      }
    }
  }
}

function addVisitor(visitor: Visitor, { sums, values }: Summing): Promise<void> | undefined {
  const visits = [...visitor.visits.values()].map((visit) => ({
    visit,
    numbers: values.numbersOf(visit.traffic, visit.context, visit.entryPath),
  }));
  const [first] = visits;
  // Fast path: most people come once.
  if (visits.length !== 1 || first!.visit.before > 0) return addReturning(sums, visitor, visits);
  const { visit: { day }, numbers } = first!;
  for (let dimension = 0; dimension < numbers.length; dimension++) {
    sums.dayOf(dimension, day, numbers[dimension]!).addLink(NEVER, visitor.newFirst, 1);
  }
  return sums.storeIfFull();
}

/** Applies the changes to the acquisition rollup; to be called before the sessions are rewritten. */
export async function rollUpAcquisition(
  tx: Sql,
  rollups: Rollups,
  changes: Changes,
): Promise<void> {
  const { projectId, days, values } = rollups;
  const { gone, came } = changes;
  await values.readOn(tx, projectId, [...gone, ...came]);
  const visitors = await changedVisitors(tx, rollups, changes);
  const sums = new AcquisitionSums(tx, projectId);
  const summing = { sums, days, values };
  await inSlices(gone, addTotals, { ...summing, sign: -1 });
  await inSlices(came, addTotals, { ...summing, sign: 1 });
  await inSlices(visitors.values(), addVisitor, summing);
  await sums.store();
}
