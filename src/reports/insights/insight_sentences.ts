import type { Range } from "../../query/range.ts";
import type { Finding, Metric } from "./insight_findings.ts";
import type { DatedNote } from "./insight_notes.ts";
import { sentenceSubject, subjectOf } from "./insight_subjects.ts";

const number = (value: number): string => value.toLocaleString("en-US");
const percent = (fraction: number): string => `${number(Math.round(100 * fraction))} %`;

function figure(metric: Metric, value: number): string {
  return metric === "bounceRate" ? `${(100 * value).toFixed(1)} %` : number(value);
}

/** Returns the words for the period before the range. */
export function previousName(
  { fromDate, toDate, to }: Pick<Range, "fromDate" | "toDate" | "to">,
  asOfMs: number,
): string {
  if (fromDate === null || toDate === null) return "the equally long time before";
  const days = fromDate.until(toDate).days + 1;
  const whole = days === 1 ? "the day before" : `the previous ${days} days`;
  return to.getTime() > asOfMs ? `the same part of ${whole}` : whole;
}

function moved(finding: Finding, before: string): string {
  const { metric, current, previous, change } = finding;
  const verb = current > previous ? "rose" : "fell";
  const from = figure(metric, previous);
  const to = figure(metric, current);
  if (metric === "bounceRate") {
    const points = (100 * Math.abs(current - previous)).toFixed(1);
    return `${verb} ${points} points, from ${from} to ${to}, against ${before}`;
  }
  return change === null
    ? `${verb} from ${from} to ${to} against ${before}`
    : `${verb} ${percent(Math.abs(change))} to ${to} (from ${from}) against ${before}`;
}

/** Returns a clause with the value's share of the total's change; empty if it has none. */
function partOfChange({ contribution }: Finding): string {
  if (contribution === null || contribution <= 0 || contribution > 1) return "";
  return `, ${percent(contribution)} of the change in total`;
}

/** Returns a clause with the value that explains the total's change; empty if none does. */
function explanation(explaining: Finding | undefined): string {
  if (explaining === undefined) return "";
  const { contribution } = explaining;
  const part = contribution === null || contribution > 1 ? "more than all" : percent(contribution);
  return `; ${subjectOf(explaining)} account for ${part} of it`;
}

/** The most characters of a note in a sentence. */
const NOTE_LENGTH_MAX = 120;

/** Returns a sentence with the latest note that a change begins with; empty without notes. */
export function notedSentence(notes: readonly DatedNote[]): string {
  const [latest] = notes;
  if (latest === undefined) return "";
  const { note: { text }, date } = latest;
  const isShort = text.length <= NOTE_LENGTH_MAX;
  const shown = isShort ? text : `${text.slice(0, NOTE_LENGTH_MAX).toWellFormed()}…`;
  // The sentence quotes the note, so quotes inside it become single ones.
  const quoted = shown.replaceAll("“", "‘").replaceAll("”", "’");
  return ` It begins with a note of ${date}: “${quoted}”.`;
}

/**
 * Returns a finding as an English sentence.
 * @param before the words for the previous period
 * @param explaining the finding that explains most of this one
 */
export function sentenceOf(finding: Finding, before: string, explaining?: Finding): string {
  const subject = sentenceSubject(finding);
  const { kind, current, previous } = finding;
  switch (kind) {
    case "total_change":
      return `${subject} ${moved(finding, before)}${explanation(explaining)}.`;
    case "new_value":
      return `${subject} are new: ${
        number(current)
      }, against none in ${before} and on the same weekdays earlier${partOfChange(finding)}.`;
    case "vanished_value":
      return `${subject} are gone: none, against ${number(previous)} in ${before}${
        partOfChange(finding)
      }.`;
    default:
      return `${subject} ${moved(finding, before)}${partOfChange(finding)}.`;
  }
}
