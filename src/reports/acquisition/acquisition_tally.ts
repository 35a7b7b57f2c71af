import type { PlainSum } from "../../scans/decimal_sum.ts";
import { lengthened } from "../../timelines/timeline.ts";
import { addTo } from "../../scans/visitor.ts";
import { PlaceAmounts } from "./place_amounts.ts";

/** The place of everything together; those of the values follow. */
export const WHOLE = 0;

/** Sessions by place and channel rule: of each place a chain of the rules that it has, which are few. */
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

  /** Place, rule and sessions of each, side by side. */
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

  /** The rules of most sessions of a place. */
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

/** What is counted by place; `totalConversions`: events of the goal, where it has a value. */
type Sums = Readonly<Record<typeof SUMS[number], Int32Array>>;

/** The same as `AcquisitionTally` as plain data. */
export interface AcquisitionCounts {
  readonly idOf: Int32Array;
  readonly sums: Sums;
  /** Sums of the goal's property, by place. */
  readonly amounts: ReadonlyMap<number, PlainSum>;
  /** Place, rule and sessions, side by side. */
  readonly rules: Int32Array;
}

/** What the values of a dimension come to, by place: the whole, then each value. */
export class AcquisitionTally {
  readonly sums: Sums;
  /** What the goal's property comes to. */
  readonly amounts = new PlaceAmounts();
  /** Rules by an id of traffic that they decided on; not of the whole. */
  readonly rules: RuleCounts;

  /**
   * @param idOf of each value, an id that stands for it
   * @param counts that it begins with
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

  /** What the goal's property comes to at a place. */
  amountAt(place: number): number {
    return place === WHOLE ? this.amounts.whole() : this.amounts.at(place);
  }

  addSessions(place: number, rule: number, sessions: number, bounces: number, views: number): void {
    const { sums } = this;
    sums.sessions[place]! += sessions;
    sums.bounces[place]! += bounces;
    sums.pageviews[place]! += views;
    this.rules.add(place, rule, sessions);
  }

  /** Adds up what each session has at one value alone. */
  sumUp(): this {
    const { sessions, bounces, pageviews, totalConversions } = this.sums;
    for (const counts of [sessions, bounces, pageviews, totalConversions]) {
      counts[WHOLE] = counts.reduce((sum, count) => sum + count, 0);
    }
    return this;
  }
}
