import assert from "node:assert/strict";
import { INSIGHT_CAUSES_MAX } from "../../../src/limits.ts";
import { type Dimension, sliceKey } from "../../../src/reports/insights/insight_candidates.ts";
import type { Cause } from "../../../src/reports/insights/insight_causes.ts";
import type { Finding, Metric } from "../../../src/reports/insights/insight_findings.ts";
import { figuresOfNothing, foundCauses } from "../../reference/found_causes.ts";
import type { JointCells } from "../../../src/reports/insights/insight_change.ts";

/** Visits that have these values: before, and now; and how many of them bounced. */
interface Group {
  readonly of: Partial<Record<Dimension, string>>;
  readonly before: number;
  readonly now: number;
  readonly bounces?: readonly [number, number];
  /** Events before and now, where there are more than one a visit. */
  readonly events?: readonly [number, number];
}

type Named = readonly [Metric, Dimension | null, string?];

const nameOf = ({ metric, dimension, value }: Finding) =>
  dimension === null ? `${metric}` : `${metric} ${dimension} ${value}`;

/** Returns the names of the findings, each with the names of its evidence. */
function told(causes: readonly Cause[]): Record<string, string[]> {
  return Object.fromEntries(
    causes.map(({ finding, evidence }) => [nameOf(finding), evidence.map(nameOf).sort()]),
  );
}

/** Cells of these groups, one view and one visit of one visitor each; and findings of them. */
function causesOf(groups: readonly Group[], named: readonly Named[]): Record<string, string[]> {
  const figures = figuresOfNothing(groups.length);
  for (const [cell, { before, now, bounces = [0, 0] }] of groups.entries()) {
    for (const figure of ["visitors", "sessions", "pageviews", "events"] as const) {
      figures[figure].now[cell] = now;
      figures[figure].before[cell] = before;
    }
    [figures.bounces.before[cell], figures.bounces.now[cell]] = bounces;
    const { events = [before, now] } = groups[cell]!;
    [figures.events.before[cell], figures.events.now[cell]] = events;
  }
  const isIn = ({ of }: Group, dimension: Dimension | null, value: string | null) =>
    dimension === null || of[dimension] === value;
  const holds = new Map(named.map(([, dimension, value = null]) => [
    sliceKey({ dimension, value }),
    Uint8Array.from(groups, (group) => Number(isIn(group, dimension, value))),
  ]));
  const findings = named.map(([metric, dimension, value = null]): Finding => {
    const own = groups.filter((group) => isIn(group, dimension, value));
    const sum = (count: (group: Group) => number) => own.reduce((n, group) => n + count(group), 0);
    const eventsOf = (at: 0 | 1) =>
      sum(({ events, ...one }) => events?.[at] ?? [one.before, one.now][at]!);
    const [before, now] = metric === "events"
      ? [eventsOf(0), eventsOf(1)]
      : [sum((group) => group.before), sum((group) => group.now)];
    const isRate = metric === "bounceRate";
    const rateOf = (at: 0 | 1, of: number) => sum(({ bounces }) => bounces?.[at] ?? 0) / of;
    const [previous, current] = isRate ? [rateOf(0, before), rateOf(1, now)] : [before, now];
    return {
      kind: dimension === null ? "total_change" : "value_change",
      metric,
      goal: null,
      dimension,
      value,
      current,
      previous,
      change: null,
      weekdays: { current, expected: previous, change: null },
      contribution: null,
      explains: false,
      pValue: 0,
      adjustedPValue: 0,
      score: Math.abs(now - before),
      dispersion: { factor: 1, degreesOfFreedom: 21 },
      clusters: 1,
      excessOfDays: [],
    };
  });
  const cells: JointCells = {
    count: groups.length,
    holds,
    matches: new Map([[null, figures]]),
  };
  return told(foundCauses(findings, cells, 100));
}

const V = "visitors" as const;

