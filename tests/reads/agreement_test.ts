import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import fc from "fast-check";
import type { Project } from "../../src/auth/projects.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { instantText, rangeOf } from "../reference/calendar.ts";
import { lookedAt, type ReadParams, within } from "../reference/filters.ts";
import type { GoalDefinition } from "../reference/goals.ts";
import { randomWorld } from "../reference/random_history.ts";
import { randomGoals, randomParams, READ_NAMES } from "../reference/random_params.ts";
import { randomImports } from "../reference/random_imports.ts";
import { randomSegments } from "../reference/random_segments.ts";
import { type ParamsOf, type ReadName, runRead } from "../reference/reads.ts";
import { segmented } from "../reference/segments.ts";
import type { World } from "../reference/world.ts";
import { onBothEngines } from "../support/databases.ts";
import { differenceOf, toldOf } from "./answers.ts";
import { type Arrival, randomArrival, storeAsItArrives } from "./arrival.ts";
import { storyDifference } from "./story_agreement.ts";
import { smallestHistory } from "./smallest_history.ts";
import { type Answer, Store } from "./stored_world.ts";

/**
 * Random histories, stored as they come, and every read of them against the reference. More of them:
 * `deno task test:agreement --runs 1000` (an eighth of them on the embedded engine, where each takes 2.4 times as long). One again: `--seed <its seed> --runs 1`. Some reads alone: `--reads kpis,pages`.
 */
const HISTORIES = { postgres: 40, embedded: 5 } as const;
const QUESTIONS_OF_EACH_READ = 5;
const EVENTS_MAX = 90;
/** PostgreSQL answers while the reference reckons. */
const QUESTIONS_AT_ONCE = { postgres: 3, embedded: 1 } as const;

const { values: given } = parseArgs({
  args: Deno.args,
  options: { runs: { type: "string" }, seed: { type: "string" }, reads: { type: "string" } },
  strict: false,
});
const ASKED: readonly string[] = typeof given.reads === "string"
  ? given.reads.split(",")
  : READ_NAMES;
const SEED = Number(given.seed ?? Date.now() % 1_000_000_000);

interface Question<R extends ReadName = ReadName> {
  readonly read: R;
  readonly params: ParamsOf[R];
  /** Rows of a page, where there are pages. */
  readonly pageRows: number;
}

/** A history and what is asked of it. */
interface Trial {
  readonly seed: number;
  readonly world: World;
  readonly goals: readonly GoalDefinition[];
  readonly arrival: Arrival;
  readonly questions: readonly Question[];
}

/** What a server is asked about may lie before 1970; its present never does. */
const PRESENT_MS_MIN = 86_400_000;
const PAGED: readonly ReadName[] = [
  ...["acquisition", "pages", "visits", "actors", "heatmaps/paths"] as const,
];

function trialOf(seed: number): Trial {
  const draw = <T>(from: fc.Arbitrary<T>, numRuns = 1): T[] => fc.sample(from, { seed, numRuns });
  const [drawn] = draw(randomWorld(EVENTS_MAX));
  const [imported] = draw(randomImports(drawn!));
  const [world] = draw(randomSegments({ ...drawn!, world: imported! }));
  const random = { ...drawn!, world: world! };
  const pageRows = fc.constantFrom(1, 2, 3, 100);
  const asked = READ_NAMES.filter((read) =>
    ASKED.includes(read) && (read !== "live" || random.world.asOfMs >= PRESENT_MS_MIN)
  );
  return {
    seed,
    world: random.world,
    goals: draw(randomGoals)[0]!,
    arrival: draw(randomArrival(random.world))[0]!,
    questions: asked.flatMap((read) =>
      draw(fc.tuple(randomParams(read, random), pageRows), QUESTIONS_OF_EACH_READ)
        .map(([params, pageRows]) => ({ read, params, pageRows }))
    ),
  };
}

/** The answer with the rows of all pages. */
async function askAll(
  store: Store,
  project: Project,
  asOfMs: number,
  { read, params, pageRows }: Question,
): Promise<Answer> {
  if (!PAGED.includes(read)) return await store.ask(project, asOfMs, read, params);
  const rows: unknown[] = [];
  let cursor: string | null = null;
  let answer: Answer;
  do {
    const page = { limit: pageRows, ...cursor === null ? {} : { cursor } };
    answer = await store.ask(project, asOfMs, read, { ...params, ...page });
    rows.push(...answer.rows as unknown[]);
    cursor = answer.nextCursor as string | null;
  } while (cursor !== null);
  return { ...answer, rows };
}

