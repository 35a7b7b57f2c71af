import assert from "node:assert/strict";
import { endLease, takeLease } from "../../src/screenshots/queue/capture_lease.ts";
import {
  claimTask,
  deleteOldJobs,
  endTask,
  findJob,
  giveBack,
  isAnythingDue,
  type NewJob,
  queueJob,
  sweepTasks,
  type Task,
} from "../../src/screenshots/queue/capture_queue.ts";
import { CAPTURE_TASKS_MAX } from "../../src/screenshots/capture_limits.ts";
import { CAPTURE_DEVICES, transient, verdict } from "../../src/screenshots/capture_status.ts";
import type { Database } from "../../src/db/sql.ts";
import { ServedProjects } from "../../src/db/served_projects.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";

const NOON = Date.parse("2026-11-21T12:00:00Z");
const SECOND = 1_000;
const DAY = 86_400_000;
const CAPTURED = verdict("captured", "The page was captured.");
const GIVEN_UP = verdict("render_failed", "It ended the browser.");
const LATER = transient("The site did not answer.");

let jobs = 0;

/** Queues a job of project 1 at noon, by an operator unless it is told otherwise. @returns its id */
async function queue(database: Database, job: Partial<NewJob>): Promise<string> {
  const jobId = `job_${String(++jobs).padStart(20, "0")}`;
  const isNew = await queueJob(database, {
    projectId: 1,
    jobId,
    paths: ["/"],
    devices: ["desktop"],
    nowMs: NOON,
    dueMs: null,
    ...job,
  });
  return isNew ? jobId : "";
}

async function jobOf(database: Database, id: string) {
  const job = await findJob(database, id, "*");
  assert.ok(job);
  return job;
}

/** The statuses of a job's captures, by page. */
async function statuses(database: Database, id: string): Promise<string[]> {
  const { status, captures } = await jobOf(database, id);
  return [status, ...captures.map((one) => `${one.path} ${one.device} ${one.status}`)];
}

async function unfinished(database: Database): Promise<number> {
  return (await database.query("SELECT FROM capture_tasks WHERE state <> 'done'")).length;
}

async function claim(database: Database, nowMs = NOON, owner = "one"): Promise<Task> {
  const task = await claimTask(database, owner, nowMs);
  assert.ok(task, "nothing is due");
  return task;
}

/** Takes and ends everything that is due, in order. @returns its pages */
async function workOff(
  database: Database,
  nowMs = NOON,
  served = new ServedProjects(),
): Promise<string[]> {
  const pages: string[] = [];
  for (;;) {
    const task = await claimTask(database, "one", nowMs, served);
    if (task === null) return pages;
    pages.push(`${task.projectId} ${task.path} ${task.device}`);
    assert.ok(await endTask(database, task, CAPTURED, nowMs));
  }
}

type Step = (database: Database) => Promise<void>;
const steps = new Map<string, Step>();

onBothEngines("queue", async (t, db) => {
  const database = await openWithProjects(db);
  await database.script(
    "UPDATE projects SET site_url = 'https://shop.example' WHERE project_id = 1",
  );
  assert.ok(await takeLease(database, "one"));
  for (const [name, step] of steps) {
    await t.step(name, async () => {
      await step(database);
      await database.script("DELETE FROM capture_jobs; DELETE FROM capture_tasks");
    });
  }
  await t.step("one owner has the lease; it ends by itself, or when it is given back", async () => {
    assert.equal(await takeLease(database, "two"), false);
    assert.ok(await takeLease(database, "one"), "renewed");
    await database.script("UPDATE capture_lease SET expires_at = now() - interval '1 ms'");
    assert.ok(await takeLease(database, "two"));
    assert.equal(await takeLease(database, "one"), false);
    await endLease(database, "one");
    assert.equal(await takeLease(database, "one"), false, "another's is not given back");
    await endLease(database, "two");
    assert.ok(await takeLease(database, "one"));
  });
});

