import type { PlainSum } from "../../scans/decimal_sum.ts";
import { lengthened } from "../../timelines/timeline.ts";
import { addTo } from "../../scans/visitor.ts";
import { PlaceAmounts } from "../../scans/place_amounts.ts";

/** The place of the total; the places of the values follow. */
export const WHOLE = 0;

/** Counts sessions by place and channel rule. Each place has a chain of its rules, which are few. */
class RuleCounts {
  readonly #firsts: Int32Array;
  #rules = new Int32Array(1_024);
  #sessions = new Int32Array(1_024);
  #nexts = new Int32Array(1_024);
  #length = 0;

  constructor(places: number) {
    this.#firsts = new Int32Array(places).fill(-1);
  }

  add(place: number, rule: number, sessions: number): void {
    const rules = this.#rules;
    let at = this.#firsts[place]!;
    while (at >= 0 && rules[at] !== rule) at = this.#nexts[at]!;
    if (at < 0) at = this.#open(place, rule);
    this.#sessions[at]! += sessions;
  }

  #open(place: number, rule: number): number {
    if (this.#length === this.#rules.length) {
      this.#rules = lengthened(this.#rules);
      this.#sessions = lengthened(this.#sessions);
      this.#nexts = lengthened(this.#nexts);
    }
    const at = this.#length++;
    this.#rules[at] = rule;
    this.#nexts[at] = this.#firsts[place]!;
    return this.#firsts[place] = at;
  }

  /** Returns triples of place, rule and sessions. */
  rows(): Int32Array {
    const rows = new Int32Array(3 * this.#length);
    for (const [place, first] of this.#firsts.entries()) {
      for (let at = first; at >= 0; at = this.#nexts[at]!) {
        rows.set([place, this.#rules[at]!, this.#sessions[at]!], 3 * at);
      }
    }
    return rows;
  }

  addRows(rows: Int32Array): void {
    for (let at = 0; at < rows.length; at += 3) this.add(rows[at]!, rows[at + 1]!, rows[at + 2]!);
  }

  /** Returns the rules that have the most sessions of a place: several if they tie. */
  prevailing(place: number): number[] {
    const entries: { readonly rule: number; readonly sessions: number }[] = [];
    for (let at = this.#firsts[place]!; at >= 0; at = this.#nexts[at]!) {
      entries.push({ rule: this.#rules[at]!, sessions: this.#sessions[at]! });
    }
    const most = entries.reduce((max, { sessions }) => Math.max(max, sessions), 0);
    return entries.filter(({ sessions }) => sessions === most).map(({ rule }) => rule);
  }
}

const SUMS = [
  "visitors",
  "newVisitors",
  "sessions",
  "bounces",
  "pageviews",
  "conversions",
  "totalConversions",
] as const;

/** Counts by place; `totalConversions` are the goal's events, if it has a value. */
type Sums = Readonly<Record<typeof SUMS[number], Int32Array>>;

/** An `AcquisitionTally` as plain data. */
export interface AcquisitionCounts {
  readonly idOf: Int32Array;
  readonly sums: Sums;
  /** Sums of the goal's property, by place. */
  readonly amounts: ReadonlyMap<number, PlainSum>;
  /** Triples of place, rule and sessions. */
  readonly rules: Int32Array;
}

/** Counts of the values of a dimension by place: the total, then each value. */
export class AcquisitionTally {
  readonly sums: Sums;
  /** Sums of the goal's property. */
  readonly amounts = new PlaceAmounts();
  /** Channel rules, each as the id of a traffic whose channel it determined. The total has none. */
  readonly rules: RuleCounts;

  /**
   * @param idOf for each value an id that stands for it
   * @param counts the counts to start from; they are added to in place
   */
  constructor(readonly idOf: Int32Array, counts?: AcquisitionCounts) {
    const none = () => SUMS.map((name) => [name, new Int32Array(idOf.length + 1)]);
    this.sums = counts?.sums ?? Object.fromEntries(none()) as Sums;
    this.rules = new RuleCounts(idOf.length + 1);
    if (counts === undefined) return;
    this.rules.addRows(counts.rules);
    this.amounts.addAll(counts.amounts);
  }

  counts(): AcquisitionCounts {
    const { idOf, sums, amounts, rules } = this;
    return { idOf, sums, amounts: amounts.plain(), rules: rules.rows() };
  }

  add(counts: AcquisitionCounts): void {
    for (const name of SUMS) addTo(this.sums[name], counts.sums[name]);
    this.amounts.addAll(counts.amounts);
    this.rules.addRows(counts.rules);
  }

  /** Returns the sum of the goal's property at a place. */
  amountAt(place: number): number {
    return place === WHOLE ? this.amounts.total() : this.amounts.at(place);
  }

  addSessions(place: number, rule: number, sessions: number, bounces: number, views: number): void {
    const { sums } = this;
    sums.sessions[place]! += sessions;
    sums.bounces[place]! += bounces;
    sums.pageviews[place]! += views;
    this.rules.add(place, rule, sessions);
  }

  /** Sets the totals of the counts for which each session has exactly one value. */
  sumUp(): this {
    const { sessions, bounces, pageviews, totalConversions } = this.sums;
    for (const counts of [sessions, bounces, pageviews, totalConversions]) {
      counts[WHOLE] = counts.reduce((sum, count) => sum + count, 0);
    }
    return this;
  }
}