/** Pages of events are longer than those of rows. */
const EVENTS_OF_A_ROW = 7;

/** The ids of the selected events, as `GET /v1/events` lists them: technical ones too. */
function newestFirst(
  all: World,
  asked: ReadParams,
  goals: readonly GoalDefinition[],
): string[] {
  const range = rangeOf(all, asked);
  const { world, params } = segmented(all, asked, asked.segment, range, goals);
  return lookedAt(world, params).filter(within(range))
    .map(({ row }) => row.event_id).toReversed();
}

/** Where the server's answer is not the reference's; null where it is. */
async function disagreement(
  store: Store,
  project: Project,
  { world, goals }: Pick<Trial, "world" | "goals">,
  question: Question,
): Promise<string | null> {
  const { read, params, pageRows } = question;
  let answer: Answer;
  let eventIds: string[] = [];
  try {
    answer = await askAll(store, project, world.asOfMs, question);
    if (read === "kpis") {
      const page = { ...params, limit: pageRows * EVENTS_OF_A_ROW };
      eventIds = await store.eventIds(project, world.asOfMs, page);
    }
  } catch (error) {
    return `threw ${error}`;
  }
  const expected = runRead(world, read, params, goals);
  const difference = differenceOf(toldOf(read, answer), expected) ??
    (read === "kpis" ? differenceOf(eventIds, newestFirst(world, params, goals), "events") : null);
  if (difference !== null || read === "live" || read === "retention") return difference;
  if (read === "visits" || read === "actors") {
    const rows = answer.rows as Answer[];
    const told = await storyDifference(store, project, { world, goals }, question, rows);
    if (told !== null) return told;
  }
  const { fromMs, toMs } = rangeOf(world, params);
  const { from, to } = answer.query as Answer;
  return differenceOf({ from, to }, { from: instantText(fromMs), to: instantText(toMs) }, "query");
}

function lineOf(row: EventRow): string {
  const said = Object.entries(row).filter(([name, value]) =>
    value !== null && !["project_id", "received_at", "clock"].includes(name)
  );
  return JSON.stringify(Object.fromEntries(said));
}

/** The same question of the fewest events that show the disagreement. */
async function explained(
  store: Store,
  { seed, world, goals }: Trial,
  question: Question,
  difference: string,
): Promise<string> {
  const differenceIn = async (events: readonly EventRow[]) => {
    const part = { world: { ...world, events }, goals };
    const project = await store.projectOf(part.world, goals);
    return await disagreement(store, project, part, question);
  };
  const fails = async (events: readonly EventRow[]) => await differenceIn(events) !== null;
  const atOnce = await fails(world.events);
  const events = atOnce ? await smallestHistory(world.events, fails) : [];
  return [
    `seed ${seed}: ${question.read} ${JSON.stringify(question.params)}`,
    `goals ${JSON.stringify(goals)}`,
    `segments ${JSON.stringify(world.segments)}`,
    `project ${JSON.stringify(world.project)}, asked at ${instantText(world.asOfMs)}`,
    difference,
    ...atOnce
      ? [`Of these events alone: ${await differenceIn(events)}`, ...events.map(lineOf)]
      : ["Only as the events arrived, not when they are stored at once."],
  ].join("\n");
}

async function assertAgreement(store: Store, trial: Trial): Promise<void> {
  const { world, goals, arrival, questions } = trial;
  const project = await storeAsItArrives(store, world, arrival);
  await store.importDays(project, world);
  await store.saveGoals(project, goals);
  await store.saveSegments(project, world);
  const waiting = questions.values();
  const found: [Question, string][] = [];
  const answerSome = async () => {
    for (const question of waiting) {
      const difference = await disagreement(store, project, trial, question);
      if (difference !== null) found.push([question, difference]);
    }
  };
  const atOnce = QUESTIONS_AT_ONCE[store.engine];
  await Promise.all(Array.from({ length: atOnce }, answerSome));
  if (found.length === 0) return;
  const [question, difference] = found[0]!;
  assert.fail(await explained(store, trial, question, difference));
}

onBothEngines("reads: every answer is the reference's, however events arrive", async (_t, db) => {
  const store = await Store.open(db);
  const share = HISTORIES[store.engine] / HISTORIES.postgres;
  const runs = given.runs === undefined
    ? HISTORIES[store.engine]
    : Math.ceil(Number(given.runs) * share);
  for (let run = 0; run < runs; run++) await assertAgreement(store, trialOf(SEED + run));
});