steps.set("a job is each page on each device, in the order asked for", async (database) => {
  const id = await queue(database, {
    paths: ["/b", "/a", "/b"],
    devices: ["tablet", "desktop", "tablet"],
  });
  const pages = ["/b tablet", "/b desktop", "/a tablet", "/a desktop"];
  assert.deepEqual(await statuses(database, id), [
    "queued",
    ...pages.map((page) => `${page} pending`),
  ]);
  const taken = await claim(database);
  assert.deepEqual([taken.siteUrl, taken.failures], ["https://shop.example", 0]);
  const { status, captures } = await jobOf(database, id);
  assert.equal(status, "running");
  const running = captures.find(({ path, device }) =>
    path === taken.path && device === taken.device
  );
  assert.deepEqual([running?.status, running?.message], [
    "pending",
    "The capture is being taken.",
  ]);
  assert.ok(await endTask(database, taken, CAPTURED, NOON));
  assert.equal((await workOff(database)).length, 3);
  assert.deepEqual(await statuses(database, id), [
    "done",
    ...pages.map((page) => `${page} captured`),
  ]);
  assert.equal(await isAnythingDue(database, NOON + DAY), false);
  const nothing = await queue(database, { paths: [] });
  assert.deepEqual(await statuses(database, nothing), ["done"]);
});

steps.set("a page that waits or is being taken is shared, not queued twice", async (database) => {
  const first = await queue(database, { paths: ["/", "/a"] });
  const taken = await claim(database);
  const second = await queue(database, { paths: ["/a", "/", "/b"] });
  assert.equal(await unfinished(database), 3);
  assert.ok(await endTask(database, taken, CAPTURED, NOON));
  assert.equal((await workOff(database)).length, 2);
  assert.equal((await jobOf(database, first)).status, "done");
  assert.deepEqual(await statuses(database, second), [
    "done",
    "/a desktop captured",
    "/ desktop captured",
    "/b desktop captured",
  ]);
  const third = await queue(database, {});
  assert.deepEqual(await statuses(database, third), ["queued", "/ desktop pending"]);
});

steps.set("many at once queue each page once", async (database) => {
  const paths = Array.from({ length: 30 }, (_, i) => `/${i}`);
  const ids = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      queue(database, {
        paths: i % 2 === 0 ? paths : paths.toReversed(),
        devices: i % 3 === 0 ? CAPTURE_DEVICES : CAPTURE_DEVICES.toReversed(),
      })),
  );
  assert.equal(await unfinished(database), 90);
  const pages = await workOff(database);
  assert.deepEqual([pages.length, new Set(pages).size], [90, 90]);
  for (const id of ids) assert.equal((await jobOf(database, id)).status, "done");
});

steps.set("tasks that are taken at once are different ones", async (database) => {
  await queue(database, { paths: ["/1", "/2", "/3", "/4", "/5", "/6"] });
  const tasks = await Promise.all(
    Array.from({ length: 9 }, () => claimTask(database, "one", NOON)),
  );
  const pages = tasks.flatMap((task) => task === null ? [] : [task.path]);
  assert.equal(new Set(pages).size, pages.length);
  const left = await workOff(database);
  assert.equal(pages.length + left.length, 6);
});

steps.set("what an operator waits for goes first, and its project is its own", async (database) => {
  const daily = await queue(database, { paths: ["/a", "/b", "/c"], dueMs: NOON });
  const other = await queue(database, { projectId: 2, paths: ["/b"], nowMs: NOON + SECOND });
  await queue(database, { paths: ["/c"], nowMs: NOON + 2 * SECOND });
  assert.equal(await unfinished(database), 4);
  const pages = await workOff(database, NOON + 2 * SECOND);
  assert.deepEqual(pages, ["1 /c desktop", "2 /b desktop", "1 /a desktop", "1 /b desktop"]);
  assert.ok(await findJob(database, daily, ["prj_one"]));
  assert.equal(await findJob(database, daily, ["prj_two", "prj_none"]), null);
  assert.equal(await findJob(database, other, []), null);
  assert.equal(await findJob(database, "job_x", "*"), null);
});

steps.set("of two projects none takes all turns, however much it has queued", async (database) => {
  await queue(database, { paths: ["/1", "/2", "/3", "/4"] });
  await queue(database, { projectId: 2, paths: ["/a", "/b"], nowMs: NOON + SECOND, dueMs: NOON });
  const nowMs = NOON + SECOND;
  const [first, second] = [await claim(database, nowMs), await claim(database, nowMs)];
  assert.deepEqual([first.projectId, second.projectId], [1, 2]);
  assert.ok(await endTask(database, second, CAPTURED, nowMs));
  assert.equal((await claim(database, nowMs)).projectId, 2);
  assert.equal((await claim(database, nowMs)).projectId, 1, "it has as many as the other");
  await endTask(database, first, CAPTURED, nowMs);
});

