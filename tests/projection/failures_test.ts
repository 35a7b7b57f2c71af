import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { createProjection, type ProjectionOptions } from "../../src/projection/projection.ts";
import { eraseActor } from "../../src/projection/erasure.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects, storedRows } from "../support/event_rows.ts";
import { projectedState as stateOf } from "./projected_state.ts";
import { projectedState } from "../../src/reports/answer/projected_state.ts";

const START_MS = Date.parse("2026-03-01T17:00:00Z");

/** Events that come one by one while another waits: one in 100 ms, for 20 s. */
const MORE = 320;

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

/** No event by the name of `poison` can be projected. */
const poison = (database: Database) =>
  database.script("ALTER TABLE terms ADD CONSTRAINT poisoned CHECK (term <> 'poison')");

const cure = (database: Database) => database.script("ALTER TABLE terms DROP CONSTRAINT poisoned");

/** How long a batch may take: three sessions do not, on a machine that is busy either. */
const BATCH_MS_MAX = 3_000;

/** A batch with more than three sessions of project 1 takes longer than that, however fast the machine is. */
async function slowDown(database: Database): Promise<void> {
  const tooLong = `interval '${BATCH_MS_MAX + 500} ms'`;
  // The embedded engine can neither sleep, nor be stopped amid a statement.
  const slowly = database.engine === "postgres"
    ? `pg_sleep_for(${tooLong}) IS NOT NULL`
    : `EXISTS (SELECT FROM (SELECT generate_series(1, 2000000000)) AS numbers
        WHERE clock_timestamp() > statement_timestamp() + ${tooLong})`;
  const before = "coalesce(nullif(current_setting('slow.sessions', true), ''), '0')::int";
  await database.script(`
    CREATE FUNCTION passes(project int) RETURNS bool LANGUAGE sql AS $$
      SELECT CASE WHEN project <> 1 THEN true
        WHEN set_config('slow.sessions', (${before} + 1)::text, true)::int <= 3 THEN true
        ELSE ${slowly} END $$;
    ALTER TABLE sessions ADD CONSTRAINT slow CHECK (passes(project_id))`);
}

async function counts(database: Database, projectId: number) {
  const [row] = await database.query(
    `SELECT (SELECT coalesce(sum(events), 0)::int FROM segments WHERE project_id = $1::int) AS stored,
      (SELECT coalesce(sum(CASE WHEN projected_at IS NULL THEN event_count - projected_count ELSE 0 END
        + coalesce(cardinality(set_aside_ids), 0)), 0)::int
      FROM journal WHERE project_id = $1::int) AS pending`,
    [projectId],
  );
  return row;
}

/** A projection, with what it told of its failures. */
function observed(database: Database, options: ProjectionOptions = {}) {
  const causes: string[] = [];
  const lines: string[] = [];
  const projection = createProjection(database, {
    ...options,
    log: { warn: (message, fields) => lines.push(JSON.stringify([message, fields])) },
    observeFailure: (cause) => causes.push(cause),
  });
  return { projection, causes, lines };
}

onBothEngines("projection: one event that cannot be projected holds up no other", async (t, db) => {
  const database = await openWithProjects(db);
  const { projection, causes, lines } = observed(database);
  await poison(database);
  await insertEvents(database, someEvents(1, 100, 61));

  await t.step("it is set aside alone, and told by its cause only", async () => {
    await projection.catchUp(1);
    assert.deepEqual(await counts(database, 1), { stored: 99, pending: 1 });
    // 100, 50 of the second half, and so on down to one.
    assert.ok(causes.length < 12, causes.join());
    assert.equal(causes.filter((cause) => cause === "set_aside").length, 1);
    assert.ok(causes.every((cause) => cause === "23514" || cause === "set_aside"), causes.join());
    assert.ok(lines.every((line) => !line.includes("poison")), lines.join("\n"));
  });
  await t.step("what comes after it is projected at once, and it is left alone", async () => {
    const before = causes.length;
    const later = someEvents(1, 120, 61).slice(100);
    await insertEvents(database, later);
    await projection.catchUp(1);
    assert.deepEqual(await counts(database, 1), { stored: 119, pending: 1 });
    assert.equal(causes.length, before);
  });
  await t.step("it is tried again later, and counted once it can be", async () => {
    await database.script("UPDATE journal SET set_aside_until = now() - interval '1 s'");
    const stop = new AbortController();
    const running = projection.run(stop.signal);
    const isSoon = async (holds: () => boolean | Promise<boolean>) => {
      for (let i = 0; i < 300 && !await holds(); i++) await wait(100);
      assert.ok(await holds());
    };
    try {
      await isSoon(() => causes.filter((cause) => cause === "set_aside").length === 2);
      await cure(database);
      await database.script("UPDATE journal SET set_aside_until = now() - interval '1 s'");
      // Though others are pending at each look.
      const more = someEvents(1, MORE, 61).slice(120).values();
      await isSoon(async () => {
        const { value: next } = more.next();
        if (next !== undefined) await insertEvents(database, [next]);
        const [aside] = await database.query(
          "SELECT 1 FROM journal WHERE set_aside_ids IS NOT NULL",
        );
        return aside === undefined;
      });
      assert.ok(more.next().done === false, "it was tried only once no other came");
      await insertEvents(database, someEvents(1, MORE, 61).slice(120));
      await isSoon(async () => (await counts(database, 1))!.pending === 0);
    } finally {
      stop.abort();
      await running;
    }
    await insertEvents(database, someEvents(2, MORE, 61));
    await projection.catchUp(2);
    assert.deepEqual(await stateOf(database, 1), await stateOf(database, 2));
  });
});

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

