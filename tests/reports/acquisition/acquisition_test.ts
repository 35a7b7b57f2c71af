import assert from "node:assert/strict";
import type { Project } from "../../../src/auth/projects.ts";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { Problem } from "../../../src/problem.ts";
import { ACQUISITION } from "../../../src/reports/acquisition/acquisition.ts";
import { readFilters } from "../../../src/query/filters.ts";
import type { BotChoice } from "../../../src/query/selection.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { rowsOf } from "../../fixtures/read_case.ts";
import { answerAsked, type AskedRead } from "../../support/asked_read.ts";
import { onBothEngines } from "../../support/databases.ts";
import { openWithProjects } from "../../support/event_rows.ts";
import { followedTimelines } from "../../support/read_timelines.ts";

const PROJECT = { projectId: 1, id: "prj_one", timezone: "UTC" } as Project;
const DAY = "2026-03-10";

interface Asked {
  readonly query?: Readonly<Record<string, string>>;
  readonly filters?: readonly unknown[];
  readonly bots?: BotChoice;
  readonly limit?: number;
}

/** A row of the reply. */
interface Row {
  readonly value: string | null;
  readonly [figure: string]: unknown;
}

/** Days of another zone than the range's are not rolled up. */
const ELSEWHERE: Project = { ...PROJECT, timezone: "Pacific/Auckland" };

/** Returns the report on the day, which must be the same from the rollups and from a scan. */
async function acquisitionOf(database: Database, asked: Asked = {}) {
  await createProjection(database).catchUp(1);
  const { query = {}, filters = [], bots = "exclude", limit = 100 } = asked;
  const parsed = readFilters(new URLSearchParams({ filters: JSON.stringify(filters) }));
  const from = new Date(`${DAY}T00:00:00Z`);
  const read: Omit<AskedRead, "project" | "timelines"> = {
    sql: database,
    scope: { projectId: 1, siteHost: null, bots, filters: parsed },
    range: {
      from,
      to: new Date(from.getTime() + 86_400_000),
      timezone: "UTC",
      fromDate: null,
      toDate: null,
    },
    interval: "day",
    comparison: null,
    query: new URLSearchParams(query),
    limit,
    visitorsMin: 1,
    asOfMs: Date.parse("2036-01-01T00:00:00Z"),
  };
  const { timelines, followed } = followedTimelines(database);
  const answer = await answerAsked(ACQUISITION, { ...read, project: PROJECT, timelines });
  const isRolledUp = query["goal"] === undefined && filters.length === 0 && bots === "exclude";
  assert.equal(followed() > 0, !isRolledUp);
  assert.deepEqual(
    await answerAsked(ACQUISITION, { ...read, project: ELSEWHERE, timelines }),
    answer,
  );
  const result = answer.result as { rows: Row[]; total: Row; nextCursor: string | null };
  return { ...result, query: answer.query };
}

function rate(numerator: number, denominator: number) {
  return { value: denominator === 0 ? null : numerator / denominator, numerator, denominator };
}

/** A row by its figures in their order: visitors, new ones, sessions, bounces, page views. */
function row(
  value: string | null,
  [visitors, newVisitors, sessions, bounces, pageviews]: readonly [
    number,
    number,
    number,
    number,
    number,
  ],
  rule: string | null,
  conversions?: number,
): Row {
  return {
    value,
    visitors,
    newVisitors,
    sessions,
    bounceRate: rate(bounces, sessions),
    pageviews,
    ...conversions === undefined ? {} : {
      conversions,
      conversionRate: rate(conversions, visitors),
      goalValue: { amount: null, currency: null },
    },
    rule,
  };
}

