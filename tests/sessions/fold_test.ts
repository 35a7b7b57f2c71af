import assert from "node:assert/strict";
import fc from "fast-check";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/ingest/event_row.ts";
import { createFold } from "../../src/sessions/fold.ts";
import { ROLLED_DIMENSIONS } from "../../src/reports/rolled_acquisition.ts";
import { DIMENSIONS } from "../../src/sessions/value_numbers.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import { foldedState } from "./folded_state.ts";
import { assertHistories } from "./stored_history.ts";

const START_MS = Date.parse("2026-03-01T17:00:00Z");
const MINUTE_MS = 60_000;

async function newProject(database: Database): Promise<number> {
  const [row] = await database.query<{ project_id: number }>(
    `INSERT INTO projects (public_id, name, timezone)
    VALUES ($1::text, 'Test', 'Asia/Kathmandu') RETURNING project_id`,
    [`prj_${crypto.randomUUID()}`],
  );
  return row!.project_id;
}

/** Stores rows as the writer does: in one statement, sorted by key. */
async function store(database: Database, rows: readonly EventRow[]): Promise<void> {
  await insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
}

const someone = fc.record({
  anonymous_id: fc.constantFrom("a1", "a2", "a3", null),
  user_id: fc.constantFrom("u1", "u2", null, null, null, null),
  visitor_hash: fc.constantFrom(
    "\\x000102030405060708090a0b0c0d0e0f",
    "\\xff0102030405060708090a0b0c0d0e0f",
  ),
});
const something = fc.record({
  name: fc.constantFrom("page_view", "page_view", "click", "scroll", "signup", "$set"),
  path: fc.constantFrom("/", "/a", null),
  referrer: fc.constantFrom(null, "https://www.google.com/", "https://x.test/q"),
  utm_medium: fc.constantFrom(null, null, "email"),
  host: fc.constantFrom("x.test", "www.x.test"),
  in_session: fc.constantFrom(true, true, true, true, false),
  bot: fc.constantFrom(false, null, true),
});
/** Steps of five minutes, so that pauses of exactly 30 minutes and events at one time are common. */
const somewhen = fc.tuple(fc.integer({ min: 0, max: 60 }), fc.constantFrom(0, 0, 0, 1, 1000))
  .map(([step, ms]) => new Date(START_MS + step * 5 * MINUTE_MS + ms).toISOString());
const history = fc.array(
  fc.tuple(fc.uuid(), somewhen, someone, something)
    .map(([event_id, occurred_at, who, what]) =>
      newRow({ event_id, occurred_at, ...who, ...what })
    ),
  { minLength: 1, maxLength: 90 },
);
/** In which order, in which parts, and after which of them the fold runs. */
const arrival = fc.record({
  order: fc.infiniteStream(fc.nat(1e6)),
  sizes: fc.infiniteStream(fc.integer({ min: 1, max: 25 })),
  folded: fc.infiniteStream(fc.boolean()),
  repeated: fc.infiniteStream(fc.constantFrom(true, false, false, false)),
});

onBothEngines(
  "fold: the same whatever the order, the batches and the repetitions",
  async (_t, db) => {
    const database = await db.open();
    await migrate(database, MIGRATIONS);
    const fold = createFold(database);
    const runs = database.engine === "embedded" ? 12 : 40;
    await fc.assert(
      fc.asyncProperty(history, arrival, async (rows, { order, sizes, folded, repeated }) => {
        const atOnce = await newProject(database);
        await store(database, rows.map((row) => ({ ...row, project_id: atOnce })));
        await fold.catchUp(atOnce);

        const bitByBit = await newProject(database);
        const keyed = rows.map((row) => ({ key: order.next().value, row }));
        const shuffled = keyed.sort((a, b) => a.key - b.key)
          .map(({ row }) => ({ ...row, project_id: bitByBit }));
        for (let i = 0; i < shuffled.length;) {
          const part = shuffled.slice(i, i += sizes.next().value);
          await store(database, part);
          if (repeated.next().value) await store(database, part);
          if (folded.next().value) await fold.catchUp(bitByBit);
        }
        await fold.catchUp(bitByBit);
        assert.deepEqual(
          await foldedState(database, bitByBit),
          await foldedState(database, atOnce),
        );
      }),
      { numRuns: runs },
    );
  },
);

