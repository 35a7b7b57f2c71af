import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { createFold, type FoldOptions } from "../../src/sessions/fold.ts";
import { eraseActor } from "../../src/sessions/forget.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { foldedState } from "./folded_state.ts";

const START_MS = Date.parse("2026-03-01T17:00:00Z");

/** Events of a project, one of them by name; the ids tell their order in a mark. */
function someEvents(projectId: number, count: number, poisonAt: number) {
  return Array.from({ length: count }, (_, i) =>
    newRow({
      project_id: projectId,
      event_id: `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`,
      anonymous_id: `a${i % 7}`,
      name: i === poisonAt ? "poison" : "page_view",
      path: `/${i % 5}`,
      occurred_at: new Date(START_MS + i * 60_000).toISOString(),
    }));
}

/** Facts of events by the name of `poison` must pass `test`, which fails or takes its time. */
async function poison(database: Database, test: string): Promise<void> {
  await database.script(`
    CREATE FUNCTION passes(project int, name int) RETURNS bool LANGUAGE sql AS $$
      SELECT CASE WHEN EXISTS (
        SELECT FROM terms WHERE project_id = project AND term_id = name AND term = 'poison')
      THEN ${test} ELSE true END $$;
    ALTER TABLE facts ADD CONSTRAINT poisoned CHECK (passes(project_id, name_id))`);
}

const cure = (database: Database) => database.script("ALTER TABLE facts DROP CONSTRAINT poisoned");

async function counts(database: Database, projectId: number) {
  const [row] = await database.query(
    `SELECT (SELECT count(*)::int FROM facts WHERE project_id = $1::int) AS facts,
      (SELECT coalesce(sum(event_count), 0)::int FROM fold_marks WHERE project_id = $1::int) AS pending`,
    [projectId],
  );
  return row;
}

/** A fold, with what it told of its failures. */
function observed(database: Database, options: FoldOptions = {}) {
  const causes: string[] = [];
  const lines: string[] = [];
  const fold = createFold(database, {
    ...options,
    log: { warn: (message, fields) => lines.push(JSON.stringify([message, fields])) },
    observeFailure: (cause) => causes.push(cause),
  });
  return { fold, causes, lines };
}

onBothEngines("fold: one event that cannot be folded holds up no other", async (t, db) => {
  const database = await openWithProjects(db);
  const { fold, causes, lines } = observed(database);
  await poison(database, "false");
  await insertEvents(database, someEvents(1, 100, 61));

  await t.step("it is set aside alone, and told by its cause only", async () => {
    await fold.catchUp(1);
    assert.deepEqual(await counts(database, 1), { facts: 99, pending: 1 });
    // 100, 50 of the second half, and so on down to one.
    assert.ok(causes.length < 12, causes.join());
    assert.equal(causes.filter((cause) => cause === "set_aside").length, 1);
    assert.ok(causes.every((cause) => cause === "23514" || cause === "set_aside"), causes.join());
    assert.ok(lines.every((line) => !line.includes("poison")), lines.join("\n"));
  });
  await t.step("what comes after it is folded at once, and it is left alone", async () => {
    const before = causes.length;
    const later = someEvents(1, 120, 61).slice(100);
    await insertEvents(database, later);
    await fold.catchUp(1);
    assert.deepEqual(await counts(database, 1), { facts: 119, pending: 1 });
    assert.equal(causes.length, before);
  });
  await t.step("it is tried again later, and counted once it can be", async () => {
    await database.script("UPDATE fold_marks SET set_aside_until = now() - interval '1 s'");
    const stop = new AbortController();
    const running = fold.run(stop.signal);
    const isSoon = async (holds: () => boolean | Promise<boolean>) => {
      for (let i = 0; i < 300 && !await holds(); i++) await wait(100);
      assert.ok(await holds());
    };
    try {
      await isSoon(() => causes.filter((cause) => cause === "set_aside").length === 2);
      await cure(database);
      await database.script("UPDATE fold_marks SET set_aside_until = now() - interval '1 s'");
      await isSoon(async () => (await counts(database, 1))!.pending === 0);
    } finally {
      stop.abort();
      await running;
    }
    await insertEvents(database, someEvents(2, 120, 61));
    await fold.catchUp(2);
    assert.deepEqual(await foldedState(database, 1), await foldedState(database, 2));
  });
});

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

onBothEngines("fold: who is erased leaves nothing that was set aside", async (_t, db) => {
  const database = await openWithProjects(db);
  const { fold } = observed(database);
  await poison(database, "false");
  await insertEvents(database, someEvents(1, 14, 10));
  await fold.catchUp(1);
  const [whose] = await database.query<{ actor_id: number }>(
    "SELECT actor_id FROM identities WHERE project_id = 1 AND value = 'a3'",
  );
  assert.equal(await eraseActor(database, 1, whose!.actor_id), 2);
  const left = await database.query("SELECT FROM events WHERE anonymous_id = 'a3'");
  assert.equal(left.length, 0);
});

onBothEngines("fold: what takes too long is halved, and other projects go on", async (t, db) => {
  const database = await openWithProjects(db);
  const slowly = database.engine === "postgres"
    ? "pg_sleep(0.4) IS NOT NULL"
    : "(SELECT sum(a) > 0 FROM generate_series(1, 1000000) a)";
  await poison(database, slowly);
  const { fold, causes } = observed(database, { msMax: 3_000 });
  const slow = someEvents(1, 12, -1).map((row) => ({ ...row, name: "poison" }));
  await insertEvents(database, slow);
  await insertEvents(database, someEvents(2, 64, -1));

  await t.step("the other one is folded while this one fails", async () => {
    const folding = fold.catchUp(1);
    await fold.catchUp(2);
    assert.deepEqual(await counts(database, 2), { facts: 64, pending: 0 });
    await folding;
  });
  await t.step("and this one is folded in smaller parts", async () => {
    assert.deepEqual(await counts(database, 1), { facts: 12, pending: 0 });
    assert.ok(causes.every((cause) => cause === "57014" || cause === "too_long"), causes.join());
  });
});

onBothEngines("fold: who waits a while for it waits no longer", async (_t, db) => {
  const database = await openWithProjects(db);
  const fold = createFold(database);
  await insertEvents(database, someEvents(1, 50, -1));
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  // Somebody else folds the project, or has the one session.
  const elsewhere = database.transaction(async (tx) => {
    await tx.query("INSERT INTO fold_projects (project_id) VALUES (1) ON CONFLICT DO NOTHING");
    await tx.query("SELECT FROM fold_projects WHERE project_id = 1 FOR UPDATE");
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  const startedAt = performance.now();
  await fold.catchUpWithin(1, 200);
  assert.ok(performance.now() - startedAt < 900);
  held.resolve();
  await elsewhere;
  await fold.catchUp(1);
  assert.deepEqual(await counts(database, 1), { facts: 50, pending: 0 });
});