const NEWS = "utm_source=news utm_medium=email";
const GOOGLE = "referrer=https://www.google.com/";
const EVENTS = [
  // Ann is no new visitor: she was here the day before.
  `a1 2026-03-09T10:00 page_view /home ${NEWS} country=DE`,
  // Two sessions by the newsletter, one of them a bounce, and one by Google.
  `a1 08:00 page_view /offer ${NEWS} country=DE device=d`,
  "a1 08:01 page_view /cart country=DE device=d",
  "a1 08:02 purchase /cart country=DE device=d",
  `a1 12:00 page_view /offer ${NEWS} country=FR device=d`,
  `a1 18:00 page_view /home ${GOOGLE} country=DE device=m`,
  "a1 18:01 click /home country=DE device=m",
  // Bob: a new visitor with two sessions by another mail, whose campaign differs.
  `a2 09:00 page_view /offer ${NEWS} utm_campaign=spring country=DE device=m`,
  "a2 09:05 signup /offer country=DE device=m",
  `a2 15:00 page_view /offer ${NEWS} utm_campaign=spring country=DE device=d`,
  // Cem comes directly, and buys after midnight.
  "a3 23:50 page_view /home country=US device=d",
  "a3 2026-03-11T00:10 page_view /cart country=US device=d",
  "a3 2026-03-11T00:11 purchase /cart country=US device=d",
  // Dia's session began the day before, and a crawler's is left out.
  "a4 2026-03-09T23:55 page_view /home",
  "a4 00:05 purchase /cart",
  `a5 10:00 page_view /home ${GOOGLE} country=US device=d bot`,
];

