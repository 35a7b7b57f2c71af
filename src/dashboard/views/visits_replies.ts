/** What the reads of visits and people reply, as their views take it. */

import type { output } from "zod";
import type { ExportedEvent } from "../../event_file/exported_event.ts";
import type * as people from "../../reports/visits/people.ts";
import type * as head from "../../reports/visits/person_head.ts";
import type * as visits from "../../reports/visits/visit_rows.ts";
import { valueLabel } from "../filter_fields.ts";
import { money, NOTHING } from "../number_format.ts";

export type VisitRow = output<typeof visits.VisitRow>;
export type WholeVisit = output<typeof visits.WholeVisit>;
export type PersonRow = output<typeof people.PersonRow>;
export type PersonHead = output<typeof head.PersonHead>;

/** A page of `GET /v1/visits`; with `of`, how many there are. */
export interface VisitsReply {
  readonly rows: readonly VisitRow[];
  readonly nextCursor: string | null;
  readonly total?: number;
}

/** The same of `GET /v1/actors`. */
export interface PeopleReply {
  readonly rows: readonly PersonRow[];
  readonly nextCursor: string | null;
  readonly total?: number;
}

/** An event of a visit's story. */
export interface StoryEvent extends ExportedEvent {
  readonly secondsToNext: number | null;
  readonly secondsOnPage: number | null;
  readonly goals: readonly string[];
}

/** `GET /v1/visits/{id}`. */
export interface VisitReply {
  readonly visit: WholeVisit;
  readonly events: readonly StoryEvent[];
  readonly nextCursor: string | null;
}

/** `GET /v1/actors/{id}/timeline`. */
export interface PersonReply {
  readonly person: PersonHead;
  readonly events: readonly ExportedEvent[];
  readonly nextCursor: string | null;
}

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
  const program = [browser, os].filter((part) => part !== null).join(" on ");
  const kind = device === null ? "" : valueLabel("device", device);
  return [kind, program].filter((part) => part !== "").join(", ") || NOTHING;
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

/** What one goal was reached for. */
export function conversionText(
  { title, totalConversions, value }: VisitRow["conversions"][number],
): string {
  const times = totalConversions === 1 ? "" : ` × ${totalConversions}`;
  const worth = value.currency === null ? "" : `, ${money(value.amount, value.currency)}`;
  return `${title}${times}${worth}`;
}
