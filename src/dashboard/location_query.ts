/** The bar's choices: how the page's address holds them, and what they ask of the API. */

export type FilterValue = string | number | boolean;

/** A condition on one field, as the API takes it. */
export interface Filter {
  readonly field: string;
  readonly op: string;
  readonly values: readonly FilterValue[];
}

export const RANGE_PRESETS = [
  "today",
  "yesterday",
  "7d",
  "30d",
  "90d",
  "month",
  "last_month",
  "12m",
] as const;

export type RangePreset = typeof RANGE_PRESETS[number];
/** A preset that moves with the day, or fixed local dates, both inclusive. */
export type RangeChoice =
  | { readonly preset: RangePreset }
  | { readonly from: string; readonly to: string };
export type Interval = "hour" | "day" | "week" | "month";
export type Bots = "exclude" | "include" | "only";

/** Local dates such as `2026-01-31`, both inclusive. */
export interface Dates {
  readonly from: string;
  readonly to: string;
}

export const INTERVALS: readonly Interval[] = ["hour", "day", "week", "month"];
const BOTS: readonly string[] = ["exclude", "include", "only"];
const LOCAL_DATE = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;
/** The most days that are drawn by hour and by day: a series has at most 2,000 buckets. */
const DAYS_BY: Readonly<Partial<Record<Interval, number>>> = { hour: 80, day: 1_990 };
/** More days than these are drawn by week, or by month. */
const DAYS_BY_DAY_MAX = 92;
const DAYS_BY_WEEK_MAX = 330;

export const RANGE_DEFAULT: RangeChoice = { preset: "30d" };
export const COMPARE_DEFAULT = "previous";

/** A view's default comparison: the overview compares with the period before, others with nothing. */
export function compareDefault(view: string | null): string {
  return (view ?? "overview") === "overview" ? COMPARE_DEFAULT : "none";
}

/** Reads reach back ten years at most. */
export const READ_DAYS_MAX = 9 * 365;

/** The date `days` after a local date. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

function firstOfMonth(date: string, months: number): string {
  const [year, month] = date.split("-").map(Number) as [number, number];
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10);
}

/** The date of an instant in a time zone; in the browser's own if it does not know that zone. */
export function dateIn(timezone: string | null, nowMs: number): string {
  const parts = (zone: string | undefined) =>
    new Intl.DateTimeFormat("en-CA", {
      ...(zone === undefined ? {} : { timeZone: zone }),
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
    }).format(nowMs);
  try {
    return parts(timezone ?? undefined);
  } catch {
    return parts(undefined);
  }
}

/** The dates of a choice on the day `today`. */
export function datesOf(choice: RangeChoice, today: string): Dates {
  if (!("preset" in choice)) return choice;
  const yesterday = addDays(today, -1);
  switch (choice.preset) {
    case "today":
      return { from: today, to: today };
    case "yesterday":
      return { from: yesterday, to: yesterday };
    case "7d":
      return { from: addDays(today, -6), to: today };
    case "30d":
      return { from: addDays(today, -29), to: today };
    case "90d":
      return { from: addDays(today, -89), to: today };
    case "month":
      return { from: firstOfMonth(today, 0), to: today };
    case "last_month":
      return { from: firstOfMonth(today, -1), to: addDays(firstOfMonth(today, 0), -1) };
    case "12m":
      return { from: firstOfMonth(today, -11), to: today };
  }
}

/** How many days there are from one date to another, both included. */
export function daysOf({ from, to }: Dates): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
}

/** The chosen interval; null: none is chosen, or the range would have too many buckets of it. */
export function intervalIn(dates: Dates, chosen: Interval | null): Interval | null {
  return chosen === null || daysOf(dates) > (DAYS_BY[chosen] ?? Infinity) ? null : chosen;
}

/** The interval that draws a range with a readable number of buckets. */
export function automaticInterval(dates: Dates): Interval {
  const days = daysOf(dates);
  if (days <= 2) return "hour";
  if (days <= DAYS_BY_DAY_MAX) return "day";
  return days <= DAYS_BY_WEEK_MAX ? "week" : "month";
}

/** A date that exists, or null. */
function localDate(text: string | null): string | null {
  if (text === null || !LOCAL_DATE.test(text)) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text ? null : text;
}

/** `range`, or `from` and `to`; anything else is the default. */
export function readRange(query: URLSearchParams): RangeChoice {
  const preset = RANGE_PRESETS.find((each) => each === query.get("range"));
  if (preset !== undefined) return { preset };
  const from = localDate(query.get("from"));
  const to = localDate(query.get("to"));
  return from === null || to === null || from > to ? RANGE_DEFAULT : { from, to };
}

/** Whether it is a filter as addresses hold them. */
export function isFilter(value: unknown): value is Filter {
  const { field, op, values } = (value ?? {}) as Partial<Filter>;
  return typeof field === "string" && typeof op === "string" && Array.isArray(values);
}