onBothEngines("acquisition", async (t, db) => {
  const database = await openWithProjects(db);
  const rows = rowsOf({ day: DAY, events: EVENTS });
  const others = rows.map((one): EventRow => ({ ...one, project_id: 2 }));
  await insertEvents(database, [...rows, ...others]);
  await database.query(
    `INSERT INTO goals (project_id, slug, title, definition) VALUES
    (1, 'buy', 'Purchase', $1::text::jsonb), (2, 'other', 'Other', $1::text::jsonb)`,
    ['{"match":{"name":"purchase","filters":[]},"value":null}'],
  );
  const total = [3, 2, 6, 3, 8] as const;

  await t.step("by channel, the default", async () => {
    const found = await acquisitionOf(database);
    assert.deepEqual(found.rows.map((one) => [one.value, one.visitors, one.newVisitors]), [
      ["Email", 2, 1],
      ["Direct", 1, 1],
      ["Organic Search", 1, 0],
    ]);
    assert.deepEqual(
      found.rows.map((one) => [one.sessions, one.bounceRate, one.pageviews]),
      [[4, rate(2, 4), 5], [1, rate(0, 1), 2], [1, rate(1, 1), 1]],
    );
    assert.ok(found.rows.every(({ rule }) => typeof rule === "string" && rule !== ""));
    assert.deepEqual(found.total, row(null, total, null));
    assert.equal(found.nextCursor, null);
    assert.deepEqual(found.query, { by: "channel", goal: null });
  });

  await t.step("by everything else", async () => {
    const by = async (field: string) =>
      (await acquisitionOf(database, { query: { by: field } })).rows
        .map(({ value, visitors, sessions }) => [value, visitors, sessions]);
    assert.deepEqual(await by("source"), [["news", 2, 4], [null, 1, 1], ["google.com", 1, 1]]);
    assert.deepEqual(await by("campaign"), [[null, 2, 4], ["spring", 1, 2]]);
    assert.deepEqual(await by("country"), [["DE", 2, 4], ["US", 1, 1], ["FR", 1, 1]]);
    assert.deepEqual(await by("device"), [["desktop", 3, 4], ["mobile", 2, 2]]);
    assert.deepEqual(await by("entryPath"), [["/offer", 2, 4], ["/home", 2, 2]]);
    assert.deepEqual(await by("city"), [[null, 3, 6]]);
  });

  await t.step("conversions, in the session and past midnight", async () => {
    const found = await acquisitionOf(database, { query: { goal: "buy", by: "entryPath" } });
    assert.deepEqual(
      found.rows.map(({ value, conversions, conversionRate }) => [
        value,
        conversions,
        conversionRate,
      ]),
      // Ann buys after the offer; Cem's purchase belongs to the session that begins at /home.
      [["/offer", 1, rate(1, 2)], ["/home", 1, rate(1, 2)]],
    );
    assert.deepEqual(found.total, row(null, total, null, 2));
    assert.deepEqual(found.query, { by: "entryPath", goal: "buy" });
  });

  await t.step("filters and bots choose sessions, which count whole", async () => {
    const inCart = [{ field: "path", op: "is", values: ["/cart"] }];
    const found = await acquisitionOf(database, { filters: inCart });
    // Cem's purchase after midnight selects the session in which he made it.
    assert.deepEqual(
      found.rows.map(({ value, sessions, pageviews }) => [value, sessions, pageviews]),
      [["Direct", 1, 2], ["Email", 1, 2]],
    );
    const mail = [{ field: "channel", op: "is", values: ["Email"] }];
    assert.equal((await acquisitionOf(database, { filters: mail })).total.sessions, 4);
    const bots = await acquisitionOf(database, { bots: "only", query: { goal: "buy" } });
    assert.deepEqual(
      bots.rows.map(({ value, sessions, conversions }) => [
        value,
        sessions,
        conversions,
      ]),
      [["Organic Search", 1, 0]],
    );
    const nobody = [{ field: "country", op: "is", values: ["IT"] }];
    assert.deepEqual(await acquisitionOf(database, { filters: nobody, query: { goal: "buy" } }), {
      rows: [],
      total: row(null, [0, 0, 0, 0, 0], null, 0),
      nextCursor: null,
      query: { by: "channel", goal: "buy" },
    });
  });

  await t.step("paged, the rows are those of the whole", async () => {
    for (const query of [{ by: "country", goal: "buy" }, { by: "source" }, { by: "campaign" }]) {
      const whole = await acquisitionOf(database, { query });
      const paged: Row[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const part: Awaited<ReturnType<typeof acquisitionOf>> = await acquisitionOf(database, {
          query: { ...query, cursor },
          limit: 1,
        });
        assert.equal(part.rows.length, 1);
        assert.deepEqual(part.total, whole.total);
        paged.push(...part.rows);
        cursor = part.nextCursor;
      }
      assert.deepEqual(paged, whole.rows);
    }
  });

  await t.step("the rule of most sessions, among equals the first by name", async () => {
    const { rows: all } = await acquisitionOf(database, { query: { by: "city" } });
    const rules = await database.query<{ rule: string }>(
      "SELECT rule FROM traffic WHERE project_id = 1 AND channel = 'Email' LIMIT 1",
    );
    // Four of six sessions came by mail.
    assert.equal(all[0]?.rule, rules[0]?.rule);
    const mobile = (await acquisitionOf(database, { query: { by: "device" } })).rows
      .find(({ value }) => value === "mobile");
    const names = await database.query<{ rule: string }>(
      `SELECT DISTINCT rule COLLATE "C" AS rule FROM traffic WHERE project_id = 1
      AND channel IN ('Email', 'Organic Search') ORDER BY 1`,
    );
    assert.equal(names.length, 2);
    assert.equal(mobile?.rule, names[0]?.rule);
  });

  await t.step("bad parameters are named", async () => {
    for (const query of [{ by: "path" }, { goal: "a\0" }, { cursor: "x" }]) {
      const name = Object.keys(query)[0];
      await assert.rejects(
        acquisitionOf(database, { query }),
        (error) => error instanceof Problem && error.options.errors?.[0]?.field === name,
      );
    }
    for (const goal of ["sell", "other"]) {
      await assert.rejects(
        acquisitionOf(database, { query: { goal } }),
        (error) => error instanceof Problem && error.options.errors?.[0]?.field === "goal",
      );
    }
  });
});
