/** What the read benchmark asks: for each read a set of varied requests, filtered ones apart. */
import { DAY_MS } from "../src/limits.ts";
import { PATHS } from "./read_history_sources.ts";

/** Requests that are measured together. */
export interface ReadSet {
  /** The path below `/v1/`. */
  readonly endpoint: string;
  /** What makes these requests a set of their own, e.g. `entry=first`; null where nothing does. */
  readonly variant: string | null;
  readonly filtered: boolean;
  /** Query strings, each of its own kind where the read takes parameters. */
  readonly queries: readonly string[];
}

/** What a client sends before it reads. */
export interface Preparation {
  readonly path: string;
  readonly body: unknown;
}

export interface Asking {
  readonly projectPublicId: string;
  /** Days that there are data of, up to `endMs`. */
  readonly days: number;
  readonly endMs: number;
  /** Requests of each set. */
  readonly requests: number;
}

type Parameters = Readonly<Record<string, string | number | object>>;

const RANGE_DAYS = [7, 30, 60, 90];
const FUNNEL_DAYS = 30;
const RETENTION_WEEKS = 12;
const RETENTION_DAYS = 14;
/** Saved before the first request. */
export const PREPARATIONS: readonly Preparation[] = [
  {
    path: "goals/purchase",
    body: {
      title: "Purchase",
      match: { name: "purchase" },
      value: { property: "amount", currency: "EUR" },
    },
  },
  {
    path: "goals/business-signup",
    body: {
      title: "Sign-up for business",
      match: {
        name: "signup",
        filters: [{ field: "properties.plan", op: "is", values: ["business"] }],
      },
    },
  },
  {
    path: "segments/buyers",
    body: {
      title: "Came back and bought",
      actors: {
        all: [
          { did: "page_view", atLeast: 3 },
          { any: [{ did: "purchase", within: "30d" }, { did: "checkout" }] },
        ],
      },
    },
  },
];

/** People by what they did: a condition that every read of theirs has to reckon. */
const COHORT = "buyers";

const is = (field: string, ...values: string[]) => ({ field, op: "is", values });
const FILTERS: readonly (readonly object[])[] = [
  [is("country", "DE")],
  [is("device", "mobile")],
  [is("channel", "Organic Search")],
  [{ field: "path", op: "starts_with", values: ["/products/"] }],
  [is("source", "google"), is("country", "DE", "US", "GB")],
  [{ field: "browser", op: "is_not", values: ["Chrome"] }],
  [{ field: "campaign", op: "contains", values: ["sale"] }],
  [is("entryPath", "/"), is("os", "Windows")],
  [{ field: "properties.amount", op: "gt", values: [100] }],
  [{ field: "userId", op: "exists", values: [] }],
  [{ field: "title", op: "contains", values: ["Page 1"] }],
  [is("referrer", "duckduckgo.com")],
];

const ACQUISITION_BY = [
  "channel",
  "source",
  "entryPath",
  "country",
  "device",
  "campaign",
  "referrer",
  "browser",
  "medium",
  "city",
];
const TRENDS: readonly Parameters[] = [
  { event: "purchase", measure: "total" },
  { event: "page_view", measure: "visitors", by: "device" },
  { event: "purchase", measure: "sum:properties.amount", interval: "week" },
  { event: "click", measure: "total", by: "path" },
  { event: '["add_to_cart","checkout","purchase"]', measure: "visitors" },
  { event: "purchase", measure: "p90:properties.amount", by: "country" },
  { event: "page_view", measure: "perVisitor", by: "channel", interval: "week" },
];
const STEPS = [
  { name: "page_view", label: "Visit" },
  { name: "add_to_cart" },
  { name: "checkout" },
  { name: "purchase" },
];
const WINDOWS = ["7d", "1d", "14d", "30d", "3h"];
const DEVICES = ["desktop", "mobile", "tablet"];
/** From anywhere, from a page, back from a purchase, between two, and of people across their visits. */
const JOURNEYS: readonly Parameters[] = [
  {},
  { start: { path: "/" }, steps: 8 },
  { end: "purchase", by: "name" },
  { start: { path: "/" }, end: "purchase", by: "both" },
  { start: "signup", by: "both", scope: "actor", window: "7d" },
];
const VITALS_BY = ["path", "device", "country", "browser", "os"];
/** Numbers of other reads that count people, and that count visits. */
const PEOPLE_OF: readonly object[] = [
  { read: "funnels", steps: STEPS, place: { lost: 3 } },
  { read: "acquisition", by: "country", place: { value: "DE", count: "visitors" } },
  { read: "kpis", place: { count: "newVisitors" } },
  {
    read: "heatmaps",
    path: PATHS[0]!,
    device: "desktop",
    kind: "click",
    place: { sample: "visitors" },
  },
  {
    read: "journeys",
    scope: "actor",
    place: { way: [{ step: 2, kind: "path", value: PATHS[1]! }] },
  },
];
const VISITS_OF: readonly object[] = [
  { read: "journeys", place: { way: [{ step: 1, kind: "path", value: PATHS[0]! }] } },
  { read: "acquisition", by: "channel", place: { value: "Organic Search", count: "sessions" } },
  { read: "kpis", place: { count: "bounces" } },
];
const HEAT_KINDS = ["click", "scroll", "rage", "dead"];

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const at = <T>(values: readonly T[], i: number): T => values[i % values.length]!;

