import assert from "node:assert/strict";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { readInterval } from "../../../src/query/buckets.ts";
import { readRange } from "../../../src/query/range.ts";
import { RETENTION } from "../../../src/reports/retention/retention.ts";
import { answerAsked } from "../../support/asked_read.ts";
import { onBothEngines } from "../../support/databases.ts";
import { newRow, openWithProjects, PROJECT_ONE } from "../../support/event_rows.ts";
import { followedTimelines } from "../../support/read_timelines.ts";

const AS_OF_MS = Date.parse("2026-03-31T12:00:00Z");
const FIVE = ["ann", "bob", "cyd", "dan", "eva"];

interface Case {
  readonly name: string;
  /** Who came on this day of March 2026, and on those after it. */
  readonly first: number;
  readonly days: readonly (readonly string[])[];
  /** The sizes of the cohorts that a share of five people shows, `$other` last. */
  readonly sizes: readonly number[];
  readonly scans: number;
}

const CASES: readonly Case[] = [
  {
    ...{ name: "no cohort is small: one scan", first: 2, sizes: [5, 5], scans: 1 },
    days: [FIVE, FIVE],
  },
  {
    ...{ name: "the small ones are of nobody: one scan", first: 5, sizes: [5], scans: 1 },
    days: [FIVE, []],
  },
  {
    ...{ name: "the small ones are enough people: one more", first: 8, sizes: [5, 6], scans: 2 },
    days: [FIVE, ["fay", "gus", "hal"], ["ida", "jon", "kai"]],
  },
  {
    ...{ name: "too few, another one joins: two more", first: 12, sizes: [6], scans: 3 },
    days: [FIVE, ...Array.from({ length: 5 }, () => ["lou"])],
  },
  {
    ...{ name: "too few, there is no other: one more", first: 20, sizes: [], scans: 2 },
    days: [["lou"], ["lou"]],
  },
];

const date = (day: number) => `2026-03-${String(day).padStart(2, "0")}`;

onBothEngines("small recurring cohorts: no more scans than necessary", async (t, db) => {
  const database = await openWithProjects(db);
  const rows = CASES.flatMap(({ first, days }) =>
    days.flatMap((people, i) =>
      people.map((who) => newRow({ user_id: who, occurred_at: `${date(first + i)}T10:00:00.000Z` }))
    )
  );
  await insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
  await createProjection(database).catchUp(1);

  for (const { name, first, days, sizes, scans } of CASES) {
    await t.step(name, async () => {
      const bounds = { from: date(first), to: date(first + days.length - 1), interval: "day" };
      const query = new URLSearchParams({ ...bounds, cohort: "recurring", periods: "1" });
      const range = readRange(query, "UTC", AS_OF_MS);
      const { timelines, followed } = followedTimelines(database);
      const { result } = await answerAsked(RETENTION, {
        ...{ sql: database, project: PROJECT_ONE, timelines, range, query, comparison: null },
        scope: { projectId: 1, siteHost: null, bots: "exclude", filters: [] },
        interval: readInterval(query, range, { allowHour: false }),
        ...{ limit: 100, visitorsMin: 5, asOfMs: AS_OF_MS },
      });
      const cohorts = result.cohorts as { size: number }[];
      assert.deepEqual([cohorts.map(({ size }) => size), followed()], [sizes, scans]);
    });
  }
});
