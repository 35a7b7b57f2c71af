import assert from "node:assert/strict";
import fc from "fast-check";
import type { Project } from "../../src/auth/projects.ts";
import { createScanPool } from "../../src/server/scan_workers.ts";
import { randomWorld } from "../reference/random_history.ts";
import { randomGoals, randomParams, READ_NAMES } from "../reference/random_params.ts";
import { randomSegments } from "../reference/random_segments.ts";
import { onBothEngines } from "../support/databases.ts";
import { Store } from "./stored_world.ts";

const HISTORIES = { postgres: 8, embedded: 2 } as const;
const QUESTIONS_OF_EACH_READ = 2;
const EVENTS_MAX = 90;
const PRESENT_MS_MIN = 86_400_000;
/** So small that every history falls into several tasks. */
const TASK_TIMELINES = 3;

onBothEngines("reads: every answer is the same with 0, 1, 2 and 4 workers", async (_t, db) => {
  const alone = await Store.open(db);
  const bounds = { inPlaceEventsMax: 0, taskTimelinesMax: TASK_TIMELINES };
  const pools = [1, 2, 4].map((workers) => createScanPool(workers, bounds));
  try {
    const stores = pools.map((pool) => alone.with(pool));
    const seed = Date.now() % 1_000_000_000;
    const worlds = fc.sample(randomWorld(EVENTS_MAX), { seed, numRuns: HISTORIES[alone.engine] });
    for (const drawn of worlds) {
      const [world = drawn.world] = fc.sample(randomSegments(drawn), { seed, numRuns: 1 });
      const random = { ...drawn, world };
      const [goals = []] = fc.sample(randomGoals, { seed, numRuns: 1 });
      const project: Project = await alone.projectOf(world, goals);
      for (const read of READ_NAMES) {
        if (read === "live" && world.asOfMs < PRESENT_MS_MIN) continue;
        const asked = fc.sample(randomParams(read, random), {
          seed,
          numRuns: QUESTIONS_OF_EACH_READ,
        });
        for (const params of asked) {
          const expected = await alone.ask(project, world.asOfMs, read, params);
          for (const [i, store] of stores.entries()) {
            const told = `${read}, ${pools[i]!.workers} workers, seed ${seed}`;
            assert.deepEqual(await store.ask(project, world.asOfMs, read, params), expected, told);
          }
        }
      }
    }
    assert.deepEqual(pools.map(({ workers }) => workers), [1, 2, 4]);
  } finally {
    for (const pool of pools) pool.close();
  }
});
