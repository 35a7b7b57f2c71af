import fc from "fast-check";
import assert from "node:assert/strict";
import type { Project } from "../../../src/auth/projects.ts";
import { ACQUISITION } from "../../../src/reports/acquisition/acquisition.ts";
import {
  ACQUISITION_DIMENSIONS,
  type AcquisitionDimension,
} from "../../../src/attribution/dimensions.ts";
import { type Field, type Filter, SESSION_FIELDS } from "../../../src/query/filters.ts";
import type { BotChoice, Span } from "../../../src/query/selection.ts";
import type { Read } from "../../../src/scans/read.ts";
import { answerAsked, type AskedRead } from "../../support/asked_read.ts";
import { onBothEngines } from "../../support/databases.ts";
import { timelinesOf } from "../../support/read_timelines.ts";
import {
  openWithHistory,
  randomFilter,
  randomHistory,
  TOLD_FIELDS,
  WORLD_DAYS,
  WORLD_FROM_MS,
} from "../session_world.ts";

const PROJECT = { projectId: 1, id: "prj_one", timezone: "UTC" } as Project;
const DAY_MS = 86_400_000;
const WORLD: Span = { fromMs: WORLD_FROM_MS, toMs: WORLD_FROM_MS + WORLD_DAYS * DAY_MS };
const KNOWN: readonly Field[] = [...TOLD_FIELDS, ...SESSION_FIELDS];

interface Goal {
  readonly name: string | null;
  readonly filters: readonly Filter[];
}

interface Asked {
  readonly span: Span;
  readonly by: AcquisitionDimension;
  readonly bots: BotChoice;
  readonly filters: readonly Filter[];
  /** Goals are saved one by one: its slug is its number. Null: none is asked for. */
  readonly goal: number | null;
  readonly limit: number;
}

const GOALS: readonly Goal[] = [
  { name: "buy", filters: [] },
  { name: "page_view", filters: [{ field: "path", op: "is", values: ["/b"] }] },
  { name: null, filters: [{ field: "country", op: "is_not", values: ["DE"] }] },
  { name: null, filters: [{ field: "source", op: "is", values: ["news"] }] },
  { name: "buy", filters: [{ field: "properties.plan", op: "is_not", values: ["pro"] }] },
  {
    name: "signup",
    filters: [{ field: "exitPath", op: "is_not", values: ["/"] }, {
      field: "device",
      op: "exists",
      values: [],
    }],
  },
];

// Never a whole day, so that rollups are not used.
const span = fc.tuple(
  fc.integer({ min: -DAY_MS, max: (WORLD_DAYS + 1) * DAY_MS }),
  fc.integer({ min: 1, max: WORLD_DAYS * DAY_MS }),
).map(([after, length]): Span => ({
  fromMs: WORLD_FROM_MS + after,
  toMs: WORLD_FROM_MS + after + length,
}));
const asked = fc.record<Asked>({
  span: fc.oneof(span, fc.constant({ ...WORLD, toMs: WORLD.toMs - 1 })),
  by: fc.constantFrom(...ACQUISITION_DIMENSIONS),
  bots: fc.constantFrom("exclude", "include", "only"),
  filters: fc.array(randomFilter(KNOWN), { maxLength: 2 }),
  goal: fc.option(fc.nat({ max: GOALS.length - 1 })),
  limit: fc.constantFrom(1, 2, 100),
});

function readOf(
  { span, by, bots, filters, goal, limit }: Asked,
  read: Pick<Read, "sql" | "timelines">,
): AskedRead {
  return {
    ...read,
    project: PROJECT,
    scope: { projectId: 1, siteHost: null, bots, filters },
    range: {
      from: new Date(span.fromMs),
      to: new Date(span.toMs),
      timezone: "UTC",
      fromDate: null,
      toDate: null,
    },
    interval: "day",
    comparison: null,
    query: new URLSearchParams({ by, ...goal === null ? {} : { goal: `goal-${goal}` } }),
    limit,
    visitorsMin: 1,
    asOfMs: Date.parse("2036-01-01T00:00:00Z"),
  };
}

interface Result {
  readonly rows: readonly { readonly value: string | null }[];
  readonly total: { readonly sessions: number; readonly conversions?: number };
  readonly nextCursor: string | null;
}

/** All pages of the report. */
async function pagesOf(read: AskedRead): Promise<Result[]> {
  const pages: Result[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query = new URLSearchParams(read.query);
    query.set("cursor", cursor);
    const page = (await answerAsked(ACQUISITION, { ...read, query })).result as unknown as Result;
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}

/** The figures alone. */
function figuresOf(row: object): object {
  return { ...row, value: null, rule: null };
}

/** Whether a dimension means the same sessions as a filter does: only fields of sessions do. */
const isOfSession = (by: AcquisitionDimension) => (SESSION_FIELDS as readonly Field[]).includes(by);

onBothEngines("acquisition: a row is the total under a filter on its value", async (_t, db) => {
  const database = await openWithHistory(db, randomHistory(250));
  for (const [i, match] of GOALS.entries()) {
    await database.query(
      `INSERT INTO goals (project_id, slug, title, definition)
      VALUES (1, $1::text, $1::text, $2::text::jsonb)`,
      [`goal-${i}`, JSON.stringify({ match, value: null })],
    );
  }
  const source = { sql: database, timelines: timelinesOf(database) };
  let compared = 0;
  let converted = 0;
  const property = fc.asyncProperty(asked, async (asked) => {
    const pages = await pagesOf(readOf(asked, source));
    const [{ total }] = pages as [Result];
    const rows = pages.flatMap((page) => page.rows);
    const [whole] = await pagesOf(readOf({ ...asked, limit: 1_000 }, source));
    assert.deepEqual(rows, whole!.rows);
    assert.deepEqual(total, whole!.total);
    for (const row of isOfSession(asked.by) ? rows.slice(0, 2) : []) {
      const filter: Filter = row.value === null
        ? { field: asked.by, op: "not_exists", values: [] }
        : { field: asked.by, op: "is", values: [row.value] };
      const filters = [...asked.filters, filter];
      const [alone] = await pagesOf(readOf({ ...asked, filters, limit: 1 }, source));
      assert.deepEqual(figuresOf(row), figuresOf(alone!.total));
      compared++;
    }
    if ((total.conversions ?? 0) > 0) converted++;
  });
  await fc.assert(property, { numRuns: database.engine === "postgres" ? 60 : 20 });
  assert.ok(compared > 0);
  assert.ok(converted > 0);
});
