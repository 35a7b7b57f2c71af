import type { INSIGHTS_REPLY } from "../../reports/insights/insights.ts";
import { change, counted, decimal, integer, percent, points } from "../number_format.ts";
import type { ReplyOf } from "../replies.ts";

/** `GET /v1/insights`. */
export type InsightsReply = ReplyOf<typeof INSIGHTS_REPLY>;
/** Changes with one cause: the main one, and the others as its evidence. */
export type Finding = InsightsReply["findings"][number];
/** One change. */
export type ChangeFound = Finding["evidence"][number];

/** Smaller ones are "less than" this. */
const P_VALUE_LEAST = 0.0001;
const WEEKDAYS =
  "the days of the range together, each counted by itself, and the mean of the same weekdays in the weeks before.";

/** How sure a finding is, in words. */
export function certainty({ adjustedPValue }: Finding): string {
  if (adjustedPValue < 0.001) return "Almost certainly not chance";
  return adjustedPValue < 0.01 ? "Very unlikely to be chance" : "Unlikely to be chance";
}

const pText = (p: number): string =>
  p < P_VALUE_LEAST ? `less than ${decimal(P_VALUE_LEAST, 4)}` : decimal(p, 4);

/** The numbers behind `certainty`. */
export function certaintyText({ pValue, adjustedPValue }: Finding, tested: number): string {
  return `p-value ${
    pText(pValue)
  }: how likely chance alone would bring a change this large. After ${
    counted(tested, "comparison")
  } in all, it counts as ${pText(adjustedPValue)}.`;
}

/** A rate changes in points, all else in percent. */
export function isRate(metric: string): boolean {
  return metric === "bounceRate";
}

/** A figure of the metric. */
export function figureText(metric: string, value: number): string {
  return isRate(metric) ? percent(value) : integer(Math.round(value));
}

/** The comparison with the same weekdays, which most findings' sentences leave out. */
export function weekdaysText({ metric, weekdays }: Finding): string {
  if (weekdays.change === null) return "No earlier data on the same weekdays";
  const changed = isRate(metric)
    ? points(weekdays.current - weekdays.expected)
    : change(weekdays.change);
  return `${changed} on the same weekdays`;
}

/** The numbers behind `weekdaysText`. */
export function weekdaysFigures({ metric, weekdays: { current, expected } }: Finding): string {
  return `${figureText(metric, current)} against ${figureText(metric, expected)}: ${WEEKDAYS}`;
}

/** The share of the total's change, in words; null: there is none. */
export function contributionText({ kind, contribution }: Finding): string | null {
  if (kind === "total_change" || contribution === null) return null;
  if (contribution < 0) return "Moved against the total";
  return contribution > 1
    ? "More than the whole change"
    : `${percent(contribution, 0)} of the change`;
}