Deno.test("causes: a link from another site is named by its source, whatever else it moved", () => {
  const groups: Group[] = [
    {
      of: { source: "hn", channel: "Referral", entryPath: "/post", country: "US" },
      before: 0,
      now: 400,
    },
    {
      of: { source: "hn", channel: "Referral", entryPath: "/post", country: "DE" },
      before: 0,
      now: 100,
    },
    {
      of: { source: "blog", channel: "Referral", entryPath: "/", country: "DE" },
      before: 90,
      now: 95,
    },
    { of: { channel: "Direct", entryPath: "/", country: "DE" }, before: 500, now: 510 },
    { of: { channel: "Direct", entryPath: "/", country: "US" }, before: 300, now: 290 },
    { of: { channel: "Direct", entryPath: "/post", country: "US" }, before: 5, now: 8 },
  ];
  assert.deepEqual(
    causesOf(groups, [
      [V, null],
      [V, "channel", "Referral"],
      [V, "entryPath", "/post"],
      [V, "country", "US"],
      ["sessions", "source", "hn"],
      [V, "source", "hn"],
      ["pageviews", null],
    ]),
    {
      "visitors source hn": [
        "pageviews",
        "sessions source hn",
        "visitors",
        "visitors channel Referral",
        "visitors country US",
        "visitors entryPath /post",
      ],
    },
  );
});

Deno.test("causes: everything rose, and so did its parts", () => {
  const groups = (["DE", "US", "FR"] as const).flatMap((country, i): Group[] =>
    (["desktop", "mobile"] as const).map((device, j) => {
      const before = [700, 200, 100][i]! * [3, 2][j]!;
      // The groups moved not quite alike.
      return { of: { country, device }, before, now: Math.round(before * (1.44 + 0.01 * (i + j))) };
    })
  );
  assert.deepEqual(
    causesOf(groups, [
      [V, "country", "DE"],
      [V, "country", "US"],
      [V, "country", "FR"],
      [V, "device", "desktop"],
      [V, "device", "mobile"],
      [V, null],
      ["sessions", null],
    ]),
    {
      "visitors": [
        "sessions",
        "visitors country DE",
        "visitors country FR",
        "visitors country US",
        "visitors device desktop",
        "visitors device mobile",
      ],
    },
  );
});

Deno.test("causes: what exceeds a general rise is a cause of its own", () => {
  const groups: Group[] = [
    { of: { source: "hn", country: "US" }, before: 0, now: 200 },
    { of: { country: "US" }, before: 500, now: 750 },
    { of: { country: "DE" }, before: 500, now: 740 },
  ];
  assert.deepEqual(
    causesOf(groups, [[V, "source", "hn"], [V, "country", "US"], [V, "country", "DE"], [V, null]]),
    { "visitors": ["visitors country DE", "visitors country US"], "visitors source hn": [] },
  );
});

Deno.test("causes: a total that two causes explain is evidence of the larger", () => {
  const groups: Group[] = [
    { of: { source: "news", device: "desktop" }, before: 60, now: 180 },
    { of: { source: "news", device: "mobile" }, before: 40, now: 120 },
    { of: { country: "BR", device: "desktop" }, before: 30, now: 90 },
    { of: { country: "BR", device: "mobile" }, before: 30, now: 90 },
    { of: { device: "desktop" }, before: 500, now: 505 },
    { of: { device: "mobile" }, before: 340, now: 335 },
  ];
  assert.deepEqual(
    causesOf(groups, [
      [V, null],
      [V, "device", "desktop"],
      [V, "device", "mobile"],
      [V, "source", "news"],
      [V, "country", "BR"],
    ]),
    {
      "visitors source news": ["visitors", "visitors device desktop", "visitors device mobile"],
      "visitors country BR": [],
    },
  );
});

