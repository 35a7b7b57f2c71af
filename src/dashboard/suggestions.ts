/// <reference lib="dom" />
import { OTHER, splits } from "./filter_fields.ts";
import { currentDates, type Params, timezone } from "./location_state.ts";
import { useRead } from "./resource.ts";
import { SHARE_ID, showsView } from "./share.ts";

interface TrendLine {
  readonly event: string | null;
  readonly value: string | null;
}

interface TrendReply {
  readonly series: readonly (TrendLine | { readonly start: string })[];
}

interface EventsReply {
  readonly events: readonly { readonly properties: Readonly<Record<string, unknown>> }[];
}

/** How many recent events the keys of properties are taken from. */
const EVENTS_SAMPLED = 200;

function rangeParams(): Params {
  return { ...currentDates(), timezone: timezone.value, interval: "month" };
}

/**
 * The values of a filter field in the chosen range, most frequent first; those of one event if `event` is
 * given. Empty while they load, and for a null field.
 */
export function useFieldValues(field: string | null, event?: string | null): readonly string[] {
  const isAskable = field !== null && field !== "" && field !== "properties." &&
    splits(field) && showsView("trends");
  const params = { ...rangeParams(), by: field, event: event || null };
  const { data } = useRead<TrendReply>(isAskable ? "/v1/trends" : null, params);
  return data?.series.flatMap((line) =>
    "value" in line && line.value !== null && line.value !== OTHER ? [line.value] : []
  ) ?? [];
}

/** The names of the most frequent events in the chosen range. */
export function useEventNames(): readonly string[] {
  return useFieldValues("name");
}

/** The keys of the properties of recent events, of one name if `event` is given. */
export function usePropertyKeys(event?: string | null): readonly string[] {
  const filters = event ? JSON.stringify([{ field: "name", op: "is", values: [event] }]) : null;
  const params = { ...currentDates(), timezone: timezone.value, filters, limit: EVENTS_SAMPLED };
  const { data } = useRead<EventsReply>(SHARE_ID === null ? "/v1/events" : null, params);
  const keys = data?.events.flatMap(({ properties }) => Object.keys(properties)) ?? [];
  return [...new Set(keys)].filter((key) => key !== "server").sort();
}
