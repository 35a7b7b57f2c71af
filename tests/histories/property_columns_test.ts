import assert from "node:assert/strict";
import fc from "fast-check";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import type { Database, Sql } from "../../src/db/sql.ts";
import { createPropertyCache, loadProperty } from "../../src/histories/property_columns.ts";
import { ID_BYTES, segmentOf } from "../../src/histories/segment.ts";
import type { EventRow } from "../../src/ingest/event_row.ts";
import {
  HISTORY_PROPERTIES_BYTES_MAX,
  SEGMENT_TEXT_BYTES_MAX,
  SEGMENTS_MERGED,
} from "../../src/limits.ts";
import { createFold, type Fold } from "../../src/sessions/fold.ts";
import { eraseActor, forgetBefore } from "../../src/sessions/forget.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import {
  ABSENT_KEYS,
  assertColumn,
  assertTexts,
  KEYS,
  LONG_AGO_MS,
  MINUTE_MS,
  newProject,
  someRows,
  START_MS,
  storedSegments,
  storeRows,
} from "./property_world.ts";
import { storeSegment } from "./walk_world.ts";

const encoder = new TextEncoder();

async function actorOf(sql: Sql, projectId: number, anonymousId: string): Promise<number | null> {
  const [actor] = await sql.query<{ actor_id: number }>(
    "SELECT actor_id FROM identities WHERE project_id = $1::int AND value = $2::text",
    [projectId, anonymousId],
  );
  return actor?.actor_id ?? null;
}

/** @returns how many values there are, of all keys */
async function assertColumns(sql: Sql, projectId: number): Promise<number> {
  let found = 0;
  for (const key of KEYS) found += await assertColumn(sql, projectId, key);
  for (const key of ABSENT_KEYS) assert.equal(await assertColumn(sql, projectId, key), 0);
  await assertTexts(sql, projectId);
  return found;
}

onBothEngines("property columns: tell what the events tell, of whoever is left", async (_t, db) => {
  const database = await db.open();
  await migrate(database, MIGRATIONS);
  const fold = createFold(database);
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
          await fold.catchUp(project);
        }
        const segments = await storedSegments(database, project);
        if (segments.some(({ events }) => events > together)) seen.merged++;
        const found = await assertColumns(database, project);
        seen.values += found;
        const erased = await actorOf(database, project, "a1");
        if (erased !== null) await eraseActor(database, project, erased);
        const left = await assertColumns(database, project);
        if (left < found) seen.erased++;
        await forgetBefore(database, project, START_MS + minute * MINUTE_MS);
        if (await assertColumns(database, project) < left) seen.expired++;
      },
    ),
    { numRuns: runs, endOnFailure: true },
  );
  assert.ok(Object.values(seen).every((times) => times > 0), JSON.stringify(seen));
});

/** Properties that PostgreSQL writes in so many bytes of UTF-8, fewer characters. */
function propertiesOf(bytes: number): string {
  const left = bytes - '{"k": ""}'.length;
  return JSON.stringify({ k: "ж".repeat(Math.floor(left / 2)) + "x".repeat(left % 2) });
}

interface FoldedProject {
  readonly database: Database;
  readonly fold: Fold;
  readonly project: number;
}

/** Stores events of one minute and folds them. */
async function folded(
  { database, fold, project }: FoldedProject,
  ...rows: readonly Partial<EventRow>[]
): Promise<void> {
  const occurred_at = new Date(START_MS).toISOString();
  await storeRows(database, project, rows.map((row) => newRow({ occurred_at, ...row })));
  await fold.catchUp(project);
}

async function foldedProject(database: Database): Promise<FoldedProject> {
  return { database, fold: createFold(database), project: await newProject(database) };
}

onBothEngines("property columns: what is too long is not held", async (t, db) => {
  const database = await db.open();
  await migrate(database, MIGRATIONS);
  const world = await foldedProject(database);
  const { project } = world;
  const load = async (key = "k", segmentsMax = Infinity) => {
    const segments = (await storedSegments(database, project)).slice(0, segmentsMax);
    return await loadProperty(database, createPropertyCache(1_000), project, segments, key);
  };
  const bytesOf = async () => {
    const events = await database.query<{ bytes: number }>(
      `SELECT octet_length(properties::text) AS bytes FROM events
      WHERE project_id = $1::int AND properties IS NOT NULL ORDER BY 1`,
      [project],
    );
    return events.map(({ bytes }) => bytes);
  };
  const most = propertiesOf(HISTORY_PROPERTIES_BYTES_MAX);

  await t.step("to the byte", async () => {
    await folded(world, { anonymous_id: "a1", properties: most });
    assert.deepEqual(await bytesOf(), [HISTORY_PROPERTIES_BYTES_MAX]);
    const [column] = (await load())!;
    assert.deepEqual(column!.values, [JSON.stringify(JSON.parse(most).k)]);
    const large = propertiesOf(HISTORY_PROPERTIES_BYTES_MAX + 1);
    await folded(world, { anonymous_id: "a2", properties: large });
    assert.deepEqual(await bytesOf(), [0, 1].map((more) => HISTORY_PROPERTIES_BYTES_MAX + more));
    assert.equal(await load(), null);
    assert.equal(await load("other"), null);
    assert.equal((await load("k", 1))!.length, 1);
    const [first] = await storedSegments(database, project);
    await assert.rejects(
      loadProperty(database, createPropertyCache(1_000), project + 1, [first!], "k"),
      /is gone/,
    );
  });

  await t.step("nor after segments were merged, nor made anew", async () => {
    for (let i = 2; i < SEGMENTS_MERGED; i++) await folded(world, { properties: '{"k":1}' });
    assert.equal((await storedSegments(database, project)).length, 1);
    assert.equal(await load(), null);
    await database.query(
      "UPDATE fold_projects SET has_histories = false WHERE project_id = $1::int",
      [project],
    );
    await folded(world);
    assert.equal(await load(), null);
    await assertTexts(database, project);
  });

  await t.step("once it is gone, all is held", async () => {
    await eraseActor(database, project, (await actorOf(database, project, "a2"))!);
    assert.equal(await assertColumn(database, project, "k"), SEGMENTS_MERGED - 1);
    await assertTexts(database, project);
  });
});

