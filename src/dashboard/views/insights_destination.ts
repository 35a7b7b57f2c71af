import { BASE_PATH } from "../base_path.ts";
import type { Changes, Filter } from "../location_query.ts";
import {
  hasValue,
  readBots,
  readCompare,
  readFilters,
  readInterval,
  readRange,
  readSegment,
} from "../location_query.ts";

/** The overview's panels by the fields that they split by, with the parameter that chooses the field. */
const SPLITS: readonly { readonly param: string; readonly fields: readonly string[] }[] = [
  {
    param: "sources",
    fields: ["channel", "source", "referrer", "medium", "campaign", "term", "content"],
  },
  { param: "places", fields: ["country", "region", "city"] },
  { param: "devices", fields: ["device", "browser", "os"] },
];
/** Reads and the views that show them. */
const VIEWS: Readonly<Record<string, string>> = {
  "/v1/kpis": "overview",
  "/v1/acquisition": "overview",
  "/v1/pages": "overview",
  "/v1/goals": "goals",
  "/v1/trends": "trends",
  "/v1/funnels": "funnels",
  "/v1/retention": "retention",
};
/** Parameters of a read that its view calls the same. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  trends: ["event", "measure", "by"],
  retention: ["start", "return", "cohort", "criterion", "periods"],
};
/** Metrics of findings that the overview charts by the same name; its first chart is of visitors. */
const CHARTED: readonly string[] = ["sessions", "pageviews", "events", "bounceRate"];

/** Path and parameters of a read. */
export interface ReadAddress {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
}

/** An address such as `/v1/kpis?project=…` taken apart; the path is the one below the deployment's. */
export function readAddress(text: string, basePath = BASE_PATH): ReadAddress {
  const [address = "", query = ""] = text.split("?", 2);
  const path = address.startsWith(`${basePath}/`) ? address.slice(basePath.length) : address;
  return { path, params: Object.fromEntries(new URLSearchParams(query)) };
}

function overviewParams(by: string | undefined, metric: string): Record<string, string | null> {
  const split = SPLITS.find(({ fields }) => fields.includes(by ?? ""));
  const isFirst = split?.fields[0] === by;
  return {
    metric: CHARTED.includes(metric) ? metric : null,
    ...split && !isFirst ? { [split.param]: by! } : {},
    ...by === "entryPath" ? { pages: "entry" } : {},
  };
}

function viewParams(
  view: string,
  params: ReadAddress["params"],
  metric: string,
): Record<string, string | null> {
  if (view === "overview") return overviewParams(params.by, metric);
  const same = (SAME[view] ?? []).map((name) => [name, params[name] ?? null]);
  return Object.fromEntries(same);
}

/** Page views are listed as the people who made them. */
const VIEWS_ALONE = hasValue("name", "page_view");

/** The list of the people or visits that the number of a finding counts; null: there is none. */
export function peopleOf(address: string, metric: string): Changes | null {
  const found = destinationOf(address, metric);
  if (found === null) return null;
  const { compare: _, ...where } = found;
  const number = metric === "bounceRate" ? { read: "kpis", place: { count: "bounces" } } : null;
  return {
    ...where,
    view: metric === "sessions" || metric === "bounceRate" ? "visits" : "people",
    filters: metric === "pageviews" ? [...where.filters ?? [], VIEWS_ALONE] : where.filters ?? [],
    params: number === null ? {} : { of: JSON.stringify(number) },
  };
}

/**
 * The state of the dashboard that shows the numbers of a read; null: no view does. A range in instants has no
 * dates: the chosen range stays.
 */
export function destinationOf(address: string, metric: string): Changes | null {
  const { path, params } = readAddress(address);
  const view = VIEWS[path];
  if (view === undefined) return null;
  const query = new URLSearchParams(params);
  const range = readRange(query);
  const filters: readonly Filter[] = readFilters(params.filters ?? null);
  return {
    view,
    ...("from" in range ? { range } : {}),
    compare: readCompare(params.compare ?? "none"),
    segment: readSegment(params.segment ?? null),
    interval: readInterval(params.interval ?? null),
    filters,
    bots: readBots(params.bots ?? null),
    params: viewParams(view, params, metric),
  };
}
