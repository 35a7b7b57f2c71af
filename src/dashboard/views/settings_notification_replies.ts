import type { output } from "zod";
import type { AlertShown } from "../../notifications/alert_definition.ts";
import type { QuestionSchema } from "../../notifications/alert_question.ts";
import type { DeliveryShown } from "../../notifications/deliveries.ts";
import type { DigestShown } from "../../notifications/digest_definition.ts";
import type { WebhookSaved } from "../../notifications/webhook_definition.ts";
import { filterText } from "../filter_fields.ts";
import { money, percent } from "../number_format.ts";
import { type VitalName, vitalText } from "./vitals_words.ts";

export type Digest = output<typeof DigestShown>;
export type Alert = output<typeof AlertShown>;
export type Delivery = output<typeof DeliveryShown>;
/** What an alert waits for. */
export type Cause = Alert["on"];
/** What an alert counts, or a digest reports beside its key figures. */
export type Question = output<typeof QuestionSchema>;
/** A webhook; `secret` only in the reply to a new one. */
export type Webhook = output<typeof WebhookSaved>;

export interface SentReply {
  readonly deliveries: readonly Delivery[];
}

export const FORMATS: readonly { readonly value: Webhook["format"]; readonly label: string }[] = [
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
function questionWords(question: Question): string {
  const { match, filters, segment } = question;
  const conditions = [...match?.filters ?? [], ...filters].map(filterText).join(" and ");
  return [
    sourceWords(question),
    segment === null ? "" : `of the segment ${segment}`,
    conditions === "" ? "" : `where ${conditions}`,
  ].filter((word) => word !== "").join(" ");
}

const RATES = ["rate", "good", "poor"];

/** Currencies of goals by slug. */
export type Currencies = ReadonlyMap<string, string | null>;

/** The goal whose value is money that an alert watches; null: it watches something else. */
export function valuedGoal(on: Cause): string | null {
  if (on.kind !== "threshold") return null;
  const { goal = null, measure } = on.question;
  return measure === "amount" ? goal : null;
}

/** Decimal places of a bound, as in messages. */
const BOUND_DIGITS = 4;

/** A bound in the unit of its figure: 0.4 of a rate is 40%. */
function boundWords(
  { metric, goal, funnel, vital, measure }: Question,
  bound: number,
  currency: string | null,
): string {
  const isRate = metric === "bounceRate" || RATES.includes(measure ?? "") &&
      (goal !== undefined || vital !== undefined) ||
    funnel !== undefined && (measure ?? "rate") === "rate";
  if (isRate) return percent(bound, BOUND_DIGITS, 0);
  const isVital = vital !== undefined && (measure ?? "p75") === "p75";
  return isVital ? vitalText(vital as VitalName, bound) : money(bound, currency, BOUND_DIGITS);
}

/** What an alert waits for, in words. */
export function causeWords(on: Cause, currencies: Currencies): string {
  switch (on.kind) {
    case "threshold": {
      const currency = currencies.get(valuedGoal(on) ?? "") ?? null;
      const bound = boundWords(on.question, on.above ?? on.below!, currency);
      const side = on.above === undefined ? "below" : "above";
      return `${questionWords(on.question)} ${side} ${bound} in ${on.over}`;
    }
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

/** The receivers in words. */
export function receiverWords(
  { to, webhooks }: { readonly to: readonly string[]; readonly webhooks: readonly string[] },
): string {
  return [...to, ...webhooks].join(", ") || "Nobody";
}