/** `days` whole days, today among them, or as many earlier as `back` says. */
function spanOf({ endMs }: Asking, days: number, back: number): Parameters {
  const lastMs = endMs - back * DAY_MS;
  return { from: dayOf(lastMs - (days - 1) * DAY_MS), to: dayOf(lastMs) };
}

/** The i-th range: of all lengths in turns, and then the same a day earlier. */
function rangeOf(asking: Asking, i: number): Parameters {
  const lengths = RANGE_DAYS.filter((days) => days <= asking.days);
  const usable = lengths.length === 0 ? [asking.days] : lengths;
  const back = Math.floor(i / usable.length);
  const days = at(usable, i);
  return spanOf(asking, days, Math.min(back, Math.max(0, asking.days - 1)));
}

type Variation = (i: number, asking: Asking) => Parameters;

interface SetPlan {
  readonly endpoint: string;
  readonly variant?: string;
  readonly vary: Variation;
  /** Whether filtered requests are asked too. */
  readonly filters: boolean;
}

const funnel = (variant: string, extra: Parameters): SetPlan => ({
  endpoint: "funnels",
  variant,
  vary: (i, asking) => ({
    ...spanOf(asking, Math.min(FUNNEL_DAYS, asking.days), Math.floor(i / WINDOWS.length)),
    steps: STEPS,
    window: at(WINDOWS, i),
    ...extra,
  }),
  filters: true,
});

const retention = (variant: string, periods: number, interval: "week" | "day"): SetPlan => ({
  endpoint: "retention",
  variant,
  vary: (i, asking) => {
    const periodDays = interval === "week" ? 7 : 1;
    const span = Math.min(asking.days, periods * periodDays);
    return {
      ...spanOf(asking, span, Math.floor(i / 4)),
      interval,
      periods,
      criterion: at(["on", "on_or_after"], i),
      cohort: at(["first", "first", "recurring", "recurring"], i),
    };
  },
  filters: true,
});

