import assert from "node:assert/strict";
import { eventsOf, type Frame, jsonOf, readFrames } from "../../src/archive/archive_format.ts";
import type { ArchiveManifest } from "../../src/archive/archive_format.ts";
import { writeArchive } from "../../src/archive/archive_writer.ts";
import { readFigures } from "../../src/archive/read_figures.ts";
import { randomText } from "../../src/auth/random_text.ts";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { eraseActor } from "../../src/projection/erasure.ts";
import { mergeOnce } from "../../src/projection/merging.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { decodeBlock } from "../../src/store/journal_events.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { dropEmptiedTable } from "../../src/upgrade/earlier_projects.ts";

const PEOPLE = 40;
const BATCHES = 10;
const BATCH_EVENTS = 2_000;
/** More than a block of a segment, so that one can be written anew while it is half read. */
const EVENTS = BATCHES * BATCH_EVENTS;

const rowOf = (person: number) =>
  newRow({
    user_id: `u${String(person).padStart(2, "0")}`,
    name: "seen",
    properties: '{"a":[1,2]}',
  });

async function store(database: Database, count: number): Promise<Map<string, string>> {
  const rows = Array.from({ length: count }, (_, i) => rowOf(i % PEOPLE));
  await insertEvents(database, rows);
  return new Map(rows.map((row) => [row.event_id, row.user_id!]));
}

const begun = (database: Database) =>
  writeArchive(database, {
    project: null,
    secrets: false,
    part: { kind: "whole" },
    skipDamaged: false,
    footfall: "test",
    nowMs: Date.now(),
    randomText,
  });

const idsOf = (frame: Frame) =>
  decodeBlock(eventsOf(frame).block, 1).map(({ event_id }) => event_id);

async function actorOf(database: Database, user: string): Promise<number> {
  const [row] = await database.query<{ actor_id: number }>(
    "SELECT actor_id FROM identities WHERE project_id = 1 AND kind = 'u' AND value = $1::text",
    [user],
  );
  return row!.actor_id;
}

async function segmentCount(database: Database): Promise<number> {
  return (await database.query("SELECT FROM segments WHERE project_id = 1")).length;
}

onBothEngines(
  "archive: what is committed as it begins, each event once, whatever happens meanwhile",
  async (_t, db) => {
    const database = await openWithProjects(db);
    await dropEmptiedTable(database);
    const projection = createProjection(database);
    const before = new Map<string, string>();
    for (let batch = 0; batch < BATCHES; batch++) {
      for (const [id, user] of await store(database, BATCH_EVENTS)) before.set(id, user);
      await projection.catchUp(1);
    }
    while (await mergeOnce(database, 1));
    // Some that are only in the journal, and more segments, which could be merged.
    for (let batch = 0; batch < 8; batch++) {
      for (const [id, user] of await store(database, 20)) before.set(id, user);
      await projection.catchUp(1);
    }
    for (const [id, user] of await store(database, 30)) before.set(id, user);
    assert.equal(before.size, EVENTS + 190);
    const segments = await segmentCount(database);

    const found: string[] = [];
    let manifest: ArchiveManifest | null = null;
    const erased = ["u03", "u38"];
    for await (const frame of readFrames(await begun(database))) {
      if (frame.kind === "manifest") manifest = jsonOf<ArchiveManifest>(frame);
      if (frame.kind !== "events") continue;
      const isFirst = found.length === 0;
      found.push(...idsOf(frame));
      if (!isFirst) continue;
      // New events come and are projected, two people are erased, and merging waits.
      await store(database, 50);
      await projection.catchUp(1);
      assert.equal(await mergeOnce(database, 1), true);
      assert.equal(await segmentCount(database), segments + 1, "nothing was merged");
      for (const user of erased) {
        const actor = await actorOf(database, user);
        await database.transaction((tx) => eraseActor(tx, 1, actor));
      }
    }
    assert.equal(new Set(found).size, found.length, "no event twice");
    const strange = found.filter((id) => !before.has(id));
    assert.deepEqual(strange, [], "none that was stored later");
    const missing = new Set(before.keys()).difference(new Set(found));
    for (const id of missing) assert.ok(erased.includes(before.get(id)!), before.get(id));
    assert.ok(missing.size > 0, "the erasure came in between");
    assert.equal(manifest!.events.prj_one!.count, found.length);

    // What is counted afterwards is what is there.
    let stored = 0;
    for await (const line of await readFigures(database, "prj_one")) {
      if ("figures" in line) stored = line.figures.prj_one!.count;
    }
    const [ids] = await database.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM event_ids WHERE project_id = 1",
    );
    assert.equal(stored, ids!.count);
  },
);