Deno.test("causes: several sources of a channel are causes, and the channel is not", () => {
  const groups: Group[] = [
    ...["a", "b", "c"].map((source): Group => ({
      of: { source, channel: "Referral" },
      before: 0,
      now: 60,
    })),
    { of: { source: "old", channel: "Referral" }, before: 300, now: 300 },
    { of: { channel: "Direct" }, before: 600, now: 600 },
  ];
  const named = ["a", "b", "c"].map((source): Named => [V, "source", source]);
  assert.deepEqual(
    Object.keys(causesOf(groups, [[V, "channel", "Referral"], ...named, [V, null]])).sort(),
    ["visitors source a", "visitors source b", "visitors source c"],
  );
  // All sources of the channel moved alike, so the channel is the cause.
  const alike = ["a", "b", "c"].map((source): Group => ({
    of: { source, channel: "Referral" },
    before: 50,
    now: 100,
  }));
  assert.deepEqual(
    causesOf([...alike, groups.at(-1)!], [[V, "channel", "Referral"], ...named]),
    { "visitors channel Referral": named.map(([, , source]) => `visitors source ${source}`) },
  );
});

Deno.test("causes: a narrow one of many events owns its cells beside a broad one of visitors", () => {
  const groups: Group[] = [
    {
      of: { source: "hn", channel: "Referral", country: "US" },
      before: 100,
      now: 140,
      events: [200, 5_600],
    },
    { of: { source: "blog", channel: "Referral" }, before: 300, now: 420, events: [300, 420] },
    { of: { channel: "Direct", country: "US" }, before: 900, now: 900, events: [8_000, 8_000] },
    { of: { channel: "Direct" }, before: 900, now: 900, events: [8_000, 8_000] },
  ];
  assert.deepEqual(
    causesOf(groups, [
      [V, "channel", "Referral"],
      ["events", "source", "hn"],
      ["events", "country", "US"],
    ]),
    { "events source hn": ["events country US"], "visitors channel Referral": [] },
  );
});

Deno.test("causes: what fell is not evidence of what rose", () => {
  const groups: Group[] = [
    { of: { source: "news", device: "desktop" }, before: 100, now: 250 },
    { of: { source: "shop", device: "desktop" }, before: 200, now: 100 },
    { of: { device: "desktop" }, before: 600, now: 600 },
  ];
  assert.deepEqual(
    causesOf(groups, [[V, "source", "news"], [V, "source", "shop"]]),
    { "visitors source news": [], "visitors source shop": [] },
  );
});

Deno.test("causes: more who came once move the bounce rate; a rate that moved everywhere is one of its own", () => {
  const b = "bounceRate" as const;
  const post: Group[] = [
    { of: { source: "hn" }, before: 0, now: 500, bounces: [0, 450] },
    { of: { device: "mobile" }, before: 500, now: 500, bounces: [200, 205] },
    { of: { device: "desktop" }, before: 500, now: 505, bounces: [200, 200] },
  ];
  assert.deepEqual(
    causesOf(post, [[V, "source", "hn"], [V, null], [b, null]]),
    { "visitors source hn": ["bounceRate", "visitors"] },
  );
  const broken: Group[] = [
    { of: { device: "mobile" }, before: 500, now: 750, bounces: [200, 600] },
    { of: { device: "desktop" }, before: 500, now: 745, bounces: [200, 590] },
  ];
  assert.deepEqual(
    causesOf(broken, [[V, null], [V, "device", "mobile"], [b, null], [b, "device", "mobile"]]),
    {
      "visitors": ["visitors device mobile"],
      "bounceRate": ["bounceRate device mobile"],
    },
  );
});

Deno.test("causes: of no finding, of one, and of more than are searched", () => {
  assert.deepEqual(causesOf([], []), {});
  const groups = Array.from({ length: INSIGHT_CAUSES_MAX + 1 }, (_, i): Group => ({
    of: { source: `s${String(i).padStart(2, "0")}` },
    before: 0,
    now: 100 + i,
  }));
  const named = groups.map(({ of }): Named => [V, "source", of.source!]);
  const rest: Group = { of: {}, before: 5_000, now: 5_000 };
  const one = causesOf([groups[0]!, rest], named.slice(0, 1));
  assert.deepEqual(one, { "visitors source s00": [] });
  const most = causesOf([...groups.slice(1), rest], named.slice(1));
  assert.equal(Object.keys(most).length, INSIGHT_CAUSES_MAX);
  const more = causesOf([...groups, rest], named);
  assert.equal(Object.keys(more).length, INSIGHT_CAUSES_MAX);
  assert.ok(!("visitors source s00" in more), "the weakest is not told");
});
