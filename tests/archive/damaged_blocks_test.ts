import assert from "node:assert/strict";
import { type DamagedBlock, damagedPlace } from "../../src/archive/damaged_blocks.ts";
import { refusal } from "../../src/db/refusal.ts";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { damageOf } from "../../src/store/damage.ts";
import { decodeHead } from "../../src/store/segment_head.ts";
import { onFreshEngines } from "../support/databases.ts";
import { assertProblem } from "../support/app.ts";
import { newRow } from "../support/event_rows.ts";
import {
  cli,
  done,
  type Env,
  withApp,
  withDatabase,
  withEmbedded,
  withFile,
} from "./archive_world.ts";

/** Of texts as long as these, 300 events are several blocks. */
const EVENTS = 300;
const TEXT_LENGTH = 30_000;
const WAITING = 40;

Deno.test("damage: one event is one, and many have their digits grouped", () => {
  const told = (events: number) =>
    damagedPlace({ project: "prj_one", place: "block 3 of segment 41", events, why: "no" });
  assert.equal(told(1), "Block 3 of segment 41 of prj_one cannot be read (1 event): no.");
  assert.match(told(16_384), /\(16,384 events\)/);
});

const newRows = (projectId: number, count: number) =>
  Array.from({ length: count }, (_, i) => {
    const text = crypto.randomUUID().repeat(Math.ceil(TEXT_LENGTH / 36));
    const properties = JSON.stringify({ text });
    return newRow({ project_id: projectId, user_id: `u${i}`, name: "kept", properties });
  });

/** One segment of several blocks, and two rows of the journal that are not projected. */
async function fill(env: Env): Promise<void> {
  await withApp(env, (app) => app.project({ id: "prj_one" }));
  await withDatabase(env, async (sql) => {
    const [project] = await sql.query<{ project_id: number }>(
      "SELECT project_id FROM projects WHERE public_id = 'prj_one'",
    );
    const { project_id } = project!;
    await insertEvents(sql, newRows(project_id, EVENTS));
    await createProjection(sql).catchUp(project_id);
    for (let row = 0; row < 2; row++) await insertEvents(sql, newRows(project_id, WAITING));
  });
}

/** Turns over one byte of what is stored. */
async function damage(sql: Database, table: string, column: string, id: string, at: number) {
  await sql.query(
    `UPDATE ${table} SET ${column} = set_byte(${column}, $1::int, get_byte(${column}, $1::int) # 255)
    WHERE ${id}`,
    [at],
  );
}

interface Segment extends Record<string, unknown> {
  readonly segment_id: number;
  readonly head: Uint8Array;
  readonly events: number;
}

async function largestSegment(sql: Database): Promise<Segment> {
  const [segment] = await sql.query<Segment>(
    "SELECT segment_id, head, events FROM segments ORDER BY events DESC LIMIT 1",
  );
  return segment!;
}

/** Nothing is written without `--skip-damaged`; with it, all but what is named. */
async function assertNamed(env: Env, file: string, places: readonly string[]): Promise<void> {
  const refused = await cli(env, "archive", file);
  assert.equal(refused.code, 1);
  assert.equal(refused.result.error.code, "archive_refused");
  const [first] = places;
  const sentence = `^${first![0]!.toUpperCase()}${first!.slice(1)} of prj_one cannot be read ` +
    String.raw`\(\d+ events\): .*--skip-damaged`;
  assert.match(refused.result.error.detail, new RegExp(sentence, "s"));
  await assert.rejects(Deno.stat(file), Deno.errors.NotFound, "no part of it is left");

  const { code, result } = await cli(env, "archive", file, "--skip-damaged");
  assert.equal(code, 1, JSON.stringify(result));
  const damaged: DamagedBlock[] = result.damaged;
  assert.deepEqual(damaged.map(({ place }) => place), places);
  const missing = damaged.reduce((sum, { events }) => sum + events, 0);
  assert.ok(missing > 0);
  assert.equal(result.events + missing, EVENTS + 2 * WAITING);
}