steps.set("a project that came later need not wait until the others are done", async (database) => {
  await queue(database, { paths: ["/1", "/2", "/3", "/4"] });
  const later = { projectId: 2, nowMs: NOON + SECOND };
  await queue(database, { ...later, paths: ["/a", "/b"] });
  const pages = await workOff(database, NOON + SECOND);
  assert.deepEqual(pages.map(([project]) => project).join(""), "121211");
});

steps.set("what may wait of a project is bounded, but for the schedule's", async (database) => {
  const all = (from: number, count: number): Partial<NewJob> => ({
    paths: Array.from({ length: count }, (_, i) => `/${from + i}`),
    devices: CAPTURE_DEVICES,
  });
  const large = CAPTURE_TASKS_MAX / CAPTURE_DEVICES.length;
  const asked = await Promise.allSettled([
    queue(database, all(0, large)),
    queue(database, all(large, large)),
  ]);
  const [refused] = asked.flatMap((one) => one.status === "rejected" ? [one.reason] : []);
  assert.deepEqual([asked.map(({ status }) => status).toSorted(), refused.code], [
    ["fulfilled", "rejected"],
    "overloaded",
  ]);
  assert.equal(await unfinished(database), CAPTURE_TASKS_MAX);
  await assert.rejects(queue(database, { paths: ["/more"] }), { code: "overloaded" });
  assert.equal((await database.query("SELECT FROM capture_jobs")).length, 1, "nothing is stored");
  await queue(database, { projectId: 2 });
  await queue(database, { paths: ["/more"], dueMs: NOON });
  assert.equal(await unfinished(database), CAPTURE_TASKS_MAX + 2);
  const waiting = asked[0]!.status === "fulfilled" ? 0 : large;
  await queue(database, { paths: [`/${waiting}`] });
  assert.equal(await unfinished(database), CAPTURE_TASKS_MAX + 2, "it waits already");
  await assert.rejects(queue(database, { paths: ["/more"] }), { code: "overloaded" });
});

steps.set("the schedule makes one job, however many servers ask", async (database) => {
  const asked = await Promise.all(
    Array.from({ length: 6 }, () => queue(database, { paths: ["/", "/a"], dueMs: NOON })),
  );
  assert.equal(asked.filter((id) => id !== "").length, 1);
  assert.equal(await unfinished(database), 2);
  assert.notEqual(await queue(database, { dueMs: NOON + DAY }), "");
  assert.notEqual(await queue(database, { projectId: 2, dueMs: NOON }), "");
  assert.equal((await database.query("SELECT FROM capture_jobs")).length, 3);
});

steps.set("a failure in passing is tried again twice, ever later", async (database) => {
  const id = await queue(database, {});
  let nowMs = NOON;
  for (const pauseMs of [20 * SECOND, 120 * SECOND]) {
    assert.ok(await endTask(database, await claim(database, nowMs), LATER, nowMs));
    const { status, captures } = await jobOf(database, id);
    assert.deepEqual([status, ...captures], [
      "done",
      {
        path: "/",
        device: "desktop",
        status: "temporary_failure",
        message: "The site did not answer.",
        nextAttemptAt: new Date(nowMs + pauseMs).toISOString(),
      },
    ]);
    assert.equal(await isAnythingDue(database, nowMs + pauseMs - 1), false);
    assert.equal(await claimTask(database, "one", nowMs + pauseMs - 1), null);
    nowMs += pauseMs;
    assert.equal(await isAnythingDue(database, nowMs), true);
  }
  assert.ok(await endTask(database, await claim(database, nowMs), LATER, nowMs));
  assert.deepEqual(await statuses(database, id), ["done", "/ desktop temporary_failure"]);
  assert.equal((await jobOf(database, id)).captures[0]?.nextAttemptAt, null, "the last try");

  const other = await queue(database, {});
  const lasting = verdict("page_not_found", "There is no such page.");
  assert.ok(await endTask(database, await claim(database), lasting, NOON));
  assert.deepEqual(await statuses(database, other), ["done", "/ desktop page_not_found"]);
});

