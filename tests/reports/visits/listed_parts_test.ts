import fc from "fast-check";
import assert from "node:assert/strict";
import { type Filter, SESSION_FIELDS } from "../../../src/query/filters.ts";
import type { RowCursor } from "../../../src/query/row_cursor.ts";
import type { BotChoice, Span } from "../../../src/query/selection.ts";
import { listPeople } from "../../../src/reports/visits/people.ts";
import { listVisits } from "../../../src/reports/visits/visit_list.ts";
import type { VisitPlace } from "../../../src/reports/visits/visit_id.ts";
import type { ScanSource } from "../../../src/scans/read.ts";
import { onBothEngines } from "../../support/databases.ts";
import { casesOn } from "../../support/engine_cases.ts";
import { timelinesOf } from "../../support/read_timelines.ts";
import {
  EVER,
  openWithHistory,
  randomFilter,
  randomHistory,
  TOLD_FIELDS,
  WORLD_DAYS,
  WORLD_FROM_MS,
} from "../session_world.ts";

type Parted = ScanSource & { readonly firstEvents: number };

/** Returns the entries of all pages of visits. */
async function allVisits(source: Parted, span: Span, rows: number): Promise<string[]> {
  const listed: string[] = [];
  for (let after: VisitPlace | null = null;;) {
    const page = await listVisits(source, { span, actorId: null, goal: null, after, rows });
    listed.push(...page.map(({ entry_id }) => entry_id));
    const last = page.at(-1);
    if (last === undefined || page.length < rows) return listed;
    after = { ms: last.first_ms, entryId: last.entry_id };
  }
}

/** Returns the people of all pages, with when they were seen last. */
async function allPeople(source: Parted, span: Span, rows: number): Promise<string[]> {
  const listed: string[] = [];
  for (let cursor: RowCursor | null = null;;) {
    const page = await listPeople(source, span, cursor, rows);
    listed.push(...page.map(({ kind, value, last_ms }) => `${kind}${value} ${last_ms}`));
    const last = page.at(-1);
    if (last === undefined || page.length < rows) return listed;
    cursor = { counts: [last.last_ms], value: last.kind + last.value };
  }
}

const ANY_NAME: Filter = { field: "name", op: "is_not", values: ["none"] };
const days = fc.integer({ min: 0, max: WORLD_DAYS });

onBothEngines("visits and people: lists that are searched in parts", async (_t, db) => {
  const database = await openWithHistory(db, randomHistory(250));
  const load = timelinesOf(database);
  let loads = 0;
  const timelines: typeof load = (...needs) => {
    loads++;
    return load(...needs);
  };
  const listed = { visits: 0, people: 0 };
  const asked = fc.asyncProperty(
    fc.array(randomFilter([...TOLD_FIELDS, ...SESSION_FIELDS]), { minLength: 1, maxLength: 2 }),
    fc.constantFrom<BotChoice>("exclude", "include", "only"),
    fc.tuple(days, days).filter(([from, to]) => from < to),
    fc.integer({ min: 1, max: 20 }),
    async (filters, bots, [from, to], rows) => {
      const [fromMs, toMs] = [from, to].map((day) => WORLD_FROM_MS + day * 86_400_000);
      const span = { fromMs: fromMs!, toMs: toMs! };
      const scope = { projectId: 1, siteHost: null, bots, filters };
      const whole: Parted = { sql: database, scope, timelines, firstEvents: Infinity };
      const parted: Parted = { ...whole, firstEvents: 20 };
      const visits = await allVisits(whole, span, 1_000);
      const people = await allPeople(whole, span, 1_000);
      assert.deepEqual(await allVisits(parted, span, rows), visits);
      assert.deepEqual(await allPeople(parted, span, rows), people);
      listed.visits += visits.length;
      listed.people += people.length;
    },
  );
  await fc.assert(asked, {
    numRuns: casesOn(database, 30),
    // One that surely has several pages.
    examples: [[
      [ANY_NAME],
      "include",
      [0, WORLD_DAYS],
      3,
    ]],
  });
  assert.ok(listed.visits > 20 && listed.people > 20, JSON.stringify(listed));

  const scope = { projectId: 1, siteHost: null, bots: "include", filters: [ANY_NAME] } as const;
  const loadsOf = async (list: typeof allVisits, firstEvents: number) => {
    loads = 0;
    await list({ sql: database, scope, timelines, firstEvents }, EVER, 1_000);
    return loads;
  };
  for (const list of [allVisits, allPeople]) {
    assert.ok(await loadsOf(list, 20) > await loadsOf(list, Infinity));
  }
});