/** A filter for one value of a field; null: for no value. */
export function hasValue(field: string, value: FilterValue | null): Filter {
  return value === null
    ? { field, op: "not_exists", values: [] }
    : { field, op: "is", values: [value] };
}

/** `filters`, from JSON; empty if it is not a list of filters. */
export function readFilters(text: string | null): readonly Filter[] {
  try {
    const parsed: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(parsed) && parsed.every(isFilter) ? parsed : [];
  } catch {
    return [];
  }
}

const SEGMENT = /^[a-z0-9][a-z0-9-]{0,62}$/;
const COMPARED_SEGMENT = "segment:";

/** `segment`: a slug; null: everybody. */
export function readSegment(text: string | null): string | null {
  return text !== null && SEGMENT.test(text) ? text : null;
}

/** The slug in `compare`; null: it does not name a segment. */
export function comparedSegment(compare: string): string | null {
  return compare.startsWith(COMPARED_SEGMENT)
    ? readSegment(compare.slice(COMPARED_SEGMENT.length))
    : null;
}

/** `compare`: `none`, `previous`, `year`, `segment:<slug>`, or JSON with local dates `from` and `to`. */
export function readCompare(text: string | null, fallback = COMPARE_DEFAULT): string {
  if (text === "none" || text === "previous" || text === "year") return text;
  if (text !== null && comparedSegment(text) !== null) return text;
  try {
    const { from, to } = JSON.parse(text ?? "null");
    if (localDate(from) !== null && localDate(to) !== null && from <= to) {
      return JSON.stringify({ from, to });
    }
  } catch { /* the default */ }
  return fallback;
}

/** `interval`; null: automatic. */
export function readInterval(text: string | null): Interval | null {
  return INTERVALS.find((each) => each === text) ?? null;
}

export function readBots(text: string | null): Bots {
  return text !== null && BOTS.includes(text) ? text as Bots : "exclude";
}

/** The parameters that all views share. All others belong to one view. */
export const SHARED_NAMES: readonly string[] = [
  "view",
  "project",
  "range",
  "from",
  "to",
  "compare",
  "timezone",
  "interval",
  "segment",
  "filters",
  "bots",
];

/** Changes to the address; absent members stay as they are. */
export interface Changes {
  /** Another view drops the parameters of the one before. */
  readonly view?: string;
  readonly project?: string | null;
  readonly range?: RangeChoice;
  readonly compare?: string;
  /** Null: the project's. */
  readonly timezone?: string | null;
  /** Null: automatic. */
  readonly interval?: Interval | null;
  /** Null: everybody. */
  readonly segment?: string | null;
  readonly filters?: readonly Filter[];
  readonly bots?: Bots;
  /** Parameters of the view; null removes one. */
  readonly params?: Readonly<Record<string, string | null>>;
}

function put(query: URLSearchParams, name: string, value: string | null, fallback: string): void {
  if (value === null || value === fallback) query.delete(name);
  else query.set(name, value);
}

function putRange(query: URLSearchParams, range: RangeChoice): void {
  for (const name of ["range", "from", "to"]) query.delete(name);
  if (!("preset" in range)) {
    query.set("from", range.from);
    query.set("to", range.to);
  } else if (!("preset" in RANGE_DEFAULT) || range.preset !== RANGE_DEFAULT.preset) {
    query.set("range", range.preset);
  }
}

/** The query after the changes. Defaults are omitted, so that an address holds only choices. */
export function changed(before: URLSearchParams, changes: Changes): URLSearchParams {
  const query = new URLSearchParams(before);
  const { view, range, filters, params = {} } = changes;
  if (view !== undefined && view !== (before.get("view") ?? "overview")) {
    for (const name of [...query.keys()]) {
      if (!SHARED_NAMES.includes(name)) query.delete(name);
    }
  }
  if (view !== undefined) put(query, "view", view, "overview");
  if (changes.project !== undefined) put(query, "project", changes.project, "");
  if (range !== undefined) putRange(query, range);
  if (changes.compare !== undefined) {
    put(query, "compare", changes.compare, compareDefault(query.get("view")));
  }
  if (changes.timezone !== undefined) put(query, "timezone", changes.timezone, "");
  if (changes.interval !== undefined) put(query, "interval", changes.interval, "");
  if (changes.segment !== undefined) put(query, "segment", changes.segment, "");
  if (changes.bots !== undefined) put(query, "bots", changes.bots, "exclude");
  if (filters !== undefined) put(query, "filters", JSON.stringify(filters), "[]");
  for (const [name, value] of Object.entries(params)) put(query, name, value, "");
  return query;
}

/** The filters with one more value, which joins an `is` filter of the same field. */
export function withFilter(
  filters: readonly Filter[],
  field: string,
  value: FilterValue | null,
): readonly Filter[] {
  const added = hasValue(field, value);
  const same = filters.findIndex((each) => each.field === field && each.op === added.op);
  if (same < 0) return [...filters, added];
  const values = new Set([...filters[same]!.values, ...added.values]);
  return filters.with(same, { ...added, values: [...values] });
}