const PLANS: readonly SetPlan[] = [
  {
    endpoint: "kpis",
    vary: (i, asking) => ({
      ...rangeOf(asking, i),
      interval: at(["day", "day", "day", "week", "day"], i),
      compare: "previous",
    }),
    filters: true,
  },
  {
    endpoint: "acquisition",
    vary: (i, asking) => ({ ...rangeOf(asking, i), by: at(ACQUISITION_BY, i) }),
    filters: true,
  },
  { endpoint: "pages", vary: (i, asking) => rangeOf(asking, i), filters: true },
  {
    endpoint: "goals",
    vary: (i, asking) => ({ ...rangeOf(asking, i), interval: at(["day", "week"], i >> 2) }),
    filters: true,
  },
  retention(`weekly, ${RETENTION_WEEKS} weeks`, RETENTION_WEEKS, "week"),
  retention(`daily, ${RETENTION_DAYS} days`, RETENTION_DAYS, "day"),
  funnel("4 steps, entry=first", { entry: "first" }),
  funnel("4 steps, entry=any", { entry: "any" }),
  funnel("4 steps, strict", { order: "strict" }),
  funnel("4 steps, by channel", { by: "channel" }),
  {
    endpoint: "trends",
    vary: (i, asking) => ({ interval: "day", ...rangeOf(asking, i), ...at(TRENDS, i) }),
    filters: true,
  },
  {
    endpoint: "journeys",
    vary: (i, asking) => ({ ...rangeOf(asking, i), ...at(JOURNEYS, i) }),
    filters: true,
  },
  {
    endpoint: "insights",
    vary: (i, asking) => ({
      ...spanOf(asking, at([7, 14, 28, 1], i), Math.floor(i / 4)),
    }),
    filters: false,
  },
  {
    endpoint: "heatmaps",
    vary: (i, asking) => ({
      ...rangeOf(asking, i),
      path: at(PATHS, Math.floor(i / 4)),
      device: at(DEVICES, i),
      kind: at(HEAT_KINDS, Math.floor(i / 3)),
    }),
    filters: true,
  },
  { endpoint: "heatmaps/paths", vary: (i, asking) => rangeOf(asking, i), filters: false },
  { endpoint: "live", vary: () => ({}), filters: false },
  { endpoint: "visits", vary: (i, asking) => rangeOf(asking, i), filters: true },
  { endpoint: "actors", vary: (i, asking) => rangeOf(asking, i), filters: true },
  {
    endpoint: "visits",
    variant: "of a number",
    vary: (i, asking) => ({ ...rangeOf(asking, i), of: at(VISITS_OF, i) }),
    filters: true,
  },
  {
    endpoint: "actors",
    variant: "of a number",
    vary: (i, asking) => ({ ...rangeOf(asking, i), of: at(PEOPLE_OF, i) }),
    filters: true,
  },
  {
    endpoint: "vitals",
    vary: (i, asking) => ({ ...rangeOf(asking, i), by: at(VITALS_BY, i) }),
    filters: true,
  },
  { endpoint: "events", vary: (i, asking) => rangeOf(asking, i), filters: true },
];

function queryOf(asking: Asking, parameters: Parameters): string {
  const query = new URLSearchParams({ project: asking.projectPublicId });
  for (const [name, value] of Object.entries(parameters)) {
    query.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return query.toString();
}

function setOf(asking: Asking, plan: SetPlan, filtered: boolean): ReadSet {
  const queries = Array.from({ length: asking.requests }, (_, i) => {
    const parameters = plan.vary(i, asking);
    // In each round the filters meet other parameters.
    const filters = at(FILTERS, i + Math.floor(i / FILTERS.length));
    return queryOf(asking, filtered ? { ...parameters, filters } : parameters);
  });
  return { endpoint: plan.endpoint, variant: plan.variant ?? null, filtered, queries };
}

/** The same of a saved segment's people: held against what the filtered requests take. */
function ofCohort({ endpoint, variant, vary }: SetPlan): SetPlan {
  return {
    endpoint,
    variant: [...variant === undefined ? [] : [variant], "of a cohort"].join(", "),
    vary: (i, asking) => ({ ...vary(i, asking), segment: COHORT }),
    filters: false,
  };
}

/** What can be asked for by name. */
export const ENDPOINTS: readonly string[] = [...new Set(PLANS.map(({ endpoint }) => endpoint))];

/** All sets, or those of the endpoints that are named. */
export function readSets(asking: Asking, only: readonly string[] | null): ReadSet[] {
  return PLANS.filter(({ endpoint }) => only === null || only.includes(endpoint))
    .flatMap((plan) =>
      !plan.filters ? [setOf(asking, plan, false)] : [
        setOf(asking, plan, false),
        setOf(asking, plan, true),
        setOf(asking, ofCohort(plan), false),
      ]
    );
}

/** What a set is called: `funnels, 4 steps, strict, filtered`. */
export function nameOfSet({ endpoint, variant, filtered }: Omit<ReadSet, "queries">): string {
  return [endpoint, variant, filtered ? "filtered" : null].filter((part) => part !== null)
    .join(", ");
}
