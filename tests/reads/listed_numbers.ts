import assert from "node:assert/strict";
import type { Json } from "../support/app.ts";
import { CHECKOUT_STEPS, DEMO_DAYS, type DemoProject } from "./demo_project.ts";

/** A number that an answer tells, and how `of` names it. */
interface Told {
  readonly list: "visits" | "actors";
  readonly of: Json;
  readonly count: number;
  /** What else the list is asked under; absent: nothing. */
  readonly under?: Json;
}

interface Row {
  readonly value: string | null;
  readonly [count: string]: string | number | null;
}

/** Under these each number is asked for. */
const NARROWED: readonly Json[] = [
  {},
  { filters: [{ field: "device", op: "is", values: ["mobile"] }], bots: "include" },
  { segment: "back-without-buying" },
];
/** Of more numbers some: each is a request. */
const NUMBERS_OF_A_READ = 30;
/** Up to so many rows are counted one by one, too. */
const ROWS_MAX = 60;

async function ofFunnels({ read }: DemoProject, shared: Json): Promise<Told[]> {
  const own = {
    steps: CHECKOUT_STEPS,
    window: "1h",
    exclude: ["sign_up"],
    by: "device",
    order: "unordered",
  };
  const { steps, excluded, open, groups } = await read("funnels", { ...shared, ...own });
  const told = (place: Json, count: number): Told => {
    return { list: "actors", of: { read: "funnels", ...own, place }, count };
  };
  return [
    ...steps.flatMap(({ actors, dropoff }: { actors: number; dropoff: number }, i: number) => [
      told({ step: i + 1 }, actors),
      ...i === 0 ? [] : [told({ lost: i + 1 }, dropoff)],
    ]),
    told({ ended: "excluded" }, excluded),
    told({ ended: "open" }, open),
    ...groups.flatMap(({ value, entered, converted }: Row) => [
      told({ step: 1, value }, Number(entered)),
      told({ step: CHECKOUT_STEPS.length, value }, Number(converted)),
    ]),
  ];
}

async function ofRetention({ read }: DemoProject, shared: Json): Promise<Told[]> {
  const own = { cohort: "recurring", criterion: "on_or_after", interval: "week", periods: 3 };
  const { cohorts } = await read("retention", { ...shared, ...own });
  interface Cohort {
    readonly start: string;
    readonly size: number;
    readonly cells: readonly { readonly period: number; readonly actors: number | null }[];
  }
  const told = (cohort: string, place: Json, count: number): Told => {
    const of = { read: "retention", ...own, place: { cohort, ...place } };
    return { list: "actors", of, count };
  };
  const { interval, ...others } = own;
  // The list's own interval holds where `of` has none.
  const byInterval = (cohort: string, count: number): Told => {
    const of = { read: "retention", ...others, place: { cohort } };
    return { list: "actors", of, count, under: { interval } };
  };
  return cohorts.flatMap(({ start, size, cells }: Cohort) => [
    told(start, {}, size),
    byInterval(start, size),
    ...cells.map(({ period, actors }) => told(start, { period }, actors ?? 0)),
  ]);
}

async function ofJourneys({ read }: DemoProject, shared: Json): Promise<Told[]> {
  const told: Told[] = [];
  for (const scope of ["session", "actor"]) {
    const own = { start: { path: "/" }, by: "both", steps: 4, top: 3, scope, window: "7d" };
    const { nodes, links } = await read("journeys", { ...shared, ...own });
    const list = scope === "actor" ? "actors" : "visits";
    const add = (way: Json[], count: number) =>
      told.push({ list, of: { read: "journeys", ...own, place: { way } }, count });
    for (const { step, kind, value, count } of nodes) add([{ step, kind, value }], count);
    for (const { step, from, fromKind, to, toKind, count } of links) {
      const ends = [{ step, kind: fromKind, value: from }];
      add([...ends, { step: step + 1, kind: toKind, value: to }], count);
    }
  }
  return told;
}

async function ofAcquisition({ read }: DemoProject, shared: Json): Promise<Told[]> {
  const told: Told[] = [];
  for (const by of ["country", "device", "channel", "entryPath"]) {
    const own = { by, goal: "purchase" };
    const { rows } = await read("acquisition", { ...shared, ...own });
    for (const row of rows.slice(0, 4) as Row[]) {
      for (const count of ["visitors", "newVisitors", "sessions", "conversions"]) {
        const of = { read: "acquisition", ...own, place: { value: row.value, count } };
        const list = count === "sessions" ? "visits" : "actors";
        told.push({ list, of, count: Number(row[count]) });
      }
    }
  }
  return told;
}

async function ofKpis({ read }: DemoProject, shared: Json): Promise<Told[]> {
  const { totals } = await read("kpis", shared);
  const of = (count: string) => ({ read: "kpis", place: { count } });
  return [
    { list: "actors", of: of("newVisitors"), count: totals.newVisitors },
    { list: "visits", of: of("bounces"), count: totals.bounceRate.numerator },
  ];
}

interface Clicked {
  readonly visitors: number;
  readonly [member: string]: unknown;
}

async function ofHeatmaps({ read }: DemoProject, shared: Json): Promise<Told[]> {
  const told: Told[] = [];
  for (const kind of ["click", "dead"]) {
    const own = { pattern: "/*", device: "mobile", kind };
    const { points, elements, sample } = await read("heatmaps", { ...shared, ...own, elements: 9 });
    const add = (place: Json, count: number) =>
      told.push({ list: "actors", of: { read: "heatmaps", ...own, place }, count });
    add({ sample: "visitors" }, sample.visitors);
    for (const { x, y, fixed, visitors } of (points as Clicked[]).slice(0, 20)) {
      add({ point: { x, y, fixed } }, visitors);
    }
    for (const { selector, visitors } of elements as Clicked[]) {
      add({ element: selector }, visitors);
    }
  }
  return told;
}

async function assertNumber({ read }: DemoProject, shared: Json, told: Told): Promise<void> {
  const { list, of, count, under = {} } = told;
  const asked = { ...shared, ...under };
  const words = `${JSON.stringify(of)} under ${JSON.stringify(asked)}`;
  const limit = String(count > ROWS_MAX ? 1 : ROWS_MAX);
  const { rows, total, nextCursor } = await read(list, { ...asked, of, limit });
  assert.equal(total, count, words);
  if (count > ROWS_MAX) return;
  assert.equal(rows.length, count, words);
  assert.equal(nextCursor, null);
}

/** Whoever asks who a number counts is listed as many. */
export async function assertListed(demo: DemoProject): Promise<void> {
  const reads = [ofFunnels, ofRetention, ofJourneys, ofAcquisition, ofKpis, ofHeatmaps];
  for (const narrowed of NARROWED) {
    const shared = { ...DEMO_DAYS, ...narrowed };
    for (const numbersOf of reads) {
      const told = await numbersOf(demo, shared);
      assert.ok(told.some(({ count }) => count > 1), numbersOf.name);
      const every = Math.ceil(told.length / NUMBERS_OF_A_READ);
      for (const [i, one] of told.entries()) {
        if (i % every === 0) await assertNumber(demo, shared, one);
      }
    }
  }
}
