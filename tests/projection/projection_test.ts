import assert from "node:assert/strict";
import fc from "fast-check";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { mergeOnce } from "../../src/projection/merging.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { ROLLED_DIMENSIONS } from "../../src/attribution/dimensions.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import { projectedState } from "./projected_state.ts";

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
  interactive: fc.constantFrom(null, null, null, false),
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
/** In which order, in which parts, and after which of them the projection runs. */
const arrival = fc.record({
  order: fc.infiniteStream(fc.nat(1e6)),
  sizes: fc.infiniteStream(fc.integer({ min: 1, max: 25 })),
  projected: fc.infiniteStream(fc.boolean()),
  repeated: fc.infiniteStream(fc.constantFrom(true, false, false, false)),
});

onBothEngines(
  "projection: the same whatever the order, the batches and the repetitions",
  async (_t, db) => {
    const database = await db.open();
    const projection = createProjection(database);
    const runs = database.engine === "embedded" ? 12 : 40;
    await fc.assert(
      fc.asyncProperty(history, arrival, async (rows, { order, sizes, projected, repeated }) => {
        const atOnce = await newProject(database);
        await store(database, rows.map((row) => ({ ...row, project_id: atOnce })));
        await projection.catchUp(atOnce);

        const bitByBit = await newProject(database);
        const keyed = rows.map((row) => ({ key: order.next().value, row }));
        const shuffled = keyed.sort((a, b) => a.key - b.key)
          .map(({ row }) => ({ ...row, project_id: bitByBit }));
        for (let i = 0; i < shuffled.length;) {
          const part = shuffled.slice(i, i += sizes.next().value);
          await store(database, part);
          if (repeated.next().value) await store(database, part);
          if (projected.next().value) await projection.catchUp(bitByBit);
        }
        await projection.catchUp(bitByBit);
        while (await mergeOnce(database, bitByBit));
        assert.deepEqual(
          await projectedState(database, bitByBit),
          await projectedState(database, atOnce),
        );
      }),
      { numRuns: runs },
    );
  },
);

async function eventsOf(database: Database, projectId: number): Promise<number> {
  const [row] = await database.query<{ events: number }>(
    "SELECT coalesce(sum(events), 0)::int AS events FROM segments WHERE project_id = $1::int",
    [projectId],
  );
  return row!.events;
}

interface Cut {
  readonly actor: string;
  readonly startMinute: number;
  readonly minutes: number;
  readonly events: number;
}

async function sessionsOf(database: Database, projectId: number): Promise<Cut[]> {
  return await database.query(
    `SELECT i.value AS actor, (s.first_ms - $2::int8) / 60000.0 AS "startMinute",
      (s.last_ms - s.first_ms) / 60000.0 AS minutes, s.events
    FROM sessions s JOIN identities i
      ON i.project_id = s.project_id AND i.identity_id = s.actor_id
    WHERE s.project_id = $1::int ORDER BY s.first_ms, actor`,
    [projectId, START_MS],
  ) as unknown as Cut[];
}

