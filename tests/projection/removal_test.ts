import assert from "node:assert/strict";
import fc from "fast-check";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { JOURNAL_ROWS_READ_AT_ONCE } from "../../src/projection/projection_limits.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { deleteEventsBefore, deleteExpiredEvents } from "../../src/projection/retention.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects, storedRows } from "../support/event_rows.ts";
import { projectedState } from "./projected_state.ts";
import {
  assertSameWith,
  BEFORE_MS,
  erased,
  projected,
  rowAt,
  START_MS,
  STEP_MS,
} from "./removal_world.ts";

const STEPS = 200;

const history = fc.array(
  fc.record({
    event_id: fc.uuid(),
    step: fc.integer({ min: 0, max: STEPS }),
    anonymous_id: fc.constantFrom("a1", "a2", "a3"),
    name: fc.constantFrom("page_view", "click", "signup", "$identify", "$set"),
    path: fc.constantFrom("/", "/a", null),
    bot: fc.constantFrom(false, false, true),
  }).map(({ step, ...members }) =>
    newRow({
      ...members,
      in_session: !members.name.startsWith("$"),
      occurred_at: new Date(START_MS + step * STEP_MS).toISOString(),
    })
  ),
  { minLength: 1, maxLength: 80 },
);

const ids = (rows: readonly EventRow[]): string[] => rows.map(({ event_id }) => event_id).sort();

/** Of how many events a transaction is: of each span's by themselves, or as many as it usually is. */
const aims = fc.constantFrom<[] | [number]>([1], []);

onBothEngines("retention: what is left is as if the rest had never been stored", async (_t, db) => {
  const database = await db.open();
  const runs = database.engine === "embedded" ? 6 : 25;
  await fc.assert(
    fc.asyncProperty(history, fc.integer({ min: 0, max: STEPS }), aims, async (rows, step, aim) => {
      const beforeMs = START_MS + step * STEP_MS;
      const project = await projected(database, rows);
      await deleteEventsBefore(database, project, beforeMs, ...aim);
      const kept = rows.filter((row) => Date.parse(row.occurred_at) >= beforeMs);
      const expected = await projectedState(database, await projected(database, kept));
      assert.deepEqual(await projectedState(database, project), expected);
      const journaled = (await storedRows(database)).filter((row) => row.project_id === project);
      assert.deepEqual(ids(journaled), ids(kept));
    }),
    { numRuns: runs },
  );
});

const stored = (database: Database, rows: readonly EventRow[]) =>
  insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));

onBothEngines(
  "retention: what is past an instant leaves journal rows at once, but for what is pending",
  async (t, db) => {
    const database = await openWithProjects(db);
    const all = [rowAt(1), rowAt(2)];
    const some = [rowAt(3), rowAt(100), rowAt(101)];
    const none = [rowAt(100), rowAt(150)];
    for (const rows of [all, some, none]) await stored(database, rows);
    await createProjection(database).catchUp(1);
    await t.step("of a row that also holds known ones, too", async () => {
      const again = [some[0]!, all[0]!, rowAt(120)];
      await stored(database, again);
      await createProjection(database).catchUp(1);
      some.push(again[2]!);
    });
    const pending = [rowAt(4), rowAt(130)];
    await stored(database, pending);
    assert.equal(await deleteEventsBefore(database, 1, BEFORE_MS), 3);
    const kept = [...some.slice(1), ...none, ...pending];
    assert.deepEqual(ids(await storedRows(database)), ids(kept));
    const spans = await database.query(
      `SELECT from_ms, to_ms, event_count, known_ids FROM journal
      WHERE projected_at IS NOT NULL ORDER BY from_ms, to_ms`,
    );
    // While segments are deleted step by step, lists must not take the journal for whole.
    const [lacks] = await database.query("SELECT journal_lacks_to_ms AS ms FROM projections");
    assert.equal(lacks!.ms, BEFORE_MS - 1);
    const at = (step: number) => START_MS + step * STEP_MS;
    assert.deepEqual(
      spans,
      [[100, 101, 2], [100, 150, 2], [120, 120, 1]].map(([from, to, n]) => ({
        from_ms: at(from!),
        to_ms: at(to!),
        event_count: n,
        known_ids: null,
      })),
    );
    await t.step("and what was pending, once it is projected", async () => {
      await createProjection(database).catchUp(1);
      assert.equal(await deleteEventsBefore(database, 1, BEFORE_MS), 1);
      const left = kept.filter((row) => row !== pending[0]);
      assert.deepEqual(ids(await storedRows(database)), ids(left));
    });
    await t.step("and what was set aside, with its id", async () => {
      const aside = rowAt(5);
      await stored(database, [aside, rowAt(140)]);
      await createProjection(database).catchUp(1);
      await database.query(
        `UPDATE journal SET set_aside_until = now(), set_aside_ids = ARRAY[$1::text::uuid]
        WHERE project_id = 1 AND from_ms = $2::int8`,
        [aside.event_id, START_MS + 5 * STEP_MS],
      );
      await deleteEventsBefore(database, 1, BEFORE_MS);
      assert.ok(!ids(await storedRows(database)).includes(aside.event_id));
      const [row] = await database.query(
        "SELECT set_aside_until, set_aside_ids FROM journal WHERE from_ms = $1::int8",
        [START_MS + 140 * STEP_MS],
      );
      assert.deepEqual(row, { set_aside_until: null, set_aside_ids: null });
      assert.equal((await stored(database, [aside])).size, 0);
    });
  },
);

