import assert from "node:assert/strict";
import type { Database, Param, Row } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { NEAR_VISITS, NEWEST_VISITS } from "../../src/projection/projection_limits.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { deleteEventsBefore } from "../../src/projection/retention.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { withMembersInside } from "../support/fake_sql.ts";
import { projectedState } from "./projected_state.ts";

const START_MS = Date.parse("2020-03-01T01:00:00Z");
const HOUR_MS = 3_600_000;
const VISITS = 2 * NEAR_VISITS + 200;
const MIDDLE = VISITS / 2;
/** Before all visits, and after what was none. */
const BEGINNING_MS = START_MS - 10 * 12 * HOUR_MS;

/** Two visits a day of one person, on two pages in turn, but for those that are named. */
const RARE: Readonly<Record<number, string>> = { 3: "/ever", 990: "/seldom" };
const visit = (
  nth: number,
  path = RARE[nth] ?? `/${nth % 4 < 2 ? "a" : "b"}`,
  members: Partial<EventRow> = {},
): EventRow =>
  newRow({
    anonymous_id: "one",
    name: "page_view",
    path,
    browser: nth % 4 === 0 ? "Firefox" : "Chrome",
    occurred_at: new Date(START_MS + Math.round(nth * 12 * HOUR_MS)).toISOString(),
    ...members,
  });

/** A database that counts the bytes of packed numbers: of stored visits, mostly. */
function counted(database: Database) {
  const counts = { packed: 0 };
  const sql = withMembersInside(database, (sql) => ({
    async query<R extends Row>(text: string, params?: readonly Param[]) {
      const rows = await sql.query<R>(text, params);
      for (const { pack } of rows) if (typeof pack === "string") counts.packed += pack.length;
      return rows;
    },
  }));
  return { counts, sql };
}

/** Of six numbers of four bytes, in Base64 with its line breaks. */
const VISIT_CHARACTERS = 33;

onBothEngines("projection: who comes back after thousands of visits", async (t, db) => {
  const database = await openWithProjects(db);
  const { counts, sql } = counted(database);
  const projection = createProjection(sql);
  const stored: EventRow[] = [];
  const project = async (rows: readonly EventRow[]) => {
    stored.push(...rows);
    await insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
    counts.packed = 0;
    await projection.catchUp(1);
    const read = counts.packed / VISIT_CHARACTERS;
    const aside = await database.query("SELECT FROM journal WHERE set_aside_ids IS NOT NULL");
    assert.equal(aside.length, 0, "an event could not be counted");
    return read;
  };
  const noVisit = visit(-39, "/a", { in_session: false });
  await project([noVisit, ...Array.from({ length: VISITS }, (_, i) => visit(i))]);
  const steps: readonly (readonly [name: string, row: EventRow, most: number])[] = [
    ["as often lately", visit(VISITS + 1), NEWEST_VISITS],
    ["twice a day", visit(VISITS + 1.2), NEWEST_VISITS],
    ["late, in the midst", visit(MIDDLE + 0.3), NEWEST_VISITS + 2 * NEAR_VISITS],
    ["to a page of long ago", visit(VISITS + 4, "/seldom"), Infinity],
    ["to the page of the beginning", visit(VISITS + 8, "/ever"), Infinity],
    ["to a page of which nobody knew", visit(VISITS + 12, "/new"), Infinity],
    ["late, between, to that one", visit(MIDDLE + 40.3, "/new"), Infinity],
    ["before all others", visit(-9), Infinity],
    ["before all that is known, as a bot", visit(-49, "/a", { bot: true }), Infinity],
    ["before that, of no session", visit(-59, "/a", { in_session: false }), Infinity],
  ];
  for (const [name, row, most] of steps) {
    await t.step(`${name}: about as many are read as are needed`, async () => {
      const read = await project([row]);
      assert.ok(read > 0 && read <= most, `${read} visits`);
    });
  }
  await t.step("of whose beginning only what is no visit expires", async () => {
    assert.equal(await deleteEventsBefore(database, 1, BEGINNING_MS), 3);
  });
  await t.step("all is as if the rest had been projected at once", async () => {
    const rows = stored.filter(({ occurred_at }) => Date.parse(occurred_at) >= BEGINNING_MS)
      .map((row) => ({ ...row, project_id: 2 }));
    await insertEvents(database, rows.sort((a, b) => a.event_id < b.event_id ? -1 : 1));
    await createProjection(database).catchUp(2);
    assert.deepEqual(await projectedState(database, 1), await projectedState(database, 2));
  });
});
