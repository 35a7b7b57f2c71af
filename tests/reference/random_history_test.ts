import assert from "node:assert/strict";
import fc from "fast-check";
import { readAcquisition } from "./acquisition.ts";
import type { ReadParams } from "./filters.ts";
import { type FunnelParams, type FunnelResult, readFunnel } from "./funnel.ts";
import { readGoals } from "./goals.ts";
import { readHeatmap } from "./heatmap.ts";
import { readKpis } from "./kpis.ts";
import { randomWorld } from "./random_history.ts";
import { randomRead, READ_NAMES } from "./random_params.ts";
import { runRead } from "./reads.ts";
import { readRetention } from "./retention.ts";
import { sum } from "./statistics.ts";
import { historyOf, type World } from "./world.ts";

/** The same seed every time: a coverage that was there once is there always. */
const SEED = 20_260_329;
const EVENTS = 300;

/** Turning a history round takes few tries; each is a history of its own. */
const RUNS = 40;

const EVERYTHING: ReadParams = {
  from: "1968-01-01",
  to: "2027-12-31",
  interval: "month",
  bots: "include",
};

for (const read of READ_NAMES) {
  Deno.test(`reference ${read}: the order in which events arrive says nothing`, () => {
    fc.assert(
      fc.property(randomRead(read), ({ world, params, goals }) => {
        const turned: World = { ...world, events: world.events.toReversed() };
        assert.deepEqual(
          runRead(turned, read, params, goals),
          runRead(world, read, params, goals),
        );
      }),
      { numRuns: RUNS },
    );
  });
}

Deno.test("reference: converters of a goal, entrants of a funnel and visitors are the same", () => {
  fc.assert(fc.property(randomRead("kpis"), ({ world, params: { compare: _, ...params } }) => {
    const step = { name: "buy" };
    const isBuy = { field: "name", op: "is", values: ["buy"] } as const;
    const kpis = readKpis(world, { ...params, filters: [...params.filters ?? [], isBuy] });
    const { goals } = readGoals(world, params, [{ slug: "buy", title: "Buy", match: step }]);
    const funnel = readFunnel(world, { ...params, steps: [step] });
    assert.equal(goals[0]!.uniqueConversions, kpis.totals.visitors);
    assert.equal(goals[0]!.totalConversions, kpis.totals.events);
    assert.equal(funnel.entered, kpis.totals.visitors);
    assert.equal(funnel.converted, kpis.totals.visitors);
  }));
});

Deno.test("reference: buckets and rows add up to the totals", () => {
  fc.assert(fc.property(randomRead("kpis"), ({ world, params }) => {
    const { totals, series } = readKpis(world, params);
    for (const member of ["events", "pageviews", "sessions"] as const) {
      assert.equal(sum(series.map((bucket) => bucket[member]!)), totals[member], member);
    }
    const { compare: _, interval: __, ...shared } = params;
    const { rows, total } = readAcquisition(world, shared);
    assert.equal(total.sessions, totals.sessions);
    assert.equal(sum(rows.map(({ sessions }) => sessions!)), totals.sessions);
    assert.equal(total.bounceRate.numerator, totals.bounceRate.numerator);
  }));
});

Deno.test("reference: period 0 of the same start and return is the whole cohort", () => {
  fc.assert(fc.property(randomRead("retention"), ({ world, params }) => {
    const { start: _, return: __, ...rest } = params;
    const { cohorts } = readRetention(world, rest);
    for (const { size, cells } of cohorts) {
      if (cells[0]!.actors !== null) assert.equal(cells[0]!.actors, size);
      for (const { actors, rate } of cells) assert.equal(rate.numerator, actors ?? 0);
    }
  }));
});

Deno.test("reference: no step of a funnel has more actors than the one before", () => {
  fc.assert(fc.property(randomRead("funnels"), ({ world, params }) => {
    const { steps, entered, converted, excluded, open, groups = [] } = readFunnel(world, params);
    assert.equal(steps[0]!.actors, entered);
    assert.equal(steps.at(-1)!.actors, converted);
    assert.equal(sum(steps.map(({ dropoff }) => dropoff)), entered - converted);
    assert.ok(steps.every(({ dropoff }) => dropoff >= 0));
    assert.ok(converted + excluded + open <= entered);
    if (params.by !== undefined) assert.equal(sum(groups.map((group) => group.entered)), entered);
  }));
});

Deno.test("reference: points of a heatmap add up to its clicks that have a position", () => {
  fc.assert(fc.property(randomRead("heatmaps"), ({ world, params }) => {
    const { points, sample } = readHeatmap(world, { ...params, kind: "click" });
    const { points: rage } = readHeatmap(world, { ...params, kind: "rage" });
    const clicks = sum(points.map(({ count }) => count));
    assert.ok(clicks <= sample.clicks);
    assert.ok(sum(rage.map(({ count }) => count)) <= clicks);
  }));
});