interface Cut {
  readonly actor: string;
  readonly startMinute: number;
  readonly minutes: number;
  readonly events: number;
}

async function sessionsOf(database: Database, projectId: number): Promise<Cut[]> {
  return await database.query(
    `SELECT i.value AS actor, ((s.first_tick >> 16) - $2::int8) / 60000.0 AS "startMinute",
      ((s.last_tick >> 16) - (s.first_tick >> 16)) / 60000.0 AS minutes, s.events
    FROM sessions s JOIN identities i
      ON i.project_id = s.project_id AND i.identity_id = s.actor_id
    WHERE s.project_id = $1::int ORDER BY s.first_tick, actor`,
    [projectId, START_MS],
  ) as unknown as Cut[];
}

onBothEngines("fold: known answers", async (t, db) => {
  const database = await db.open();
  await migrate(database, MIGRATIONS);
  const fold = createFold(database);
  const at = (minute: number, members: Partial<EventRow>) =>
    newRow({ occurred_at: new Date(START_MS + minute * MINUTE_MS).toISOString(), ...members });
  const folded = async (...parts: readonly EventRow[][]): Promise<number> => {
    const project = await newProject(database);
    for (const rows of parts) {
      await store(database, rows.map((row) => ({ ...row, project_id: project })));
      await fold.catchUp(project);
    }
    return project;
  };

  await t.step("a pause of 30:00 stays in the session, 30:01 cuts", async () => {
    const project = await folded([
      at(0, { anonymous_id: "a" }),
      at(30, { anonymous_id: "a" }),
      at(60 + 1 / 60, { anonymous_id: "a" }),
    ]);
    assert.deepEqual(
      (await sessionsOf(database, project)).map(({ minutes, events }) => [minutes, events]),
      [[30, 2], [0, 1]],
    );
  });
  await t.step("an event that arrives late joins two sessions", async () => {
    const [first, last] = [at(0, { anonymous_id: "a" }), at(50, { anonymous_id: "a" })];
    const project = await folded([first, last], [at(25, { anonymous_id: "a" })]);
    const facts = await database.query(
      "SELECT DISTINCT session_id FROM facts WHERE project_id = $1::int",
      [project],
    );
    assert.equal(facts.length, 1);
    assert.deepEqual(await sessionsOf(database, project), [
      { actor: "a", startMinute: 0, minutes: 50, events: 3 },
    ]);
  });
  await t.step("history before the sign-in joins the user, in either order", async () => {
    const before = at(0, { anonymous_id: "a" });
    const signIn = at(10, { anonymous_id: "a", user_id: "u" });
    for (const parts of [[[before], [signIn]], [[signIn], [before]], [[before, signIn]]]) {
      assert.deepEqual(await sessionsOf(database, await folded(...parts)), [
        { actor: "u", startMinute: 0, minutes: 10, events: 2 },
      ]);
    }
  });
  await t.step("of two users of one device, the earliest keeps what is anonymous", async () => {
    const late = at(300, { anonymous_id: "a", user_id: "late" });
    const early = at(200, { anonymous_id: "a", user_id: "early" });
    const anonymous = at(100, { anonymous_id: "a" });
    for (const parts of [[[anonymous], [late], [early]], [[early], [late], [anonymous]]]) {
      const sessions = await sessionsOf(database, await folded(...parts));
      assert.deepEqual(sessions.map(({ actor, startMinute }) => [actor, startMinute]), [
        ["early", 100],
        ["early", 200],
        ["late", 300],
      ]);
    }
  });
  await t.step("events outside of sessions open none, and are facts all the same", async () => {
    const project = await folded([at(0, { anonymous_id: "a", in_session: false })]);
    assert.deepEqual(await sessionsOf(database, project), []);
    const facts = await database.query(
      "SELECT session_id FROM facts WHERE project_id = $1::int",
      [project],
    );
    assert.deepEqual(facts, [{ session_id: null }]);
  });
  await t.step("a change of the site's host classifies history anew", async () => {
    const project = await folded([
      at(0, { anonymous_id: "a", referrer: "https://shop.test/", host: "blog.test" }),
    ]);
    const channels = () =>
      database.query("SELECT channel FROM traffic WHERE project_id = $1::int", [project]);
    assert.deepEqual(await channels(), [{ channel: "Referral" }]);
    await database.query(
      "UPDATE projects SET site_url = 'https://www.shop.test' WHERE project_id = $1::int",
      [project],
    );
    await fold.catchUp(project);
    assert.deepEqual(await channels(), [{ channel: "Direct" }]);
  });
});

