import assert from "node:assert/strict";
import { type Database, DatabaseUnavailable, type Sql } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { PROJECTION_SIGNS_OWED_MAX } from "../../src/projection/projection_limits.ts";
import {
  ProjectionThread,
  type ProjectionThreadOptions,
} from "../../src/projection/projection_thread.ts";
import { projectedState as pendingState } from "../../src/reports/answer/projected_state.ts";
import { onBothEngines, type TestDatabase } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { withMembers } from "../support/fake_sql.ts";
import { projectedState } from "./projected_state.ts";

const START_MS = Date.parse("2026-03-01T17:00:00Z");
const WAIT_MS = 20;

function someEvents(projectId: number, from: number, to: number) {
  return Array.from({ length: to - from }, (_, i) => from + i).map((i) =>
    newRow({
      project_id: projectId,
      event_id: `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`,
      anonymous_id: `a${i % 7}`,
      name: "page_view",
      path: `/${i % 5}`,
      occurred_at: new Date(START_MS + i * 60_000).toISOString(),
    })
  );
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!await holds()) await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
}

const pendingOf = async (sql: Sql, projectId: number) =>
  (await pendingState(sql, projectId)).pending;

/** The projection in its thread, with its workers, and what it told of its failures. */
function threadOn(
  { url }: TestDatabase,
  database: Database,
  options: ProjectionThreadOptions = {},
) {
  const workers: Worker[] = [];
  const causes: string[] = [];
  // No request: it throws where nobody catches.
  const kill = () => workers.at(-1)!.postMessage(null);
  const state = { endsAtOnce: false };
  const thread = new ProjectionThread(database, url, {
    ...options,
    observeFailure: (cause) => causes.push(cause),
    createWorker: () => {
      const worker = new Worker(
        import.meta.resolve("../../src/projection/projection_worker.ts"),
        { type: "module" },
      );
      workers.push(worker);
      if (state.endsAtOnce) kill();
      return worker;
    },
  });
  return { thread, workers, causes, kill, state };
}

/** What another thread made is what this one makes of the same events. */
async function assertSame(database: Database, count: number): Promise<void> {
  await insertEvents(database, someEvents(2, 0, count));
  await createProjection(database).catchUp(2);
  assert.deepEqual(await projectedState(database, 1), await projectedState(database, 2));
}

onBothEngines(
  "projection thread: projects what is asked for, and what is pending",
  async (t, db) => {
    const database = await openWithProjects(db);
    const { thread, workers, causes } = threadOn(db, database);

    await t.step("nothing pending starts no worker", async () => {
      await thread.catchUp(1);
      await thread.catchUpWithin(1, 1_000);
      assert.equal(workers.length, 0);
    });
    await t.step("what a read waits for", async () => {
      await insertEvents(database, someEvents(1, 0, 50));
      await thread.catchUp(1);
      assert.equal(await pendingOf(database, 1), 0);
      await insertEvents(database, someEvents(1, 50, 60));
      await until(async () => {
        await thread.catchUpWithin(1, 1_000);
        return await pendingOf(database, 1) === 0;
      });
    });
    await t.step("what nobody waits for, until it is stopped", async () => {
      const stop = new AbortController();
      const running = thread.run(stop.signal);
      await insertEvents(database, someEvents(1, 60, 90));
      await until(async () => await pendingOf(database, 1) === 0);
      stop.abort();
      await running;
    });
    await t.step("settings that have changed", async () => {
      await database.script("UPDATE projects SET timezone = 'Asia/Tokyo'");
      await thread.catchUp(1);
      assert.equal((await pendingState(database, 1)).timezone, "Asia/Tokyo");
    });
    await thread.close();
    await assertSame(database, 90);
    assert.deepEqual([workers.length, causes], [1, []]);
    await insertEvents(database, someEvents(1, 90, 91));
    await assert.rejects(thread.catchUp(1), DatabaseUnavailable);
  },
);

onBothEngines("projection thread: tells what fails in it", async (_t, db) => {
  const database = await openWithProjects(db);
  const lines: string[] = [];
  const log = { warn: (message: string) => lines.push(message) };
  const { thread, causes } = threadOn(db, database, { log });
  await database.script("ALTER TABLE terms ADD CONSTRAINT poisoned CHECK (term <> '/4')");
  await insertEvents(database, someEvents(1, 0, 8));
  await thread.catchUp(1);
  assert.equal(await pendingOf(database, 1), 1);
  assert.ok(causes.includes("23514") && causes.includes("set_aside"), causes.join());
  assert.ok(lines.includes("projection failed") && lines.includes("event set aside"));
  await thread.close();
});