onBothEngines(
  "retention: what cannot be read goes once all of it has expired",
  async (_t, db) => {
    const database = await openWithProjects(db);
    for (const step of [1, 99, 100]) await stored(database, [rowAt(step)]);
    await database.query("UPDATE journal SET block = set_byte(block, 9, 255 - get_byte(block, 9))");
    await createProjection(database).catchUp(1);
    const left = async () =>
      (await database.query("SELECT from_ms FROM journal ORDER BY from_ms"))
        .map(({ from_ms }) => ((from_ms as number) - START_MS) / STEP_MS);
    assert.deepEqual(await left(), [1, 99, 100]);
    await deleteEventsBefore(database, 1, BEFORE_MS);
    assert.deepEqual(await left(), [100]);
  },
);

onBothEngines(
  "retention: a device is whose it would be if the user who left had never been",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const left = rowAt(1, { user_id: "u1", anonymous_id: "a1" });
    const kept = [
      rowAt(120, { user_id: "u3", anonymous_id: "a1" }),
      rowAt(110, { user_id: "u2", anonymous_id: "a1" }),
      rowAt(130, { user_id: "u2", anonymous_id: "a2" }),
    ];
    const project = await projected(database, [left, ...kept]);
    const rest = await projected(database, kept.map((row) => ({ ...row })));
    assert.equal(await deleteEventsBefore(database, project, BEFORE_MS), 1);
    // One that is nobody's yet, and one of a user between the two: neither changes whose the device is.
    const later = [
      rowAt(140, { anonymous_id: "a1" }),
      rowAt(115, { user_id: "u4", anonymous_id: "a1" }),
    ];
    await assertSameWith(database, project, rest, later);
  },
);

onBothEngines("retention: a damaged project keeps no other from it", async (_t, db) => {
  const database = await db.open();
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString();
  const rows = [31, 29].map((ago) => newRow({ anonymous_id: "a", occurred_at: day(ago) }));
  const [damaged, whole] = [await projected(database, rows), await projected(database, rows)];
  await database.query(
    "UPDATE segments SET body = substring(body FROM 1 FOR 9) WHERE project_id = $1::int",
    [damaged],
  );
  await assert.rejects(deleteExpiredEvents(database, new Date()), /is damaged/);
  const left = async (project: number) =>
    (await storedRows(database)).filter((row) => row.project_id === project).length;
  assert.deepEqual([await left(damaged), await left(whole)], [2, 1]);
});

onBothEngines("erasure: an erased actor leaves nothing, and the others whole", async (t, db) => {
  const database = await db.open();
  const runs = database.engine === "embedded" ? 6 : 25;
  await fc.assert(
    fc.asyncProperty(history, async (rows) => {
      const project = await projected(database, rows);
      const [actor] = await database.query<{ actor_id: number }>(
        "SELECT actor_id FROM identities WHERE project_id = $1::int AND value = 'a1'",
        [project],
      );
      const kept = rows.filter((row) => row.anonymous_id !== "a1");
      if (actor !== undefined) {
        const events = await erased(database, project, actor.actor_id);
        assert.equal(events, rows.length - kept.length);
      }
      const expected = await projectedState(database, await projected(database, kept));
      assert.deepEqual(await projectedState(database, project), expected);
      const ids = await database.query(
        "SELECT 1 FROM event_ids WHERE project_id = $1::int",
        [project],
      );
      assert.equal(ids.length, kept.length);
      const journaled = (await storedRows(database)).filter((row) => row.project_id === project);
      assert.equal(journaled.length, kept.length);
    }),
    { numRuns: runs },
  );
  await t.step("the daily job deletes what has expired", async () => {
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString();
    const rows = [31, 29].map((ago) => newRow({ anonymous_id: "a", occurred_at: day(ago) }));
    const project = await projected(database, rows);
    assert.ok(await deleteExpiredEvents(database, new Date()) >= 1);
    const state = await projectedState(database, project);
    assert.ok(state.some((line) => line.includes(rows[1]!.event_id)));
    assert.ok(!state.some((line) => line.includes(rows[0]!.event_id)));
    assert.deepEqual(
      await database.query("SELECT event_id FROM event_ids WHERE project_id = $1::int", [project]),
      [{ event_id: rows[1]!.event_id }],
    );
  });
});