onBothEngines("fold: histories hold each fact, however they were merged", async (t, db) => {
  const database = await db.open();
  await migrate(database, MIGRATIONS);
  const fold = createFold(database);
  const project = await newProject(database);
  const [rows] = fc.sample(
    fc.array(fc.tuple(fc.uuid(), somewhen, someone, something), { minLength: 70, maxLength: 70 }),
    1,
  );
  for (const [i, [event_id, occurred_at, who, what]] of rows!.entries()) {
    // Every seventh lies months before: in segments of its own.
    const at = new Date(Date.parse(occurred_at) - (i % 7 === 0 ? 100 * 86_400_000 : 0));
    const row = newRow({ event_id, occurred_at: at.toISOString(), ...who, ...what });
    await store(database, [{ ...row, document_height: 900, depth_px: i, project_id: project }]);
    await fold.catchUp(project);
  }
  await assertHistories(database, project);
  const segments = await database.query<{ events: number }>(
    "SELECT events FROM history_segments WHERE project_id = $1::int ORDER BY events",
    [project],
  );
  assert.ok(segments.length < 20, `${segments.length} segments`);
  assert.ok(segments.at(-1)!.events >= 8);

  await t.step("and of facts that were there before", async () => {
    await database.query("DELETE FROM history_segments WHERE project_id = $1::int", [project]);
    await database.query(
      "UPDATE fold_projects SET has_histories = false WHERE project_id = $1::int",
      [project],
    );
    await fold.catchUp(project);
    await assertHistories(database, project);
  });
});

onBothEngines("fold: several at once take every event once", async (_t, db) => {
  const database = await db.open();
  await migrate(database, MIGRATIONS);
  const project = await newProject(database);
  const folds = [createFold(database), createFold(database), createFold(database)];
  await Promise.all(Array.from({ length: 12 }, async (_, i) => {
    const rows = Array.from({ length: 20 }, (_, j) =>
      newRow({
        project_id: project,
        occurred_at: new Date(START_MS + (i * 20 + j) * MINUTE_MS).toISOString(),
        anonymous_id: `a${j % 3}`,
      }));
    await store(database, rows);
    await folds[i % 3]!.catchUp(project);
  }));
  const [counts] = await database.query(
    `SELECT (SELECT count(*) FROM facts WHERE project_id = $1::int) AS facts,
      (SELECT sum(events) FROM sessions WHERE project_id = $1::int) AS events,
      (SELECT count(*) FROM fold_marks) AS marks`,
    [project],
  );
  assert.deepEqual(counts, { facts: 240, events: 240, marks: 0 });
});

Deno.test("rollups: the reads number the dimensions of acquisition as the fold does", () => {
  assert.deepEqual(
    Object.entries(ROLLED_DIMENSIONS),
    DIMENSIONS.map((name, number) => [name, number]),
  );
});