steps.set("an operator need not wait for a retry that is planned", async (database) => {
  const daily = await queue(database, { dueMs: NOON });
  assert.ok(await endTask(database, await claim(database), LATER, NOON));
  assert.equal(await isAnythingDue(database, NOON + SECOND), false);
  const asked = await queue(database, { nowMs: NOON + SECOND });
  // What was tried before it was asked for is no try of this job.
  assert.deepEqual(await statuses(database, asked), ["queued", "/ desktop pending"]);
  const retry = await claim(database, NOON + SECOND);
  assert.equal(retry.failures, 1);
  assert.deepEqual(await statuses(database, asked), ["running", "/ desktop pending"]);
  const failed = ["done", "/ desktop temporary_failure"];
  assert.deepEqual(await statuses(database, daily), failed, "its own try is over");
  assert.ok(await endTask(database, retry, LATER, NOON + SECOND));
  assert.deepEqual(await statuses(database, asked), failed);
  assert.ok(await endTask(database, await claim(database, NOON + DAY), CAPTURED, NOON + DAY));
  for (const id of [daily, asked]) {
    assert.deepEqual(await statuses(database, id), ["done", "/ desktop captured"], "in the end");
  }
});

steps.set("nothing is taken without the lease", async (database) => {
  await queue(database, {});
  assert.equal(await claimTask(database, "two", NOON), null);
  await database.script("UPDATE capture_lease SET expires_at = now() - interval '1 ms'");
  assert.equal(await claimTask(database, "one", NOON), null);
  assert.ok(await takeLease(database, "one"));
  assert.ok(await claimTask(database, "one", NOON));
});

steps.set(
  "a task that was given back, or to another, has only its last taker",
  async (database) => {
    await queue(database, {});
    const first = await claim(database);
    await giveBack(database, first);
    const second = await claim(database);
    assert.equal(second.taskId, first.taskId);
    await giveBack(database, first);
    assert.equal(await endTask(database, first, CAPTURED, NOON), false);
    assert.equal(await claimTask(database, "one", NOON), null, "the second still has it");
    assert.ok(await endTask(database, second, CAPTURED, NOON));
    assert.equal(await endTask(database, second, CAPTURED, NOON), false, "once");
  },
);

steps.set("what ran when its server ended is queued again, twice", async (database) => {
  const id = await queue(database, { paths: ["/bad", "/good"] });
  const good = await claim(database);
  assert.ok(await endTask(database, good, CAPTURED, NOON));
  const sweep = () => database.transaction((tx) => sweepTasks(tx, GIVEN_UP, NOON));
  assert.deepEqual(await sweep(), [], "nothing ran");
  for (let times = 1; times <= 2; times++) {
    const lost = await claim(database);
    assert.equal(await isAnythingDue(database, NOON - DAY), true, "somebody must look after it");
    assert.deepEqual(await sweep(), []);
    assert.equal(await endTask(database, lost, CAPTURED, NOON), false);
  }
  const { path, device } = await claim(database);
  const given = { projectId: 1, path, device, siteUrl: "https://shop.example" };
  assert.deepEqual(await sweep(), [given]);
  const { status, captures } = await jobOf(database, id);
  const told = captures.map((one) => [one.path, one.status, one.message]);
  assert.equal(status, "done");
  assert.deepEqual(new Set(told.map(([, one]) => one)), new Set(["captured", "render_failed"]));
  assert.ok(told.some(([one, , message]) => one === path && message === GIVEN_UP.message));
});

steps.set("jobs of long ago are forgotten, once they are done", async (database) => {
  const done = await queue(database, {});
  await workOff(database);
  const open = await queue(database, { paths: ["/open"] });
  const young = await queue(database, { paths: ["/open"], nowMs: NOON + DAY });
  await deleteOldJobs(database, NOON + 30 * DAY);
  assert.ok(await findJob(database, done, "*"));
  await deleteOldJobs(database, NOON + 30 * DAY + 1);
  assert.equal(await findJob(database, done, "*"), null);
  assert.ok(await findJob(database, open, "*"));
  assert.ok(await findJob(database, young, "*"));
  assert.equal((await database.query("SELECT FROM capture_tasks")).length, 1);
});