onBothEngines("projection: known answers", async (t, db) => {
  const database = await db.open();
  const projection = createProjection(database);
  const at = (minute: number, members: Partial<EventRow>) =>
    newRow({ occurred_at: new Date(START_MS + minute * MINUTE_MS).toISOString(), ...members });
  const projected = async (...parts: readonly EventRow[][]): Promise<number> => {
    const project = await newProject(database);
    for (const rows of parts) {
      await store(database, rows.map((row) => ({ ...row, project_id: project })));
      await projection.catchUp(project);
    }
    return project;
  };

  await t.step("a pause of 30:00 stays in the session, 30:01 cuts", async () => {
    const project = await projected([
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
    const project = await projected([first, last], [at(25, { anonymous_id: "a" })]);
    assert.deepEqual(await sessionsOf(database, project), [
      { actor: "a", startMinute: 0, minutes: 50, events: 3 },
    ]);
  });
  await t.step("history before the sign-in joins the user, in either order", async () => {
    const before = at(0, { anonymous_id: "a" });
    const signIn = at(10, { anonymous_id: "a", user_id: "u" });
    for (const parts of [[[before], [signIn]], [[signIn], [before]], [[before, signIn]]]) {
      assert.deepEqual(await sessionsOf(database, await projected(...parts)), [
        { actor: "u", startMinute: 0, minutes: 10, events: 2 },
      ]);
    }
  });
  await t.step("of two users of one device, the earliest keeps what is anonymous", async () => {
    const late = at(300, { anonymous_id: "a", user_id: "late" });
    const early = at(200, { anonymous_id: "a", user_id: "early" });
    const anonymous = at(100, { anonymous_id: "a" });
    for (const parts of [[[anonymous], [late], [early]], [[early], [late], [anonymous]]]) {
      const sessions = await sessionsOf(database, await projected(...parts));
      assert.deepEqual(sessions.map(({ actor, startMinute }) => [actor, startMinute]), [
        ["early", 100],
        ["early", 200],
        ["late", 300],
      ]);
    }
  });
  await t.step("events outside of sessions open none, and are stored all the same", async () => {
    const project = await projected([at(0, { anonymous_id: "a", in_session: false })]);
    assert.deepEqual(await sessionsOf(database, project), []);
    assert.equal(await eventsOf(database, project), 1);
  });
  await t.step("a change of the site's host classifies history anew", async () => {
    const project = await projected([
      at(0, { anonymous_id: "a", referrer: "https://shop.test/", host: "blog.test" }),
    ]);
    const channels = () =>
      database.query("SELECT channel FROM traffic WHERE project_id = $1::int", [project]);
    assert.deepEqual(await channels(), [{ channel: "Referral" }]);
    await database.query(
      "UPDATE projects SET site_url = 'https://www.shop.test' WHERE project_id = $1::int",
      [project],
    );
    await projection.catchUp(project);
    assert.deepEqual(await channels(), [{ channel: "Direct" }]);
  });
});

onBothEngines("projection: the links' version tells of each new owner", async (_t, db) => {
  const database = await db.open();
  const projection = createProjection(database);
  const project = await newProject(database);
  const versionAfter = async (members: Partial<EventRow>) => {
    await store(database, [newRow({ project_id: project, ...members })]);
    await projection.catchUp(project);
    const [row] = await database.query<{ links_version: number }>(
      "SELECT links_version FROM projections WHERE project_id = $1::int",
      [project],
    );
    return row!.links_version;
  };
  const nobody = await versionAfter({ anonymous_id: "a" });
  const earlier = "2026-03-01T10:00:00Z";
  // Somebody who was nobody before, and somebody of whom nothing else was known: reads remember both.
  const moved = await versionAfter({ anonymous_id: "a", user_id: "u" });
  const linked = await versionAfter({ anonymous_id: "b", user_id: "u" });
  const known = await versionAfter({ anonymous_id: "b" });
  const same = await versionAfter({ anonymous_id: "b", user_id: "u" });
  // Other servers must know of it, or they would take a later one for earlier.
  const sooner = await versionAfter({ anonymous_id: "b", user_id: "u", occurred_at: earlier });
  assert.ok(nobody < moved && moved < linked && linked < sooner);
  assert.deepEqual([same, known], [linked, linked]);
});

onBothEngines(
  "projection: several servers tell the same user, whoever knew of whom",
  async (_t, db) => {
    const database = await db.open();
    const [one, other] = [createProjection(database), createProjection(database)];
    const project = await newProject(database);
    const at = (minute: number, user_id: string | null) =>
      newRow({
        project_id: project,
        anonymous_id: "a",
        user_id,
        occurred_at: new Date(START_MS + minute * MINUTE_MS).toISOString(),
      });
    const steps: [typeof one, EventRow][] = [
      [one, at(50, "u1")],
      [other, at(10, "u1")],
      [one, at(30, "u2")],
      [other, at(60, null)],
    ];
    for (const [projection, row] of steps) {
      await store(database, [row]);
      await projection.catchUp(project);
    }
    const cut = await sessionsOf(database, project);
    assert.deepEqual(cut.map(({ actor, startMinute }) => [actor, startMinute]), [
      ["u1", 10],
      ["u2", 30],
      ["u1", 50],
    ]);
  },
);

onBothEngines("projection: several at once take every event once", async (_t, db) => {
  const database = await db.open();
  const project = await newProject(database);
  const projects = [
    createProjection(database),
    createProjection(database),
    createProjection(database),
  ];
  await Promise.all(Array.from({ length: 12 }, async (_, i) => {
    const rows = Array.from({ length: 20 }, (_, j) =>
      newRow({
        project_id: project,
        occurred_at: new Date(START_MS + (i * 20 + j) * MINUTE_MS).toISOString(),
        anonymous_id: `a${j % 3}`,
      }));
    await store(database, rows);
    await projects[i % 3]!.catchUp(project);
  }));
  const [counts] = await database.query(
    `SELECT (SELECT sum(events) FROM segments WHERE project_id = $1::int) AS stored,
      (SELECT sum(events) FROM sessions WHERE project_id = $1::int) AS events,
      (SELECT count(*) FROM journal WHERE projected_at IS NULL) AS pending`,
    [project],
  );
  assert.deepEqual(counts, { stored: 240, events: 240, pending: 0 });
});

Deno.test("rollups: the numbers that dimensions are stored by never change", () => {
  const stored = "all channel source medium campaign term content referrer entryPath country " +
    "region city browser os device";
  assert.equal(ROLLED_DIMENSIONS.join(" "), stored);
});
