import assert from "node:assert/strict";
import fc from "fast-check";
import type { Database, Sql } from "../../src/db/sql.ts";
import { SharedMemory } from "../../src/timelines/shared_memory.ts";
import { createLazyCache } from "../../src/timelines/lazy_loader.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import {
  PROPERTY_SLOTS_MAX,
  SEGMENTS_MERGED,
  SLOTTED_EVENTS_MIN,
} from "../../src/store/store_limits.ts";
import { fetchHeads } from "../../src/store/stored_segments.ts";
import { mergeOnce } from "../../src/projection/merging.ts";
import { createProjection, type Projection } from "../../src/projection/projection.ts";
import { eraseActor } from "../../src/projection/erasure.ts";
import { deleteEventsBefore } from "../../src/projection/retention.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import {
  ABSENT_KEYS,
  assertColumn,
  assertTexts,
  KEYS,
  loadProperty,
  LONG_AGO_MS,
  MINUTE_MS,
  newProject,
  someRows,
  START_MS,
  storedSegments,
  storeRows,
} from "./property_world.ts";

async function actorOf(sql: Sql, projectId: number, anonymousId: string): Promise<number | null> {
  const [actor] = await sql.query<{ actor_id: number }>(
    "SELECT actor_id FROM identities WHERE project_id = $1::int AND value = $2::text",
    [projectId, anonymousId],
  );
  return actor?.actor_id ?? null;
}

/** @returns how many values there are, of all keys */
async function assertColumns(sql: Sql, projectId: number, fromMs?: number): Promise<number> {
  let found = 0;
  for (const key of KEYS) found += await assertColumn(sql, projectId, key, fromMs);
  for (const key of ABSENT_KEYS) assert.equal(await assertColumn(sql, projectId, key, fromMs), 0);
  await assertTexts(sql, projectId, fromMs);
  return found;
}

onBothEngines("property columns: agree with the events, whoever was erased", async (_t, db) => {
  const database = await db.open();
  const projection = createProjection(database);
  const [runs, count] = [database.engine === "embedded" ? 2 : 10, 36];
  const seen = { values: 0, merged: 0, erased: 0, expired: 0 };
  await fc.assert(
    fc.asyncProperty(
      someRows(count),
      fc.integer({ min: 1, max: 4 }),
      fc.nat({ max: 100 }),
      async (rows, together, minute) => {
        const project = await newProject(database);
        for (let i = 0; i < count; i += together) {
          await storeRows(database, project, rows.slice(i, i + together));
          await projection.catchUp(project);
        }
        while (await mergeOnce(database, project));
        const segments = await storedSegments(database, project);
        if (segments.some(({ events }) => events > together)) seen.merged++;
        const found = await assertColumns(database, project);
        seen.values += found;
        const erased = await actorOf(database, project, "a1");
        if (erased !== null) {
          await database.transaction((tx) => eraseActor(tx, project, erased));
        }
        const left = await assertColumns(database, project);
        if (left < found) seen.erased++;
        const keptMs = START_MS + minute * MINUTE_MS;
        await deleteEventsBefore(database, project, keptMs);
        if (await assertColumns(database, project, keptMs) < left) seen.expired++;
      },
    ),
    { numRuns: runs, endOnFailure: true },
  );
  assert.ok(Object.values(seen).every((times) => times > 0), JSON.stringify(seen));
});

interface ProjectedProject {
  readonly database: Database;
  readonly projection: Projection;
  readonly project: number;
}

/** Stores events of one minute and projects them. */
async function projected(
  { database, projection, project }: ProjectedProject,
  ...rows: readonly Partial<EventRow>[]
): Promise<void> {
  const occurred_at = new Date(START_MS).toISOString();
  await storeRows(database, project, rows.map((row) => newRow({ occurred_at, ...row })));
  await projection.catchUp(project);
}

async function projectedProject(database: Database): Promise<ProjectedProject> {
  return { database, projection: createProjection(database), project: await newProject(database) };
}