onBothEngines("property columns: what is forgotten leaves no text", async (t, db) => {
  const database = await db.open();
  await migrate(database, MIGRATIONS);
  const world = await foldedProject(database);
  const { project } = world;
  const old = { occurred_at: new Date(START_MS - MINUTE_MS).toISOString(), anonymous_id: "a1" };
  const longAgo = { ...old, occurred_at: new Date(START_MS - LONG_AGO_MS).toISOString() };
  await folded(
    world,
    { anonymous_id: "a1", properties: '{"k":"kept"}' },
    { anonymous_id: "a2", properties: '{"k":"erased"}' },
    { ...old, properties: '{"k":"old"}' },
    { ...longAgo, properties: '{"k":"long ago"}' },
    { anonymous_id: "a3" },
  );
  /** Which of the words stand in some text. */
  const told = async () => {
    const rows = await database.query<{ text: string }>(
      `SELECT convert_from(texts, 'UTF8') AS text FROM history_segments
      WHERE project_id = $1::int ORDER BY from_ms`,
      [project],
    );
    return rows.flatMap(({ text }) => text.match(/kept|erased|old|long ago/g) ?? []).sort();
  };
  assert.deepEqual(await told(), ["erased", "kept", "long ago", "old"]);

  await t.step("of an actor", async () => {
    await eraseActor(database, project, (await actorOf(database, project, "a2"))!);
    assert.deepEqual(await told(), ["kept", "long ago", "old"]);
    assert.equal(await assertColumn(database, project, "k"), 3);
  });

  await t.step("before an instant", async () => {
    await forgetBefore(database, project, START_MS);
    assert.deepEqual(await told(), ["kept"]);
    assert.equal(await assertColumn(database, project, "k"), 1);
  });
});

/** A segment of one event whose properties take so many bytes. */
function largeSegment(bytes: number) {
  const properties = encoder.encode(JSON.stringify({ k: "x".repeat(bytes - '{"k":""}'.length) }));
  const event = { identity: 1, ms: START_MS, id: new Uint8Array(ID_BYTES), name: 1, path: 0 };
  return segmentOf([{
    ...event,
    context: 1,
    traffic: 1,
    title: 0,
    referrer: 0,
    depth: NaN,
    properties,
  }])!;
}

onBothEngines(
  "property columns: segments are merged while their texts have room",
  async (t, db) => {
    const database = await db.open();
    await migrate(database, MIGRATIONS);
    const small = { properties: "{}" };

    await t.step("as many of the oldest as are together small enough", async () => {
      const world = await foldedProject(database);
      await folded(world, small);
      const large = largeSegment(Math.floor(SEGMENT_TEXT_BYTES_MAX * 3 / 16));
      for (let i = 2; i < SEGMENTS_MERGED; i++) await storeSegment(database, world.project, large);
      assert.equal((await storedSegments(database, world.project)).length, SEGMENTS_MERGED - 1);
      await folded(world, small);
      const segments = await storedSegments(database, world.project);
      const sizes = segments.map(({ events, textBytes }) => [events, textBytes]);
      const { length } = large.texts;
      assert.deepEqual(sizes, [[1, length], [1, 2], [6, 2 + 5 * length]]);
      assert.ok(2 + 5 * length <= SEGMENT_TEXT_BYTES_MAX);
      assert.ok(2 + 6 * length > SEGMENT_TEXT_BYTES_MAX);
    });

    await t.step("up to the byte, and those that have no room are passed by", async () => {
      const world = await foldedProject(database);
      await folded(world, small);
      const half = largeSegment(SEGMENT_TEXT_BYTES_MAX / 2);
      const larger = largeSegment(SEGMENT_TEXT_BYTES_MAX / 2 + 1);
      for (const one of [larger, larger]) await storeSegment(database, world.project, one);
      const [, ...passedBy] = await storedSegments(database, world.project);
      for (let i = 1; i < SEGMENTS_MERGED; i++) await folded(world, small);
      const merged = await storedSegments(database, world.project);
      assert.deepEqual(merged.slice(0, 2), passedBy);
      assert.deepEqual(merged.slice(2).map(({ events }) => events), [SEGMENTS_MERGED]);

      for (const one of [half, half]) await storeSegment(database, world.project, one);
      for (let i = 2; i < SEGMENTS_MERGED; i++) await folded(world, small);
      const segments = await storedSegments(database, world.project);
      const full = segments.filter(({ textBytes }) => textBytes === SEGMENT_TEXT_BYTES_MAX);
      assert.deepEqual(full.map(({ events }) => events), [2]);
      assert.deepEqual(segments.slice(0, 2), passedBy);
    });
  },
);