const shared = fc.array(
  fc.tuple(
    fc.uuid(),
    fc.integer({ min: 0, max: 20 }),
    fc.constantFrom("a1", "a2", null),
    fc.constantFrom("u1", "u2", "u3", null),
  ).map(([event_id, step, anonymous_id, user_id]) =>
    rowAt(step, { event_id, anonymous_id: anonymous_id ?? "a3", user_id })
  ),
  { minLength: 1, maxLength: 30 },
);

/** Whose each event is: its user, else who was first seen with its anonymous id, else that id. */
function actorsOf(rows: readonly EventRow[]): Map<string, string> {
  const seenWith = new Map<string, string>();
  const keyOf = ({ occurred_at, event_id }: EventRow) => `${occurred_at} ${event_id}`;
  for (const row of rows.toSorted((a, b) => keyOf(a) < keyOf(b) ? -1 : 1)) {
    const anonymous = row.anonymous_id!;
    if (row.user_id !== null && !seenWith.has(anonymous)) seenWith.set(anonymous, row.user_id);
  }
  return new Map(rows.map((row) => [
    row.event_id,
    row.user_id ?? seenWith.get(row.anonymous_id!) ?? row.anonymous_id!,
  ]));
}

onBothEngines(
  "erasure: a shared device is whose it would be if who is erased had never been",
  async (_t, db) => {
    const database = await db.open();
    const runs = database.engine === "embedded" ? 6 : 30;
    await fc.assert(
      fc.asyncProperty(shared, fc.boolean(), async (some, hasMany) => {
        // Of so many devices the texts of all events are looked at; fewer are searched for.
        const many = Array.from(
          { length: hasMany ? 101 : 0 },
          (_, i) => rowAt(29, { user_id: "u1", anonymous_id: `own ${i}` }),
        );
        const rows = [...some, ...many];
        const project = await projected(database, rows);
        const [who] = await database.query<{ actor_id: number }>(
          "SELECT actor_id FROM identities WHERE project_id = $1::int AND value = 'u1'",
          [project],
        );
        const actors = actorsOf(rows);
        const kept = rows.filter(({ event_id }) => actors.get(event_id) !== "u1");
        if (who !== undefined) {
          assert.equal(await erased(database, project, who.actor_id), rows.length - kept.length);
        }
        const rest = await projected(database, kept);
        const later = ["a1", "a2", "a3"].map((anonymous_id) => rowAt(30, { anonymous_id }));
        await assertSameWith(database, project, rest, later);
      }),
      { numRuns: runs },
    );
  },
);

onBothEngines(
  "erasure: who is erased leaves no journal row, however many there are",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const rows = [0, 1].flatMap((more) =>
      Array.from(
        { length: JOURNAL_ROWS_READ_AT_ONCE + more },
        (_, i) => newRow({ project_id: 1 + more, anonymous_id: i % 2 === 0 ? "gone" : "kept" }),
      )
    );
    for (const row of rows) {
      await insertEvents(database, [row]);
    }
    for (const project of [1, 2]) {
      await createProjection(database).catchUp(project);
      const [actor] = await database.query<{ actor_id: number }>(
        "SELECT actor_id FROM identities WHERE project_id = $1::int AND value = 'gone'",
        [project],
      );
      const own = rows.filter((row) => row.project_id === project);
      const kept = own.filter((row) => row.anonymous_id === "kept");
      const events = await erased(database, project, actor!.actor_id);
      assert.equal(events, own.length - kept.length);
      const left = (await storedRows(database)).filter((row) => row.project_id === project);
      assert.deepEqual(left.map((row) => row.event_id), kept.map((row) => row.event_id));
    }
  },
);