onBothEngines(
  "property columns: of any length, and of a stored segment",
  async (_t, db) => {
    const database = await db.open();
    const world = await projectedProject(database);
    const { project } = world;
    const long = "ж".repeat(20_000);
    await projected(world, { properties: JSON.stringify({ k: long }) }, { properties: '{"k":1}' });
    assert.equal(await assertColumn(database, project, "k"), 2);
    await assertTexts(database, project);
    const [first] = await storedSegments(database, project);
    await assert.rejects(
      loadProperty(
        database,
        createLazyCache(1_000, new SharedMemory(0)),
        project + 1,
        [first!],
        "k",
      ),
      /is gone/,
    );
  },
);

onBothEngines("property columns: of many events, merged from few", async (_t, db) => {
  const database = await db.open();
  const world = await projectedProject(database);
  const { project } = world;
  const each = SLOTTED_EVENTS_MIN / SEGMENTS_MERGED;
  const count = SEGMENTS_MERGED * each;
  for (let first = 0; first < count; first += each) {
    const rows = Array.from({ length: each }, (_, i) => ({
      anonymous_id: `a${i % 7}`,
      properties: `{"number":${first + i},"text":"t"${i === 3 ? `,"only ${first}":"é"` : ""}}`,
    }));
    await projected(world, ...rows);
  }
  const slotKeys = async () =>
    (await fetchHeads(database, project)).map(({ head }) => head.slotKeys.toSorted().join());
  assert.ok((await slotKeys()).every((keys) => keys === ""));
  const before = await storedSegments(database, project);
  await mergeOnce(database, project, undefined, async (_project, replace) => {
    // Another server has given slots to as many properties as a project may have.
    await database.query(
      `UPDATE segments SET slot_keys = ARRAY(SELECT 'key ' || i FROM generate_series(1, $2::int) AS i)
      WHERE project_id = $1::int`,
      [project, PROPERTY_SLOTS_MAX],
    );
    await replace();
  });
  assert.deepEqual(await storedSegments(database, project), before);
  await database.query("UPDATE segments SET slot_keys = '{}' WHERE project_id = $1::int", [
    project,
  ]);
  while (await mergeOnce(database, project));
  assert.deepEqual(await slotKeys(), ['"number","text"']);
  const [row] = await database.query(
    "SELECT array_to_string(slot_keys, ',') AS keys FROM segments",
  );
  assert.equal(row!.keys, '"number","text"');
  assert.equal(await assertColumn(database, project, "number"), count);
  assert.equal(await assertColumn(database, project, `only ${each}`), 1);
  const erased = (await actorOf(database, project, "a3"))!;
  await database.transaction((tx) => eraseActor(tx, project, erased));
  assert.ok(await assertColumn(database, project, "number") < count);
  assert.equal(await assertColumn(database, project, `only ${each}`), 0);
  await assertTexts(database, project);
});

onBothEngines("property columns: deleted events leave no text", async (t, db) => {
  const database = await db.open();
  const world = await projectedProject(database);
  const { project } = world;
  const old = { occurred_at: new Date(START_MS - MINUTE_MS).toISOString(), anonymous_id: "a1" };
  const longAgo = { ...old, occurred_at: new Date(START_MS - LONG_AGO_MS).toISOString() };
  await projected(
    world,
    { anonymous_id: "a1", properties: '{"k":"kept"}' },
    { anonymous_id: "a2", properties: '{"k":"erased"}' },
    { ...old, properties: '{"k":"old"}' },
    { ...longAgo, properties: '{"k":"long ago"}' },
    { anonymous_id: "a3" },
  );
  /** Which of the words stand in some text. */
  const told = async () =>
    (await storedSegments(database, project))
      .flatMap(({ texts }) => texts.join().match(/kept|erased|old|long ago/g) ?? []).sort();
  assert.deepEqual(await told(), ["erased", "kept", "long ago", "old"]);

  await t.step("of an actor", async () => {
    const actor = (await actorOf(database, project, "a2"))!;
    await database.transaction((tx) => eraseActor(tx, project, actor));
    assert.deepEqual(await told(), ["kept", "long ago", "old"]);
    assert.equal(await assertColumn(database, project, "k"), 3);
  });

  await t.step("before an instant", async () => {
    await deleteEventsBefore(database, project, START_MS);
    assert.deepEqual(await told(), ["kept"]);
    assert.equal(await assertColumn(database, project, "k", START_MS), 1);
  });
});
