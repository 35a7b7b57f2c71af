import { INSIGHT_SHOWN_LENGTH_MAX } from "../../limits.ts";
import { countryName } from "../../query/country_names.ts";
import type { Range } from "../../query/range.ts";
import { readablePath } from "../../readable_path.ts";
import type { Dimension } from "./insight_candidates.ts";
import type { Finding, Metric } from "./insight_findings.ts";
import type { DatedNote } from "./insight_notes.ts";

/** The noun for each metric. */
const NOUNS: Readonly<Record<Metric, string>> = {
  visitors: "visitors",
  sessions: "visits",
  pageviews: "page views",
  events: "events",
  bounceRate: "visitors",
  conversions: "visitors",
};

/** Quotes text from events: on one line, shortened, and without characters that reverse its direction. */
function quoted(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").replace(/[“”]/g, "'");
  const characters = [...plain];
  const isLong = characters.length > INSIGHT_SHOWN_LENGTH_MAX;
  return `“${isLong ? `${characters.slice(0, INSIGHT_SHOWN_LENGTH_MAX - 1).join("")}…` : plain}”`;
}

/** Words for a value of a dimension, before and after the noun. */
interface Words {
  readonly before?: string;
  readonly after?: string;
}

/** Words for a missing value. */
const OF_NONE: Readonly<Record<Dimension, Words>> = {
  channel: { after: "of no channel" },
  source: { after: "without a source" },
  campaign: { before: "untagged" },
  entryPath: { after: "without an entry page" },
  country: { after: "from unknown countries" },
  device: { after: "on unknown devices" },
  browser: { after: "with unknown browsers" },
};

/** Names of built-in channels, which need no quotes because clients do not send them. */
const CHANNEL = /^[A-Z][A-Za-z ]*$/;
const DEVICES: Readonly<Record<string, Words>> = {
  desktop: { before: "desktop" },
  tablet: { before: "tablet" },
  mobile: { before: "mobile" },
  other: { after: "on other devices" },
};

const OF_VALUE: Readonly<Record<Dimension, (value: string) => Words>> = {
  channel: (value) =>
    CHANNEL.test(value) ? { before: value } : { after: `of the channel ${quoted(value)}` },
  source: (value) => ({ after: `from ${quoted(value)}` }),
  campaign: (value) => ({ after: `by the campaign ${quoted(value)}` }),
  entryPath: (value) => ({ after: `by the entry page ${quoted(readablePath(value))}` }),
  country: (value) => ({ after: `from ${countryName(value) ?? quoted(value)}` }),
  device: (value) => DEVICES[value] ?? { after: `on ${quoted(value)}` },
  browser: (value) => ({ after: `with ${quoted(value)}` }),
};

function wordsOf(dimension: Dimension, value: string | null): Words {
  return value === null ? OF_NONE[dimension] : OF_VALUE[dimension](value);
}

/** Returns the subject of a finding: `Email visitors`, `untagged visits`, `page views from “news”`. */
function subjectOf({ metric, dimension, value }: Finding): string {
  const noun = NOUNS[metric];
  if (dimension === null) return noun;
  const { before, after } = wordsOf(dimension, value);
  return [before, noun, after].filter((word) => word !== undefined).join(" ");
}

/** Returns the beginning of a sentence about a finding. */
function sentenceSubject(finding: Finding): string {
  const { metric, goal, dimension, value } = finding;
  const subject = subjectOf(finding);
  if (metric === "bounceRate") {
    return dimension === null ? "The bounce rate" : `The bounce rate of ${subject}`;
  }
  if (metric !== "conversions") return `${subject.charAt(0).toUpperCase()}${subject.slice(1)}`;
  const conversions = `Conversions of ${quoted(goal?.title ?? "")}`;
  if (dimension === null) return conversions;
  const { before, after } = wordsOf(dimension, value);
  return `${conversions} ${before === undefined ? after : `by ${before} visitors`}`;
}

const number = (value: number): string => value.toLocaleString("en-US");
const percent = (fraction: number): string => `${number(Math.round(100 * fraction))}%`;

function figure(metric: Metric, value: number): string {
  return metric === "bounceRate" ? `${(100 * value).toFixed(1)}%` : number(value);
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
