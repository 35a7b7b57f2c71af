/** A project that was filled a moment ago, and what is asked of it. */
import { CHROME } from "./app.ts";

const HOUR_MS = 3_600_000;
const SPREAD_MS = 14 * 24 * HOUR_MS;
const EVENTS_OF_VISITOR = 5;
const SOURCES = ["", "?utm_source=news&utm_medium=email&utm_campaign=spring", "?gclid=abc"];

/**
 * `count` events as a client sends them, over two weeks: visits of five events, each with a page and
 * a title of its own beside the common ones.
 */
export function freshEvents(count: number, endMs: number): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, i) => {
    const visitor = Math.floor(i / EVENTS_OF_VISITOR);
    const step = i % EVENTS_OF_VISITOR;
    const path = step === 2 ? `/item/${visitor}` : `/page/${(visitor + step) % 20}`;
    const startMs = endMs - HOUR_MS - Math.floor(SPREAD_MS * visitor / count * EVENTS_OF_VISITOR);
    return {
      eventId: crypto.randomUUID(),
      anonymousId: `visitor-${visitor}`,
      ...visitor % 3 === 0 ? { userId: `user-${visitor}` } : {},
      timestamp: startMs + step * 20_000,
      url: `https://shop.example${path}${step === 0 ? SOURCES[visitor % SOURCES.length] : ""}`,
      title: step === 2 ? `Item ${visitor}` : `Page ${(visitor + step) % 20}`,
      referrer: step === 0 && visitor % 2 === 0 ? `https://site${visitor % 40}.example/a` : null,
      context: {
        userAgent: CHROME,
        ip: `8.8.${visitor % 250}.8`,
        viewport: { width: 1440, height: 900 },
      },
      ...WHAT[step]!(visitor * 0.618 % 1, visitor),
    };
  });
}

type What = (chance: number, visitor: number) => Record<string, unknown>;
const LAYOUT = { viewportWidth: 1440, viewportHeight: 900, documentWidth: 1440 };
const click: What = (chance, visitor) => ({
  name: "click",
  properties: {
    ...LAYOUT,
    x: chance,
    y: Math.floor(chance * 3000),
    fixed: false,
    rage: chance > 0.9,
    dead: chance > 0.8,
    selector: `#button-${visitor % 50}`,
    documentHeight: 3000,
  },
});
const WHAT: readonly What[] = [
  () => ({ name: "page_view" }),
  click,
  () => ({ name: "page_view" }),
  (chance) => ({
    name: "scroll",
    properties: { ...LAYOUT, depthPx: Math.floor(chance * 3000), documentHeight: 3000 },
  }),
  (chance, visitor) => ({
    name: "buy",
    properties: { plan: ["free", "team", "business"][visitor % 3], amount: chance * 100 },
  }),
];

type Filter = { readonly field: string; readonly op: string; readonly values: readonly unknown[] };
const filter = (field: string, op: string, ...values: unknown[]): Filter => ({ field, op, values });

/** One filter for each field; of properties those in columns, in facts and in neither. */
export const FILTERS: readonly Filter[] = [
  filter("name", "is_not", "nothing"),
  filter("path", "starts_with", "/page/"),
  filter("host", "is", "shop.example"),
  filter("title", "contains", "Page"),
  filter("referrer", "contains", "site"),
  filter("country", "is", "US"),
  filter("region", "not_exists"),
  filter("city", "is_not", "Berlin"),
  filter("browser", "is", "Chrome", "Firefox"),
  filter("os", "is_not", "Linux"),
  filter("device", "is", "desktop"),
  filter("userId", "starts_with", "user-"),
  filter("anonymousId", "starts_with", "visitor-1"),
  filter("source", "is", "news", "google"),
  filter("medium", "not_exists"),
  filter("campaign", "is", "spring"),
  filter("term", "not_exists"),
  filter("content", "not_exists"),
  filter("channel", "is_not", "Direct"),
  filter("entryPath", "starts_with", "/page/"),
  filter("exitPath", "contains", "1"),
  filter("properties.x", "gte", 0.5),
  filter("properties.selector", "not_exists"),
  filter("properties.documentHeight", "is", 3000),
  filter("properties.plan", "is", "team", "business"),
  filter("properties.amount", "lt", 90),
];

/** All pairs of different filters. */
export const PAIRS: readonly (readonly Filter[])[] = FILTERS.flatMap((one, i) =>
  FILTERS.slice(i + 1).map((other) => [one, other])
);

const steps = JSON.stringify([
  "page_view",
  { name: "click", filters: [filter("properties.x", "gte", 0.1)] },
  "buy",
]);
const matching = JSON.stringify({ name: null, filters: [filter("properties.y", "gt", 10)] });

/** Every report, in its shapes that are evaluated in different ways. */
export const READS: readonly (readonly [path: string, parameters: Record<string, string>])[] = [
  ["kpis", { compare: "previous" }],
  ["acquisition", {}],
  ["acquisition", { by: "entryPath", goal: "buy" }],
  ["pages", {}],
  ["funnels", { steps }],
  ["funnels", { steps, order: "strict", by: "channel" }],
  ["funnels", { steps, order: "unordered", exclude: '["scroll"]' }],
  ["retention", { interval: "day" }],
  ["retention", { interval: "day", start: matching, return: "buy", cohort: "recurring" }],
  ["goals", {}],
  ["trends", {}],
  ["trends", { event: '["click","buy"]', measure: "visitors", by: "channel" }],
  ["trends", { event: matching, measure: "sum:properties.y", by: "title" }],
  ["insights", {}],
  ["heatmaps", { path: "/page/1" }],
  ["heatmaps", { pattern: "/page/*", kind: "scroll" }],
  ["heatmaps/paths", {}],
  ["live", {}],
  ["events", {}],
];
