import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { DAY_MS } from "../../src/limits.ts";
import { createProjection } from "../../src/projection/projection.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { withMembersInside } from "../support/fake_sql.ts";

const START_MS = Date.parse("2026-03-01T17:00:00Z");
const at = (ms: number): string => new Date(START_MS + ms).toISOString();
const times = <T>(count: number, of: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => of(i));

/** A database that counts what the projection asks of it. */
function counted(database: Database) {
  const counts = { statements: 0, rows: 0, dayCharacters: 0 };
  const count = <R>(rows: R[]): R[] => {
    counts.statements++;
    counts.rows += rows.length;
    return rows;
  };
  const sql = withMembersInside(database, (sql) => ({
    query: async (text, params) => {
      // What is written of each value and day.
      if (text.includes("INSERT INTO acquisition_days")) {
        counts.dayCharacters += params!.reduce<number>((sum, one) => sum + String(one).length, 0);
      }
      return count(await sql.query(text, params));
    },
    binary: async (text, params) => count(await sql.binary(text, params)),
  }));
  return { counts, sql };
}

async function store(database: Database, rows: readonly EventRow[]): Promise<void> {
  await insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
}

onBothEngines("projection: it asks for what a batch touches, and no more", async (t, db) => {
  const database = await openWithProjects(db);
  const { counts, sql } = counted(database);
  const projection = createProjection(sql);
  /** What it asks for to project some events. */
  const asked = async (rows: readonly EventRow[]) => {
    await store(database, rows);
    Object.assign(counts, { statements: 0, rows: 0, dayCharacters: 0 });
    await projection.catchUp(1);
    return { ...counts };
  };
  const visit = (session: number, minute: number) =>
    newRow({
      anonymous_id: "one",
      name: "page_view",
      occurred_at: at((60 * session + minute) * 60_000),
    });
  await asked(times(300, (i) => visit(i, 0)));

  await t.step("of somebody with many sessions, those around its times", async () => {
    const one = await asked([visit(100, 5)]);
    const ten = await asked(times(10, (i) => visit(100 + i, 6)));
    assert.ok(one.rows < 30, `${one.rows} rows`);
    // For each session itself, and the sums of another day.
    assert.ok(ten.rows - one.rows <= 2 * 9 + 16, `${ten.rows} and ${one.rows} rows`);
    assert.ok(ten.statements <= one.statements + 2);
  });
  await t.step(
    "of somebody with many days who was there before them, the first of them",
    async () => {
      const of = (who: string, day: number) =>
        newRow({ anonymous_id: who, name: "page_view", occurred_at: at(day * DAY_MS) });
      const earlier = async (who: string, days: number) => {
        await asked(times(days, (i) => of(who, i)));
        return await asked([of(who, -1)]);
      };
      const few = await earlier("few", 5);
      const many = await earlier("many", 200);
      assert.ok(many.dayCharacters <= few.dayCharacters + 100, `${many.dayCharacters}`);
      const empty = await database.query("SELECT FROM visitor_days WHERE actors = 0");
      assert.equal(empty.length, 0);
    },
  );
  await t.step("for more people, not more statements", async () => {
    const people = (from: number, count: number) =>
      times(count, (i) => newRow({ anonymous_id: `p${from + i}`, occurred_at: at(i) }));
    const few = await asked(people(0, 10));
    const many = await asked(people(10, 500));
    // Now and then the planner is told how large the tables are.
    assert.ok(many.statements <= few.statements + 12, `${many.statements}, ${few.statements}`);
    // Nobody of them was there before: all that there is to find are the sums of their day.
    assert.ok(many.rows <= few.rows + 5, `${many.rows}, ${few.rows}`);
  });
  await t.step(
    "for more devices that turn out to be somebody else's, as much for each",
    async () => {
      const devices = (name: string, count: number, members: (i: number) => Partial<EventRow>) =>
        times(count, (i) => newRow({ anonymous_id: `${name}${i}`, ...members(i) }));
      const told = async (name: string, count: number) => {
        await asked(devices(name, count, (i) => ({ occurred_at: at(i) })));
        await asked(
          devices(name, count, (i) => ({ user_id: `${name}u`, occurred_at: at(DAY_MS + i) })),
        );
        return await asked(
          devices(name, count, (i) => ({ user_id: `${name}v${i}`, occurred_at: at(i - DAY_MS) })),
        );
      };
      const few = await told("few", 50);
      const many = await told("many", 400);
      assert.ok(many.statements <= few.statements + 12, `${many.statements}, ${few.statements}`);
      assert.ok(many.rows <= 8 * few.rows + 100, `${many.rows}, ${few.rows}`);
    },
  );
});
