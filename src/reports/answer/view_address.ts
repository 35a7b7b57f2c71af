type Json = Readonly<Record<string, unknown>>;

/** The dashboard's view of a read, and the parameters that have the same name in both. */
interface View {
  readonly id: string;
  readonly params?: readonly string[];
}

const OVERVIEW: View = { id: "overview" };
const FUNNEL_PARAMS = ["steps", "window", "order", "entry", "exclude", "by"];

/** By path. A read that is not listed has the view that is named like the first part of its path. */
const VIEWS: Readonly<Record<string, View>> = {
  "/v1/session": OVERVIEW,
  "/v1/kpis": OVERVIEW,
  "/v1/acquisition": OVERVIEW,
  "/v1/pages": OVERVIEW,
  "/v1/live": OVERVIEW,
  "/v1/notes": OVERVIEW,
  "/v1/overview": { id: "sites", params: ["q", "sort"] },
  "/v1/journeys": {
    id: "journeys",
    params: ["start", "end", "by", "steps", "top", "scope", "window"],
  },
  "/v1/segments": OVERVIEW,
  "/v1/trends": { id: "trends", params: ["event", "measure", "by"] },
  "/v1/funnels": { id: "funnels", params: FUNNEL_PARAMS },
  "/v1/retention": {
    id: "retention",
    params: ["start", "return", "cohort", "criterion", "periods"],
  },
  "/v1/visits": { id: "visits", params: ["actor", "goal", "of"] },
  "/v1/actors": { id: "people", params: ["of"] },
  "/v1/vitals": { id: "vitals", params: ["by"] },
  "/v1/heatmaps": { id: "heatmaps", params: ["path", "device", "kind"] },
};

/** Returns the id of a read's view. */
export function viewOf(path: string): string {
  const named = path.split("/")[2] ?? OVERVIEW.id;
  return (VIEWS[path] ?? VIEWS[`/v1/${named}`])?.id ?? named;
}

/** Adds the id of the visit or the person that a path names. */
function putPage(address: URLSearchParams, path: string): void {
  const [, kind, id] = /^\/v1\/(visits|actors)\/([^/]+)/.exec(path) ?? [];
  if (id === undefined) return;
  address.set(kind === "visits" ? "visit" : "person", decodeURIComponent(id));
}

/** Returns the local date of an instant; null: the instant or the time zone is invalid. */
function localDate(instant: unknown, timezone: unknown, shiftMs: number): string | null {
  const ms = Date.parse(String(instant)) + shiftMs;
  if (Number.isNaN(ms)) return null;
  const parts = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  try {
    return new Intl.DateTimeFormat("en-CA", { ...parts, timeZone: String(timezone) }).format(ms);
  } catch {
    return null;
  }
}

/** Returns a range as local dates, both inclusive; null: it is not one. */
function datesOf({ from, to }: Json, timezone: unknown): { from: string; to: string } | null {
  const first = localDate(from, timezone, 0);
  const last = localDate(to, timezone, -1);
  return first === null || last === null || first > last ? null : { from: first, to: last };
}

const textOf = (value: unknown) => typeof value === "string" ? value : JSON.stringify(value);

/** Returns what the range is compared with, as the page's address says it. */
function comparisonOf({ compare, timezone }: Json): string {
  if (typeof compare === "object" && compare !== null) {
    const dates = datesOf(compare as Json, timezone);
    return dates === null ? "none" : JSON.stringify(dates);
  }
  return /^(?:previous|year|segment:.+)$/.test(String(compare)) ? String(compare) : "none";
}

/**
 * Returns the query of the dashboard's page that shows a read.
 * @param asked the parameters as given
 * @param query all parameters as the reply resolved them
 */
export function viewAddress(path: string, asked: URLSearchParams, query: Json): string {
  const address = new URLSearchParams({ view: viewOf(path) });
  const project = query.project ?? asked.get("project");
  if (typeof project === "string") address.set("project", project);
  for (const [name, date] of Object.entries(datesOf(query, query.timezone) ?? {})) {
    address.set(name, date);
  }
  for (const name of ["timezone", "interval"]) {
    const value = asked.get(name);
    if (value !== null && value !== "") address.set(name, value);
  }
  if (Array.isArray(query.filters) && query.filters.length > 0) {
    address.set("filters", JSON.stringify(query.filters));
  }
  if (query.bots === "include" || query.bots === "only") address.set("bots", query.bots);
  if (query.compare !== undefined) address.set("compare", comparisonOf(query));
  const segment = asked.get("segment");
  if (segment !== null && segment !== "") address.set("segment", segment);
  const slug = /^\/v1\/(funnels|goals|segments)\/([^/]+)$/.exec(path);
  if (slug !== null) address.set(slug[1]!.slice(0, -1), decodeURIComponent(slug[2]!));
  putPage(address, path);
  for (const name of VIEWS[path]?.params ?? []) {
    const value = asked.get(name) ?? query[name];
    if (value !== null && value !== undefined && value !== "") address.set(name, textOf(value));
  }
  return address.toString();
}