/** Calls `reached` once a transaction of the projection has written something that it has not committed. */
async function insideTransaction(
  database: Database,
  thread: (on: Database) => ProjectionThread,
  reached: (thread: ProjectionThread) => void,
): Promise<void> {
  if (database.engine === "embedded") {
    const inside = Promise.withResolvers<void>();
    const watched = withMembers(database, {
      transaction: (work, ...others) =>
        database.transaction((tx) => {
          const query: Sql["query"] = async (text, params) => {
            const rows = await tx.query(text, params);
            if (text.includes("INSERT INTO segments")) inside.resolve();
            return rows as never;
          };
          return work(withMembers(tx, { query }));
        }, ...others),
    });
    const own = thread(watched);
    const asked = own.catchUp(1).catch(() => {});
    await inside.promise;
    reached(own);
    return await asked;
  }
  const own = thread(database);
  let asked: Promise<void> | undefined;
  await database.transaction(async (tx) => {
    // Whoever writes a segment waits: its transaction has written everything else.
    await tx.query("LOCK TABLE segments IN EXCLUSIVE MODE");
    asked = own.catchUp(1).catch(() => {});
    await until(async () =>
      (await database.query("SELECT FROM pg_locks WHERE NOT granted")).length > 0
    );
    reached(own);
    await asked;
  });
}

onBothEngines("projection thread: a worker that ends leaves nothing half done", async (t, db) => {
  const database = await openWithProjects(db);
  await insertEvents(database, someEvents(1, 0, 40));
  let made: ReturnType<typeof threadOn> | undefined;
  let thread: ProjectionThread | undefined;
  const make = (on: Database) => (made = threadOn(db, on)).thread;

  await t.step("in the middle of a transaction", async () => {
    await insideTransaction(database, make, (own) => {
      thread = own;
      made!.kill();
      made!.state.endsAtOnce = true;
    });
    assert.equal(await pendingOf(database, 1), 40);
    assert.equal(made!.causes[0], "worker_ended");
  });
  await t.step("meanwhile reads wait no longer, and what must wait is refused", async () => {
    await thread!.catchUpWithin(1, 60_000);
    assert.equal(await pendingOf(database, 1), 40);
    await assert.rejects(thread!.catchUp(1), DatabaseUnavailable);
    made!.state.endsAtOnce = false;
  });
  await t.step("and another one goes on", async () => {
    const stop = new AbortController();
    const running = thread!.run(stop.signal);
    await until(async () => await pendingOf(database, 1) === 0);
    await insertEvents(database, someEvents(1, 40, 50));
    made!.kill();
    await until(async () => await pendingOf(database, 1) === 0);
    stop.abort();
    await running;
    assert.ok(made!.workers.length >= 2);
  });
  await thread!.close();
  await assertSame(database, 50);
});

onBothEngines("projection thread: closed in the middle of a transaction", async (_t, db) => {
  const database = await openWithProjects(db);
  await insertEvents(database, someEvents(1, 0, 40));
  let closing: Promise<void> | undefined;
  await insideTransaction(database, (on) => threadOn(db, on).thread, (thread) => {
    closing = thread.close();
  });
  await closing;
  assert.equal(await pendingOf(database, 1), 40);
  await createProjection(database).catchUp(1);
  await assertSame(database, 40);
});

/**
 * A worker that never answers: it hangs from its first message on. It waits, because a loop would go on after the worker
 * is ended, until the process does, and take a processor from the tests that follow.
 */
const hangingWorker = () =>
  new Worker(
    `data:text/javascript,${
      encodeURIComponent(
        "onmessage = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);",
      )
    }`,
    { type: "module" },
  );

onBothEngines(
  "projection thread: a worker that gives no sign of life is replaced",
  async (_t, db) => {
    const database = await openWithProjects(db);
    await insertEvents(database, someEvents(1, 0, 30));
    const causes: string[] = [];
    let workers = 0;
    const thread = new ProjectionThread(database, db.url, {
      observeFailure: (cause) => causes.push(cause),
      signPauseMs: WAIT_MS,
      createWorker: () =>
        workers++ === 0
          ? hangingWorker()
          : new Worker(import.meta.resolve("../../src/projection/projection_worker.ts"), {
            type: "module",
          }),
    });
    await assert.rejects(thread.catchUp(1), DatabaseUnavailable);
    assert.deepEqual(causes, ["worker_silent"]);
    await thread.close();
  },
);

/** A worker that says "asked" as often as it is asked for a sign of life, and does nothing else. */
const signingWorker = () =>
  new Worker(
    `data:text/javascript,${
      encodeURIComponent(`onmessage = ({ data }) => {
        if (data.kind === "sign") postMessage({ kind: "failure", cause: "asked" });
      };`)
    }`,
    { type: "module" },
  );

onBothEngines("projection thread: a worker that gives signs of life stays", async (_t, db) => {
  const database = await openWithProjects(db);
  await insertEvents(database, someEvents(1, 0, 3));
  const causes: string[] = [];
  const thread = new ProjectionThread(database, db.url, {
    observeFailure: (cause) => causes.push(cause),
    signPauseMs: 500,
    createWorker: signingWorker,
  });
  const asked = assert.rejects(thread.catchUp(1), DatabaseUnavailable);
  await until(() => causes.length > PROJECTION_SIGNS_OWED_MAX + 1);
  assert.deepEqual(new Set(causes), new Set(["asked"]));
  // It never answers what it was asked: closing does not wait for it.
  await thread.close();
  await asked;
});
