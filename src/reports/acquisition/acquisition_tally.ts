import type { PlainSum } from "../../scans/decimal_sum.ts";
import { addKeys, type CountedKeys, KeyCounts } from "../../scans/key_counts.ts";
import { PlaceAmounts } from "../../scans/place_amounts.ts";
import { addColumns, zeroColumns } from "../../scans/visitor.ts";

/** The place of the total; the places of the values follow. */
export const WHOLE = 0;

/** The counts; `totalConversions` are the goal's events, if it has a value. */
export const SUMS = [
  "visitors",
  "newVisitors",
  "sessions",
  "bounces",
  "pageviews",
  "conversions",
  "totalConversions",
] as const;

/** Counts of the values of a dimension by place: the total, then each value. */
export interface AcquisitionTally {
  /** For each value an id that stands for it. */
  readonly idOf: Int32Array;
  readonly sums: Readonly<Record<typeof SUMS[number], Int32Array>>;
  /** Sums of the goal's property, by place. */
  readonly amounts: ReadonlyMap<number, PlainSum>;
  /** By the number of a channel rule: the id of a traffic whose channel it determined. */
  readonly trafficOf: readonly number[];
  /** Sessions by place and rule: their key is `place * trafficOf.length + rule`. The total has none. */
  readonly rules: CountedKeys;
}

/** Counts sessions and what is in them, by place. */
export class AcquisitionCounter {
  readonly sums: AcquisitionTally["sums"];
  readonly amounts = new PlaceAmounts();
  readonly #rules = new KeyCounts();

  constructor(readonly idOf: Int32Array, readonly trafficOf: readonly number[]) {
    this.sums = zeroColumns(SUMS, idOf.length + 1);
  }

  addSessions(place: number, rule: number, sessions: number, bounces: number, views: number): void {
    const { sums } = this;
    sums.sessions[place]! += sessions;
    sums.bounces[place]! += bounces;
    sums.pageviews[place]! += views;
    this.#rules.add(place * this.trafficOf.length + rule, sessions);
  }

  tally(): AcquisitionTally {
    const { idOf, sums, amounts, trafficOf } = this;
    return { idOf, sums, amounts: amounts.plain(), trafficOf, rules: this.#rules.result() };
  }
}

/** Adds up two tallies of the same values and rules. May change and return either. */
export function addTallies(tally: AcquisitionTally, more: AcquisitionTally): AcquisitionTally {
  const amounts = new PlaceAmounts();
  for (const some of [tally.amounts, more.amounts]) amounts.addAll(some);
  return {
    ...tally,
    sums: addColumns(tally.sums, more.sums),
    amounts: amounts.plain(),
    rules: addKeys(tally.rules, more.rules),
  };
}

/** Sets the totals of the counts for which each session has exactly one value, and returns the tally. */
export function withTotals(tally: AcquisitionTally): AcquisitionTally {
  const { sessions, bounces, pageviews, totalConversions } = tally.sums;
  for (const counts of [sessions, bounces, pageviews, totalConversions]) {
    counts[WHOLE] = counts.reduce((sum, count) => sum + count, 0);
  }
  return tally;
}

/** Returns the traffics of the rules that have the most sessions of each place: several if they tie. */
export function prevailingRules(
  { trafficOf, rules: { keys, counts } }: AcquisitionTally,
  places: readonly number[],
): number[][] {
  const found = new Map(places.map((place) => [place, { most: 0, traffics: [] as number[] }]));
  for (const [i, key] of keys.entries()) {
    const one = found.get(Math.floor(key / trafficOf.length));
    if (one === undefined || counts[i]! < one.most) continue;
    if (counts[i]! > one.most) one.traffics = [];
    one.most = counts[i]!;
    one.traffics.push(trafficOf[key % trafficOf.length]!);
  }
  return places.map((place) => found.get(place)!.traffics);
}
