/** What the reads of visits and people reply. */

import type { output } from "zod";
import type { PEOPLE_REPLY } from "../../reports/visits/people.ts";
import type * as head from "../../reports/visits/person_head.ts";
import type { PERSON_TIMELINE_REPLY } from "../../reports/visits/person_timeline.ts";
import type { VISIT_REPLY } from "../../reports/visits/visit.ts";
import type { VISITS_REPLY } from "../../reports/visits/visits.ts";
import { valueLabel } from "../filter_fields.ts";
import { money, NOTHING } from "../number_format.ts";
import type { ReplyOf } from "../replies.ts";

export type PersonHead = output<typeof head.PersonHead>;

/** `GET /v1/visits`. */
export type VisitsReply = ReplyOf<typeof VISITS_REPLY>;
export type VisitRow = VisitsReply["rows"][number];
/** `GET /v1/actors`. */
export type PeopleReply = ReplyOf<typeof PEOPLE_REPLY>;
export type PersonRow = PeopleReply["rows"][number];
/** `GET /v1/visits/{id}`. */
export type VisitReply = ReplyOf<typeof VISIT_REPLY>;
export type WholeVisit = VisitReply["visit"];
/** An event of a visit's story. */
export type StoryEvent = VisitReply["events"][number];
/** `GET /v1/actors/{id}/timeline`. */
export type PersonReply = ReplyOf<typeof PERSON_TIMELINE_REPLY>;

/** Where a visit came from: its channel, and the source where that says more. */
export function originText({ channel, source }: VisitRow): string {
  return [channel, source].filter((part) => part !== null).join(" · ") || NOTHING;
}

/** Browser and system in words. */
export function programText({ browser, os }: Pick<VisitRow, "browser" | "os">): string {
  return [browser, os].filter((part) => part !== null).join(" on ") || NOTHING;
}

/** Device, browser and system in words. */
export function deviceText(
  { device, browser, os }: Pick<VisitRow, "device" | "browser" | "os">,
): string {
  const kind = device === null ? NOTHING : valueLabel("device", device);
  return [kind, programText({ browser, os })].filter((part) => part !== NOTHING).join(", ") ||
    NOTHING;
}

/** City, region and country, as far as they are known. */
export function placeText(
  { country, region = null, city = null }: {
    readonly country: string | null;
    readonly region?: string | null;
    readonly city?: string | null;
  },
): string {
  const named = country === null ? null : valueLabel("country", country);
  return [city, region === city ? null : region, named].filter((part) => part !== null)
    .join(", ") || NOTHING;
}

/** What conversions are worth, each currency by itself. */
export function worthText(
  value: readonly { readonly amount: number; readonly currency: string }[],
): string {
  return value.map(({ amount, currency }) => money(amount, currency)).join(" + ") || NOTHING;
}

/** A goal that was reached, how often and for what value. */
export function conversionText(
  { title, totalConversions, value }: VisitRow["conversions"][number],
): string {
  const times = totalConversions === 1 ? "" : ` × ${totalConversions}`;
  const worth = value.currency === null ? "" : `, ${money(value.amount, value.currency)}`;
  return `${title}${times}${worth}`;
}
