import type { Json } from "../support/app.ts";
import { CHECKOUT_STEPS, DEMO_DAYS } from "./demo_project.ts";

/** One read whose reply is kept. */
export interface SnapshotRead {
  /** Name of its file. */
  readonly name: string;
  /** What follows `/v1/`. */
  readonly path: string;
  readonly query: Json;
}

const LAST_WEEK = { from: "2026-06-08", to: "2026-06-14" };
const DEVICE_IS = (device: string) => [{ field: "device", op: "is", values: [device] }];
const CHANNEL_IS = (channel: string) => [{ field: "channel", op: "is", values: [channel] }];
const ON_OFFER = [{ field: "properties.value", op: "gte", values: [40] }];

/** A read of all three weeks, unless its query says otherwise. */
function read(name: string, path: string, query: Json = {}): SnapshotRead {
  return { name, path, query: { ...DEMO_DAYS, ...query } };
}

/** Every read that is answered from stored events, in its variants. */
export const SNAPSHOT_READS: readonly SnapshotRead[] = [
  read("kpis_daily", "kpis"),
  read("kpis_hourly", "kpis", { from: "2026-06-11", to: "2026-06-11" }),
  read("kpis_compared", "kpis", { ...LAST_WEEK, compare: "previous" }),
  read("kpis_of_a_channel", "kpis", { interval: "week", filters: CHANNEL_IS("Paid Search") }),
  read("kpis_of_bots", "kpis", { interval: "month", bots: "only" }),

  read("kpis_of_a_segment", "kpis", { interval: "week", segment: "back-without-buying" }),
  read("goals_against_a_segment", "goals", {
    interval: "month",
    compare: "segment:back-without-buying",
  }),
  read("funnel_compared", "funnels", {
    ...LAST_WEEK,
    steps: CHECKOUT_STEPS,
    compare: "previous",
    segment: "back-without-buying",
  }),

  read("segments", "segments"),
  { name: "segment", path: "segments/back-without-buying", query: {} },

  read("overview", "overview", { interval: "week" }),

  read("acquisition_by_channel", "acquisition", { goal: "purchase" }),
  read("acquisition_by_source", "acquisition", { by: "source", limit: 6 }),
  read("acquisition_by_campaign", "acquisition", { by: "campaign", goal: "mobile-account" }),
  read("acquisition_by_referrer", "acquisition", { by: "referrer", ...LAST_WEEK }),
  read("acquisition_by_entry_path", "acquisition", { by: "entryPath", limit: 8 }),
  read("acquisition_by_country", "acquisition", { by: "country", filters: DEVICE_IS("mobile") }),
  read("acquisition_by_device", "acquisition", { by: "device", bots: "include" }),

  read("pages", "pages", { limit: 12 }),
  read("pages_of_mobile", "pages", { filters: DEVICE_IS("mobile"), limit: 5 }),

  read("funnel_ordered", "funnels", { steps: CHECKOUT_STEPS, by: "channel" }),
  read("funnel_strict", "funnels", { steps: CHECKOUT_STEPS.slice(0, 2), order: "strict" }),
  read("funnel_unordered", "funnels", {
    steps: [{ name: "search" }, { name: "sign_up" }, { name: "add_to_cart" }],
    order: "unordered",
    window: "14d",
    by: "device",
  }),
  read("funnel_first_entry", "funnels", {
    steps: [{ name: "page_view" }, { name: "purchase", filters: ON_OFFER, label: "40 € and more" }],
    entry: "first",
    window: "12h",
  }),
  read("funnel_excluding", "funnels", { steps: CHECKOUT_STEPS, exclude: [{ name: "search" }] }),
  read("funnels_saved", "funnels"),
  read("funnel_saved", "funnels/checkout"),

  read("retention_weekly", "retention", { interval: "week", periods: 3 }),
  read("retention_daily", "retention", {
    from: "2026-06-01",
    to: "2026-06-07",
    start: "view_product",
    return: { name: "purchase" },
    cohort: "recurring",
    criterion: "on_or_after",
    periods: 5,
  }),

  read("goals", "goals", { interval: "week" }),
  read("goals_of_a_channel", "goals", { interval: "month", filters: CHANNEL_IS("Direct") }),

  read("trend_of_purchases", "trends", { event: "purchase" }),
  read("trend_of_revenue", "trends", {
    event: "purchase",
    measure: "sum:properties.value",
    by: "channel",
    interval: "week",
  }),
  read("trend_of_visitors", "trends", {
    event: ["view_product", { name: "search", label: "Searches" }],
    measure: "visitors",
    interval: "week",
  }),
  read("trend_of_repetition", "trends", {
    event: "page_view",
    measure: "perVisitor",
    by: "device",
    interval: "month",
  }),
  read("trend_of_prices", "trends", {
    event: "view_product",
    measure: "p50:properties.price",
    by: "properties.category",
    interval: "week",
  }),

  read("journeys", "journeys", { steps: 4, top: 4 }),
  read("journeys_back_from_a_purchase", "journeys", {
    end: "purchase",
    by: "both",
    top: 3,
    steps: 4,
  }),
  read("journeys_between", "journeys", {
    start: { path: "/" },
    end: "purchase",
    scope: "actor",
    window: "7d",
    top: 3,
  }),

  read("visits", "visits", { limit: 4 }),
  read("visits_that_reached_a_goal", "visits", { goal: "purchase", limit: 2 }),
  read("visit", "visits/AAABnsAxcxABnsAxcxB0q65fWgck34Le", { limit: 8 }),
  read("people", "actors", { limit: 4 }),
  read("people_of_a_channel", "actors", { filters: CHANNEL_IS("Email"), limit: 2 }),
  read("people_lost_in_a_funnel", "actors", {
    of: { read: "funnels", steps: CHECKOUT_STEPS, window: "1h", place: { lost: 3 } },
    limit: 2,
  }),
  read("visits_on_a_way", "visits", {
    of: {
      read: "journeys",
      place: { way: [{ step: 1, kind: "path", value: "/" }, { step: 2, kind: "end" }] },
    },
    limit: 2,
  }),
  read("people_who_clicked_an_element", "actors", {
    of: { read: "heatmaps", path: "/", device: "mobile", place: { element: "#hero a.button" } },
    limit: 2,
  }),
  read("visits_that_bounced", "visits", {
    of: { read: "kpis", place: { count: "bounces" } },
    filters: CHANNEL_IS("Email"),
    limit: 2,
  }),
  read("person", "actors/user-c98f3caeac00/timeline", { limit: 6 }),
  read("vitals", "vitals", { interval: "week" }),
  read("vitals_by_device", "vitals", {
    ...LAST_WEEK,
    by: "device",
    filters: [{ field: "path", op: "is", values: ["/"] }],
  }),

  read("insights", "insights", { from: "2026-06-11", to: "2026-06-13", limit: 5 }),

  read("heatmap_of_clicks", "heatmaps", { path: "/", device: "mobile" }),
  read("heatmap_of_rage", "heatmaps", { pattern: "/*", kind: "rage" }),
  read("heatmap_of_dead", "heatmaps", { pattern: "/products/*", kind: "dead" }),
  read("heatmap_of_scrolls", "heatmaps", { path: "/", kind: "scroll" }),
  read("heatmap_paths", "heatmaps/paths", { limit: 5 }),

  read("events", "events", { limit: 6 }),
  read("events_of_purchases", "events", {
    filters: [{ field: "name", op: "is", values: ["purchase"] }],
    limit: 3,
  }),
  read("events_of_bots", "events", { bots: "only", limit: 2 }),
];