/** Counts of what random histories must bring about, or they test nothing. */
function countEncounters(worlds: readonly World[]) {
  const found = { exact: 0, second: 0, millisecond: 0, ties: 0, joined: 0, shared: 0, bots: 0 };
  for (const world of worlds) {
    const { facts } = historyOf(world);
    const lastMs = new Map<string, number>();
    const users = new Map<string, Set<string>>();
    for (const { actor, atMs, row, user } of facts) {
      const gapMs = atMs - (lastMs.get(actor) ?? NaN);
      if (gapMs === 1_800_000) found.exact++;
      if (gapMs === 1_801_000) found.second++;
      if (gapMs === 1_800_001) found.millisecond++;
      if (gapMs === 0) found.ties++;
      if (row.user_id === null && user !== null) found.joined++;
      if (row.user_id !== null && row.anonymous_id !== null) {
        const seen = users.get(row.anonymous_id) ?? new Set();
        users.set(row.anonymous_id, seen.add(row.user_id));
        if (seen.size === 2) found.shared++;
      }
      if (row.bot) found.bots++;
      lastMs.set(actor, atMs);
    }
  }
  return found;
}

function assertAllMet(found: Readonly<Record<string, number>>): void {
  for (const [what, count] of Object.entries(found)) assert.ok(count >= 3, `${what}: ${count}`);
}

Deno.test("random histories hold what the definitions are careful about", () => {
  const worlds = fc.sample(randomWorld(), { numRuns: 200, seed: SEED }).map(({ world }) => world);
  assertAllMet(countEncounters(worlds));
});

Deno.test("random funnels convert, die, stay open, and differ by order and entry", () => {
  const met = {
    converted: 0,
    excluded: 0,
    open: 0,
    groups: 0,
    strictDiffers: 0,
    unorderedDiffers: 0,
    firstDiffers: 0,
  };
  for (const { world, params } of fc.sample(randomRead("funnels"), { numRuns: 500, seed: SEED })) {
    const result = readFunnel(world, params);
    if (params.steps.length > 1) met.converted += result.converted;
    met.excluded += result.excluded;
    met.open += result.open;
    if ((result.groups ?? []).length > 1) met.groups++;
    const base: FunnelParams = { ...params, order: "ordered", entry: "any" };
    const ordered = readFunnel(world, base);
    const differs = (other: Partial<FunnelParams>) => {
      const { steps }: FunnelResult = readFunnel(world, { ...base, ...other });
      return JSON.stringify(steps) === JSON.stringify(ordered.steps) ? 0 : 1;
    };
    met.strictDiffers += differs({ order: "strict" });
    met.unorderedDiffers += differs({ order: "unordered" });
    met.firstDiffers += differs({ entry: "first" });
  }
  assertAllMet(met);
});

/**
 * Of 100 answers; few are possible where a read looks at minutes or at one page alone, and of small
 * histories half have no way from a given start, or to a given end, in the range; a segment, where one
 * is asked for, leaves fewer still.
 */
const DISTINCT_MIN: Readonly<Record<string, number>> = {
  live: 4,
  heatmaps: 6,
  "heatmaps/paths": 35,
  journeys: 20,
  visits: 25,
  // Often of whom a point of a heat map counts, or a page of the last minutes.
  actors: 40,
};

Deno.test("random reads mostly have something to say", () => {
  const few: string[] = [];
  for (const read of READ_NAMES) {
    const runs = fc.sample(randomRead(read), { numRuns: 100, seed: SEED });
    const answers = runs.map(({ world, params, goals }) =>
      JSON.stringify(runRead(world, read, params, goals))
    );
    const distinct = new Set(answers).size;
    if (distinct <= (DISTINCT_MIN[read] ?? 50)) few.push(`${read}: ${distinct} of 100`);
  }
  assert.deepEqual(few, [], "answers that are distinct");
});

Deno.test(`reference: a read of ${EVENTS} events takes milliseconds`, () => {
  const runs = READ_NAMES.flatMap((read) =>
    fc.sample(randomRead(read, EVENTS), { numRuns: 10, seed: SEED }).map((run) => ({ read, run }))
  );
  for (const { read, run } of runs) {
    const startMs = performance.now();
    runRead(run.world, read, run.params, run.goals);
    const tookMs = performance.now() - startMs;
    assert.ok(tookMs < 20_000, `${read}: ${tookMs} ms`);
  }
});

Deno.test("reference: nothing is lost in a range that holds everything, bots included", () => {
  fc.assert(
    fc.property(randomWorld(), ({ world }) => {
      const { sessions } = historyOf(world);
      const counted = world.events.filter(({ name }) => !name.startsWith("$"));
      assert.equal(readKpis(world, EVERYTHING).totals.events, counted.length);
      assert.equal(readKpis(world, EVERYTHING).totals.sessions, sessions.length);
      assert.equal(readAcquisition(world, EVERYTHING).total.sessions, sessions.length);
      assert.equal(
        sum(sessions.map(({ facts }) => facts.length)),
        world.events.filter((row) => row.in_session).length,
      );
    }),
    { numRuns: RUNS },
  );
});
