import { INSIGHT_SHOWN_LENGTH_MAX } from "../../limits.ts";
import { countryName } from "../../query/country_names.ts";
import type { Dimension } from "./insight_candidates.ts";
import type { Finding, Metric } from "./insight_findings.ts";

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
  entryPath: (value) => ({ after: `by the entry page ${quoted(value)}` }),
  country: (value) => ({ after: `from ${countryName(value) ?? quoted(value)}` }),
  device: (value) => DEVICES[value] ?? { after: `on ${quoted(value)}` },
  browser: (value) => ({ after: `with ${quoted(value)}` }),
};

function wordsOf(dimension: Dimension, value: string | null): Words {
  return value === null ? OF_NONE[dimension] : OF_VALUE[dimension](value);
}

/** Returns the subject of a finding: `Email visitors`, `untagged visits`, `page views from “news”`. */
export function subjectOf({ metric, dimension, value }: Finding): string {
  const noun = NOUNS[metric];
  if (dimension === null) return noun;
  const { before, after } = wordsOf(dimension, value);
  return [before, noun, after].filter((word) => word !== undefined).join(" ");
}

/** Returns the words for a value after `Conversions of …`: those that follow a noun, else `by … visitors`. */
function afterConversions({ dimension, value }: Finding): string {
  const { before, after } = wordsOf(dimension!, value);
  return before === undefined ? after! : `by ${before} visitors`;
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Returns the beginning of a sentence about a finding. */
export function sentenceSubject(finding: Finding): string {
  const { metric, goal, dimension } = finding;
  const of = dimension === null ? "" : subjectOf(finding);
  switch (metric) {
    case "bounceRate":
      return of === "" ? "The bounce rate" : `The bounce rate of ${of}`;
    case "conversions": {
      const conversions = `Conversions of ${quoted(goal?.title ?? "")}`;
      return of === "" ? conversions : `${conversions} ${afterConversions(finding)}`;
    }
    default:
      return capital(subjectOf(finding));
  }
}
