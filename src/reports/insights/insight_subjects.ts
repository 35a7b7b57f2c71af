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

/** Quotes text that people sent: on one line, short, and without characters that reverse its direction. */
function quoted(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").replace(/[“”]/g, "'");
  const characters = [...plain];
  const isLong = characters.length > INSIGHT_SHOWN_LENGTH_MAX;
  return `“${isLong ? `${characters.slice(0, INSIGHT_SHOWN_LENGTH_MAX - 1).join("")}…` : plain}”`;
}

/** Words for a value of a dimension, before and after the noun. */
interface Words {
  readonly before?: string;
  readonly behind?: string;
}

const OF_NONE: Readonly<Record<Dimension, Words>> = {
  channel: { behind: "of no channel" },
  source: { behind: "without a source" },
  campaign: { before: "untagged" },
  entryPath: { behind: "without an entry page" },
  country: { behind: "from unknown countries" },
  device: { behind: "on unknown devices" },
  browser: { behind: "with unknown browsers" },
};

/** Names of the product's own channels, which need no quotes because they are not sent by clients. */
const CHANNEL = /^[A-Z][A-Za-z ]*$/;
const DEVICES: Readonly<Record<string, Words>> = {
  desktop: { before: "desktop" },
  tablet: { before: "tablet" },
  mobile: { before: "mobile" },
  other: { behind: "on other devices" },
};

function wordsOf(dimension: Dimension, value: string | null): Words {
  if (value === null) return OF_NONE[dimension];
  switch (dimension) {
    case "channel":
      return CHANNEL.test(value)
        ? { before: value }
        : { behind: `of the channel ${quoted(value)}` };
    case "source":
      return { behind: `from ${quoted(value)}` };
    case "campaign":
      return { behind: `by the campaign ${quoted(value)}` };
    case "entryPath":
      return { behind: `by the entry page ${quoted(value)}` };
    case "country":
      return { behind: `from ${countryName(value) ?? quoted(value)}` };
    case "device":
      return DEVICES[value] ?? { behind: `on ${quoted(value)}` };
    case "browser":
      return { behind: `with ${quoted(value)}` };
  }
}

/** Returns the subject of a finding: `Email visitors`, `untagged visits`, `page views from “news”`. */
export function subjectOf({ metric, dimension, value }: Finding): string {
  const noun = NOUNS[metric];
  if (dimension === null) return noun;
  const { before, behind } = wordsOf(dimension, value);
  return [before, noun, behind].filter((word) => word !== undefined).join(" ");
}

/** Returns the words after `Conversions` for a value: those that follow a noun, else `by … visitors`. */
function byWhom({ dimension, value }: Finding): string {
  const { before, behind } = wordsOf(dimension!, value);
  return before === undefined ? behind! : `by ${before} visitors`;
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
      return of === "" ? conversions : `${conversions} ${byWhom(finding)}`;
    }
    default:
      return capital(subjectOf(finding));
  }
}