/** An export ends with the sentence; with `--skip-damaged` it holds all but what is named. */
async function assertExported(env: Env, places: readonly string[]): Promise<void> {
  await withFile(async (file) => {
    const exporting = ["export", "--project", "prj_one", "--output", file] as const;
    const refused = await cli(env, ...exporting);
    assert.equal(refused.code, 1);
    assert.equal(refused.result.error.code, "damaged_events", JSON.stringify(refused.result));
    const { detail } = refused.result.error;
    assert.ok(detail.toLowerCase().startsWith(`${places[0]} of prj_one cannot be read (`), detail);
    assert.match(detail, /footfall export --skip-damaged` writes everything else/);
    await assert.rejects(Deno.stat(file), Deno.errors.NotFound, "no part of it is left");

    const { code, result } = await cli(env, ...exporting, "--skip-damaged");
    assert.equal(code, 1, JSON.stringify(result));
    const damaged: DamagedBlock[] = result.damaged;
    assert.deepEqual(damaged.map(({ place }) => place), places);
    const missing = damaged.reduce((sum, { events }) => sum + events, 0);
    assert.equal(result.events + missing, EVENTS + 2 * WAITING);
    const lines = (await Deno.readTextFile(file)).trimEnd().split("\n");
    const ids = new Set(lines.map((line) => JSON.parse(line).eventId));
    assert.equal(ids.size, result.events, "each once");

    const none = await cli(env, ...exporting, "--skip-damaged", "--bots", "only");
    assert.equal(none.result.events, 0);
    const late = await cli(
      env,
      ...exporting,
      "--skip-damaged",
      "--from",
      "2001-01-01",
      "--to",
      "2001-01-02",
    );
    assert.equal(late.result.events, 0, JSON.stringify(late.result));
    const filters = '[{"field":"name","op":"is","values":["kept"]}]';
    assert.equal((await cli(env, ...exporting, "--skip-damaged", "--filters", filters)).code, 2);
  });
}

/** What was left out is missing alone. */
async function assertRestored(file: string, places: readonly string[]): Promise<void> {
  await withEmbedded(async (target) => {
    const { damaged, events } = await done(target, "restore", file, "--dry-run");
    assert.deepEqual(damaged.map(({ place }: DamagedBlock) => place), places);
    const restored = await done(target, "restore", file);
    assert.deepEqual(restored.events, { stored: events, known: 0 });
    for (const { verdict } of restored.compared) assert.equal(verdict, "same");
  });
}

/** Reads that need what is damaged say so, in place of a connection that breaks off. */
async function assertToldByReads(env: Env, segment: string): Promise<void> {
  await withApp(env, async (app) => {
    const headers = { Authorization: `Bearer ${app.app.controlToken}` };
    const lines = { ...headers, Accept: "application/x-ndjson" };
    for (
      const [path, asked] of [["events", headers], ["events", lines], ["kpis", headers]] as const
    ) {
      const reply = await app.fetch(`/v1/${path}?project=prj_one&bots=include`, { headers: asked });
      assertProblem(reply, 500, "damaged_events");
      const begin = segment[0]!.toUpperCase() + segment.slice(1);
      assert.ok(reply.body.detail.startsWith(`${begin}'s directory is damaged`), reply.body.detail);
      assert.match(reply.body.detail, /check the disk .*`footfall export --skip-damaged` writes/s);
    }
  });
}

onFreshEngines("archive: what cannot be read is named, and can be left out", async (t, db) => {
  await fill(db.env);
  await withFile(async (file) => {
    const change = (work: (sql: Database) => Promise<unknown>) => withDatabase(db.env, work);
    let segment = "";
    let row = "";
    await t.step("a block of a segment", async () => {
      await change(async (sql) => {
        const { segment_id, head } = await largestSegment(sql);
        const { places, firstIdentities } = decodeHead(head);
        assert.ok(firstIdentities.length > 2, "it has several blocks");
        segment = `segment ${segment_id}`;
        const at = places.get("ids")!.starts[1]!;
        await damage(sql, "segments", "body", `segment_id = ${segment_id}`, at + 3);
      });
      await assertNamed(db.env, file, [`block 1 of ${segment}`]);
      await Deno.remove(file);
    });
    await t.step("and a row of the journal", async () => {
      await change(async (sql) => {
        const [waiting] = await sql.query<{ journal_id: number }>(
          "SELECT max(journal_id) AS journal_id FROM journal",
        );
        row = `row ${waiting!.journal_id} of the journal`;
        await damage(sql, "journal", "block", `journal_id = ${waiting!.journal_id}`, 30);
      });
      await assertNamed(db.env, file, [`block 1 of ${segment}`, row]);
      await assertExported(db.env, [`block 1 of ${segment}`, row]);
      await assertRestored(file, [`block 1 of ${segment}`, row]);
      await Deno.remove(file);
    });
    await t.step("a segment that ends too soon", async () => {
      let blocks = 0;
      await change(async (sql) => {
        const { segment_id, head } = await largestSegment(sql);
        blocks = decodeHead(head).firstIdentities.length;
        await sql.query(
          "UPDATE segments SET body = ''::bytea WHERE segment_id = $1::int8",
          [segment_id],
        );
      });
      const places = Array.from({ length: blocks }, (_, block) => `block ${block} of ${segment}`);
      await assertNamed(db.env, file, [...places, row]);
      await Deno.remove(file);
    });
    await t.step("a segment whose directory is damaged", async () => {
      await change(async (sql) => {
        const { segment_id } = await largestSegment(sql);
        await damage(sql, "segments", "head", `segment_id = ${segment_id}`, 5);
      });
      await assertNamed(db.env, file, [segment, row]);
      await Deno.remove(file);
      await assertToldByReads(db.env, segment);
    });
  });
});

Deno.test("damageOf: pages that the database calls damaged, and no other failure of it", () => {
  for (const code of ["XX001", "XX002"]) {
    assert.match(
      damageOf(refusal("invalid page in block 7", code))!,
      /page of its own is damaged$/,
    );
  }
  for (const code of ["XX000", "53100", "57P01", "42601"]) {
    assert.equal(damageOf(refusal("other", code)), null);
  }
  assert.equal(damageOf(new Error("A journal block is damaged")), null);
});