onBothEngines("projection: who is erased leaves nothing that was set aside", async (_t, db) => {
  const database = await openWithProjects(db);
  const { projection } = observed(database);
  await poison(database);
  await insertEvents(database, someEvents(1, 14, 10));
  await projection.catchUp(1);
  const [whose] = await database.query<{ actor_id: number }>(
    "SELECT actor_id FROM identities WHERE project_id = 1 AND value = 'a3'",
  );
  const { eventIds } = await database.transaction((tx) => eraseActor(tx, 1, whose!.actor_id));
  assert.equal(eventIds.length, 2);
  const left = (await storedRows(database)).map(({ anonymous_id }) => anonymous_id);
  assert.equal(left.length, 12);
  assert.ok(!left.includes("a3"));
  const ids = await database.query("SELECT 1 FROM event_ids");
  assert.equal(ids.length, 12);
});

onBothEngines(
  "projection: what takes too long is halved, and other projects go on",
  async (t, db) => {
    const database = await openWithProjects(db);
    await slowDown(database);
    const { projection, causes } = observed(database, { msMax: BATCH_MS_MAX });
    const slow = someEvents(1, 12, -1).map((row, i) => ({ ...row, anonymous_id: `a${i}` }));
    await insertEvents(database, slow);
    await insertEvents(database, someEvents(2, 64, -1));

    await t.step("the other one is projected while this one fails", async () => {
      const projecting = projection.catchUp(1);
      await projection.catchUp(2);
      assert.deepEqual(await counts(database, 2), { stored: 64, pending: 0 });
      await projecting;
    });
    await t.step("and this one is projected in smaller parts", async () => {
      assert.deepEqual(await counts(database, 1), { stored: 12, pending: 0 });
      assert.ok(causes.length >= 2, "twelve and six take too long");
      assert.ok(causes.every((cause) => cause === "57014" || cause === "too_long"), causes.join());
    });
  },
);

onBothEngines("projection: who waits a while for it waits no longer", async (_t, db) => {
  const database = await openWithProjects(db);
  const projection = createProjection(database);
  await insertEvents(database, someEvents(1, 50, -1));
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  // Somebody else projects the project, or has the one session.
  const elsewhere = database.transaction(async (tx) => {
    await tx.query("INSERT INTO projections (project_id) VALUES (1) ON CONFLICT DO NOTHING");
    await tx.query("SELECT FROM projections WHERE project_id = 1 FOR UPDATE");
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  // It ends while it is held: who waits longer waits for good.
  await projection.catchUpWithin(1, 200);
  held.resolve();
  await elsewhere;
  await projection.catchUp(1);
  assert.deepEqual(await counts(database, 1), { stored: 50, pending: 0 });
});

onBothEngines("projection: a block that cannot be read holds up no other", async (t, db) => {
  const database = await openWithProjects(db);
  const { projection, causes } = observed(database);
  for (const from of [0, 10, 20]) {
    await insertEvents(database, someEvents(1, 30, -1).slice(from, from + 10));
  }
  const damaged = "project_id = 1 AND journal_id = (SELECT min(journal_id) + 1 FROM journal)";
  const flip = () =>
    database.script(
      `UPDATE journal SET block = set_byte(block, 9, 255 - get_byte(block, 9)) WHERE ${damaged}`,
    );
  await flip();
  await t.step("it is set aside whole, and pending", async () => {
    await projection.catchUp(1);
    assert.deepEqual(causes, ["unreadable_block"]);
    assert.deepEqual(await counts(database, 1), { stored: 20, pending: 0 });
    const { pending } = await projectedState(database, 1);
    assert.equal(pending, 10);
  });
  await t.step("and projected once it can be read", async () => {
    await flip();
    await database.script(
      "UPDATE journal SET set_aside_until = now() - interval '1 s' WHERE set_aside_until IS NOT NULL",
    );
    const stop = new AbortController();
    const running = projection.run(stop.signal);
    for (let i = 0; i < 300 && (await projectedState(database, 1)).pending > 0; i++) await wait(50);
    stop.abort();
    await running;
    assert.deepEqual(await counts(database, 1), { stored: 30, pending: 0 });
  });
});
