import { filterText } from "../filter_fields.ts";
import type { Filter } from "../location_query.ts";
import { decimal, percent } from "../number_format.ts";
import { type VitalName, vitalText } from "./vitals_words.ts";

/** A digest as the API lists it. */
export interface Digest {
  readonly slug: string;
  readonly title: string;
  readonly every: "daily" | "weekly" | "monthly";
  readonly at: string;
  readonly timezone: string | null;
  readonly to: readonly string[];
  readonly webhooks: readonly string[];
  readonly projects: readonly string[];
  readonly filters: readonly Filter[];
  /** A slug; null: everybody. */
  readonly segment: string | null;
  readonly questions: readonly Question[];
  readonly nextAt: string;
  readonly problem: string | null;
}

/** What an alert counts, or a digest tells beside its own. */
export interface Question {
  readonly metric?: string;
  readonly goal?: string;
  readonly match?: { readonly name: string; readonly filters: readonly Filter[] };
  readonly funnel?: string;
  readonly vital?: string;
  readonly measure?: string;
  readonly filters: readonly Filter[];
  readonly segment: string | null;
}

/** What an alert waits for. */
export type Cause =
  | {
    readonly kind: "threshold";
    readonly question: Question;
    readonly above?: number;
    readonly below?: number;
    readonly over: string;
  }
  | {
    readonly kind: "unusual";
    readonly question: Question;
    readonly direction: "any" | "up" | "down";
  }
  | {
    readonly kind: "silence";
    readonly minutes: number;
    readonly match: { readonly name: string; readonly filters: readonly Filter[] } | null;
  }
  | {
    readonly kind: "finding";
    readonly score: number;
    readonly filters: readonly Filter[];
    readonly segment: string | null;
  };

/** An alert as the API lists it. */
export interface Alert {
  readonly slug: string;
  readonly title: string;
  readonly on: Cause;
  /** Whether it is told, too, that it is over. */
  readonly recovery: boolean;
  readonly to: readonly string[];
  readonly webhooks: readonly string[];
  readonly firingSince: string | null;
  readonly problem: string | null;
}

export type WebhookFormat = "standard" | "slack" | "discord" | "teams";

/** A webhook as the API lists it; `secret` only in the reply to a new one. */
export interface Webhook {
  readonly slug: string;
  readonly title: string;
  readonly url: string;
  readonly format: WebhookFormat;
  readonly secret?: string;
}

/** What became of a message: a row of `GET /v1/deliveries`. */
export interface Delivery {
  readonly id: string;
  readonly at: string;
  readonly source: "digest" | "alert" | "webhook";
  readonly slug: string;
  readonly subject: string;
  readonly isTest: boolean;
  readonly channel: "mail" | "webhook" | "log";
  readonly receiver: string;
  readonly status: "waiting" | "sent" | "failed" | "dropped";
  readonly tries: number;
  readonly outcome: string | null;
  readonly nextTryAt: string | null;
  readonly endedAt: string | null;
}

export interface SentReply {
  readonly deliveries: readonly Delivery[];
}

export const FORMATS: readonly { readonly value: WebhookFormat; readonly label: string }[] = [
  { value: "standard", label: "Signed JSON" },
  { value: "slack", label: "Slack" },
  { value: "discord", label: "Discord" },
  { value: "teams", label: "Microsoft Teams" },
];

export const METRIC_CHOICES = [
  { value: "visitors", label: "Visitors" },
  { value: "newVisitors", label: "New visitors" },
  { value: "sessions", label: "Visits" },
  { value: "pageviews", label: "Page views" },
  { value: "events", label: "Events" },
  { value: "bounceRate", label: "Bounce rate (0 to 1)" },
  { value: "sessionSeconds", label: "Median visit (seconds)" },
] as const;

const MEASURE_WORDS: Readonly<Record<string, string>> = {
  conversions: "Conversions",
  total: "All conversions",
  amount: "Value",
  rate: "Conversion rate",
  converted: "Converted",
  entered: "Entered",
};

function sourceWords({ metric, goal, match, funnel, vital, measure }: Question): string {
  if (metric !== undefined) {
    return METRIC_CHOICES.find(({ value }) => value === metric)?.label ?? metric;
  }
  if (goal !== undefined) return `${MEASURE_WORDS[measure ?? "conversions"]} of the goal ${goal}`;
  if (funnel !== undefined) return `${MEASURE_WORDS[measure ?? "rate"]} of the funnel ${funnel}`;
  if (vital !== undefined) return `${vital.toUpperCase()} (${measure ?? "p75"})`;
  const name = match?.name ?? "";
  if (measure === undefined || measure === "total") return `Events ${name}`;
  return measure === "visitors" ? `Visitors with ${name}` : `${measure} of ${name}`;
}

/** A question in words. */
export function questionWords(question: Question): string {
  const { match, filters, segment } = question;
  const conditions = [...match?.filters ?? [], ...filters].map(filterText).join(" and ");
  return [
    sourceWords(question),
    segment === null ? "" : `of the segment ${segment}`,
    conditions === "" ? "" : `where ${conditions}`,
  ].filter((word) => word !== "").join(" ");
}

const RATES = ["rate", "good", "poor"];

/** A bound as it is told of the figure: 0.4 of a rate is 40 %. */
function boundWords({ metric, goal, funnel, vital, measure }: Question, bound: number): string {
  const isRate = metric === "bounceRate" || RATES.includes(measure ?? "") &&
      (goal !== undefined || vital !== undefined) ||
    funnel !== undefined && (measure ?? "rate") === "rate";
  if (isRate) return percent(bound);
  const isVital = vital !== undefined && (measure ?? "p75") === "p75";
  return isVital ? vitalText(vital as VitalName, bound) : decimal(bound, 2);
}

/** What an alert waits for, in words. */
export function causeWords(on: Cause): string {
  switch (on.kind) {
    case "threshold":
      return `${questionWords(on.question)} ${on.above === undefined ? "below" : "above"} ${
        boundWords(on.question, on.above ?? on.below!)
      } in ${on.over}`;
    case "unusual":
      return `${questionWords(on.question)} unusual for the weekday${
        on.direction === "any" ? "" : on.direction === "up" ? ", more" : ", less"
      }`;
    case "silence":
      return `No ${on.match?.name ?? "event"} for ${on.minutes} minutes`;
    case "finding":
      return `A finding above ${on.score}`;
  }
}

/** To whom something goes, in words. */
export function receiverWords(
  { to, webhooks }: { readonly to: readonly string[]; readonly webhooks: readonly string[] },
): string {
  return [...to, ...webhooks].join(", ") || "Nobody";
}
