type Json = Readonly<Record<string, unknown>>;

/** The view of the dashboard that shows a read, and the parameters that both call the same. */
interface View {
  readonly id: string;
  readonly params?: readonly string[];
}

const OVERVIEW: View = { id: "overview" };
const FUNNEL_PARAMS = ["steps", "window", "order", "entry", "exclude", "by"];

/** A read without a row has the view by the name that its path begins with. */
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

/** The view's id of a read. */
export function viewOf(path: string): string {
  const named = path.split("/")[2] ?? OVERVIEW.id;
  return (VIEWS[path] ?? VIEWS[`/v1/${named}`])?.id ?? named;
}

/** One visit or one person has a page of its own, by its id. */
function putPage(address: URLSearchParams, path: string): void {
  const [, kind, id] = /^\/v1\/(visits|actors)\/([^/]+)/.exec(path) ?? [];
  if (id === undefined) return;
  address.set(kind === "visits" ? "visit" : "person", decodeURIComponent(id));
}

/** The local date of an instant; null where it, or the time zone, is none. */
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

/** The range as local dates, both inclusive; the end of a range of instants is not in it. */
function putDates(address: URLSearchParams, { from, to, timezone }: Json): void {
  const dates = [localDate(from, timezone, 0), localDate(to, timezone, -1)] as const;
  if (dates[0] === null || dates[1] === null || dates[0] > dates[1]) return;
  address.set("from", dates[0]);
  address.set("to", dates[1]);
}

const textOf = (value: unknown) => typeof value === "string" ? value : JSON.stringify(value);

/**
 * The query of the dashboard's page that shows what a read tells. `asked`: the parameters that were
 * given; `query`: all of them as the reply resolved them.
 */
export function viewAddress(path: string, asked: URLSearchParams, query: Json): string {
  const address = new URLSearchParams({ view: viewOf(path) });
  const project = query.project ?? asked.get("project");
  if (typeof project === "string") address.set("project", project);
  putDates(address, query);
  for (const name of ["timezone", "interval"]) {
    const value = asked.get(name);
    if (value !== null && value !== "") address.set(name, value);
  }
  if (Array.isArray(query.filters) && query.filters.length > 0) {
    address.set("filters", JSON.stringify(query.filters));
  }
  if (query.bots === "include" || query.bots === "only") address.set("bots", query.bots);
  if (query.compare !== undefined) {
    const isNamed = /^(?:previous|year|segment:.+)$/.test(textOf(query.compare));
    address.set("compare", isNamed ? String(query.compare) : "none");
  }
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
