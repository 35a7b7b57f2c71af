import assert from "node:assert/strict";
import fc from "fast-check";
import type { Project } from "../../../src/auth/projects.ts";
import { readOverview } from "../../reference/overview.ts";
import { randomWorld } from "../../reference/random_history.ts";
import { randomImports } from "../../reference/random_imports.ts";
import { randomParams } from "../../reference/random_params.ts";
import type { World } from "../../reference/world.ts";
import { differenceOf } from "../../reads/answers.ts";
import { type Answer, Store } from "../../reads/stored_world.ts";
import { onBothEngines } from "../../support/databases.ts";

/** Lists of some projects each, and what is asked of each. */
const LISTS = { postgres: 6, embedded: 2 } as const;
const PROJECTS = 4;
const QUESTIONS = 4;
const EVENTS_MAX = 60;
/** What a server is asked about may lie before 1970; its present never does. */
const PRESENT_MS_MIN = 86_400_000;
const LOCAL_DATE = /^\d{4}-\d{2}-\d{2}$/;
const SEED = Number(Deno.env.get("OVERVIEW_SEED") ?? Date.now() % 1_000_000_000);

interface Stored {
  readonly project: Project;
  readonly world: World;
}

async function storedWorlds(store: Store, seed: number): Promise<[Stored[], Question[]]> {
  const drawn = fc.sample(randomWorld(EVENTS_MAX), { seed, numRuns: PROJECTS })
    .filter(({ world }) => world.asOfMs >= PRESENT_MS_MIN);
  const stored: Stored[] = [];
  const questions: Question[] = [];
  for (const random of drawn) {
    const [world] = fc.sample(randomImports(random), { seed, numRuns: 1 });
    stored.push({ project: await store.projectOf(world!), world: world! });
    for (const params of fc.sample(randomParams("kpis", random), { seed, numRuns: QUESTIONS })) {
      const { from, to, timezone, interval } = params;
      const areDates = [from, to].every((text) => text === undefined || LOCAL_DATE.test(text));
      questions.push({
        asOfMs: random.world.asOfMs,
        params: {
          ...areDates && from !== undefined ? { from, to } : {},
          ...timezone === undefined ? {} : { timezone },
          ...interval === undefined || interval === "hour" ? {} : { interval },
        },
      });
    }
  }
  return [stored, questions];
}

interface Question {
  readonly asOfMs: number;
  readonly params: Readonly<Record<string, string | undefined>>;
}

onBothEngines(
  "overview: the figures of each project are those of its key figures",
  async (_t, db) => {
    const store = await Store.open(db);
    let compared = 0;
    let told = 0;
    for (let list = 0; list < LISTS[store.engine]; list++) {
      const seed = SEED + list;
      const [stored, questions] = await storedWorlds(store, seed);
      const projects = stored.map(({ project }) => project);
      for (const { asOfMs, params } of questions) {
        const answer = await store.overview(projects, asOfMs, params);
        assert.equal(answer.total, projects.length);
        const rows = new Map((answer.projects as Answer[]).map((row) => [row.id, row]));
        for (const { project, world } of stored) {
          const { id: _, name: __, siteUrl: ___, ...figures } = rows.get(project.id)!;
          const expected = readOverview({ ...world, asOfMs }, params);
          const difference = differenceOf(figures, expected, project.id);
          const asked = `${JSON.stringify(params)} at ${new Date(asOfMs).toISOString()}`;
          assert.equal(difference, null, `seed ${seed}: ${asked}`);
          compared++;
          if ((expected.visitors ?? 0) > 0 || expected.now > 0) told++;
        }
      }
    }
    assert.ok(told > compared / 20, `${told} of ${compared} lists of a project were not empty`);
  },
);
