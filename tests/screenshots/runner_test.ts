import assert from "node:assert/strict";
import { randomText } from "../../src/auth/random_text.ts";
import { takeLease } from "../../src/screenshots/queue/capture_lease.ts";
import { claimTask, findJob, queueJob } from "../../src/screenshots/queue/capture_queue.ts";
import { CaptureRunner } from "../../src/screenshots/queue/capture_runner.ts";
import { type CaptureStatus, transient } from "../../src/screenshots/capture_status.ts";
import { type CaptureState, captureStates } from "../../src/screenshots/queue/capture_store.ts";
import type {
  ScreenshotRequest,
  ScreenshotResult,
} from "../../src/screenshots/browser/page_screenshot.ts";
import type { Database } from "../../src/db/sql.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";
import { withMembers } from "../support/fake_sql.ts";
import { until } from "../support/server_process.ts";
import { captured, failed, FakePageCamera } from "./fake_page_camera.ts";
import { IN_PLACE } from "../support/in_place.ts";

const NOON = Date.parse("2026-11-21T12:00:00Z");
const SECOND = 1_000;
const WAIT_MS_MAX = 120_000;
const LATER = failed(transient("The site did not answer."));
const NEVER = new AbortController().signal;

/** A server's runner, with a clock of its own and a page camera that does as it is told. */
class World {
  nowMs = NOON;
  readonly observed: CaptureStatus[] = [];
  readonly told: string[] = [];
  readonly pageCamera: FakePageCamera;
  readonly runner: CaptureRunner;

  constructor(
    readonly database: Database,
    answer: (request: ScreenshotRequest) => ScreenshotResult | Promise<ScreenshotResult> = (
      { path, device },
    ) => captured(`${path} ${device}`),
  ) {
    this.pageCamera = new FakePageCamera(answer);
    const tell = (message: string) => void this.told.push(message);
    this.runner = new CaptureRunner({
      sql: database,
      reads: database,
      segments: new SegmentCache(0),
      pool: IN_PLACE,
      projection: createProjection(database),
      pageCamera: this.pageCamera,
      log: { warn: tell, error: tell },
      now: () => this.nowMs,
      randomText,
      ownEndpoints: ["/stats/v1/events"],
      observe: (status) => this.observed.push(status),
      pollMs: 50,
    });
  }

  /** Queues these pages for project 1, in windows of a desktop. @returns the job's id */
  async queue(...paths: string[]): Promise<string> {
    const jobId = `job_${randomText(20)}`;
    const job = { projectId: 1, jobId, paths, devices: ["desktop"], dueMs: null } as const;
    await queueJob(this.database, { ...job, nowMs: this.nowMs });
    return jobId;
  }

  async job(id: string): Promise<{ status: string; captures: string[]; messages: string[] }> {
    const job = await findJob(this.database, id, "*");
    assert.ok(job);
    const { status, captures } = job;
    return {
      status,
      captures: captures.map((one) => `${one.path} ${one.status}`),
      messages: captures.map(({ message }) => message),
    };
  }

  async state(path: string): Promise<CaptureState | undefined> {
    return (await captureStates(this.database, 1, [path]))[0];
  }

  async imageText(path: string): Promise<string> {
    const [row] = await this.database.query<{ text: string }>(
      `SELECT encode(image, 'escape') AS text FROM captures WHERE capture_id = $1::text`,
      [(await this.state(path))?.image?.captureId ?? ""],
    );
    return row?.text ?? "";
  }
}

/** As if the server with the lease had ended without a word. */
async function expireLease(database: Database): Promise<void> {
  await database.script("UPDATE capture_lease SET expires_at = now() - interval '1 ms'");
}

type Step = (database: Database, other: Database) => Promise<void>;
const steps = new Map<string, Step>();

onBothEngines("runner", async (t, db) => {
  const database = await openWithProjects(db);
  await database.script(
    "UPDATE projects SET site_url = 'https://shop.example' WHERE project_id = 1",
  );
  // As a second server has it; the embedded engine has one server.
  const other = database.engine === "postgres" ? await db.open() : database;
  for (const [name, step] of steps) {
    await t.step(name, async () => {
      await step(database, other);
      await database.script(
        "DELETE FROM capture_jobs; DELETE FROM capture_tasks; DELETE FROM capture_lease; " +
          "DELETE FROM capture_pages; DELETE FROM captures",
      );
    });
  }
});

steps.set("works off what is due, and keeps what came of it", async (database) => {
  const world = new World(database);
  const id = await world.queue("/a", "/b", "/c");
  assert.equal(await world.runner.runDue(NEVER), 3);
  assert.deepEqual((await world.job(id)).captures, ["/a captured", "/b captured", "/c captured"]);
  assert.equal(await world.imageText("/b"), "/b desktop");
  assert.deepEqual(world.observed, ["captured", "captured", "captured"]);
  const asked = world.pageCamera.requests.find(({ path }) => path === "/a");
  const { signal, ...request } = asked!;
  assert.ok(signal instanceof AbortSignal);
  assert.deepEqual(request, {
    siteUrl: "https://shop.example",
    siteUrlByOperator: false,
    trackedHosts: [],
    path: "/a",
    device: "desktop",
    ownEndpoints: ["/stats/v1/events"],
  });
  assert.equal(await world.runner.runDue(NEVER), 0);
  assert.equal(world.pageCamera.requests.length, 3);
  assert.deepEqual(await database.query("SELECT FROM capture_lease"), [], "given back");
});

steps.set(
  "two servers share one job: each page once, and one of them at a time",
  async (database, other) => {
    const atWork = [0, 0];
    const slowlyBy = (server: number) => async ({ path }: ScreenshotRequest) => {
      atWork[server]!++;
      assert.equal(atWork[1 - server], 0, "both servers work at once");
      await new Promise((resolve) => setTimeout(resolve, 10));
      atWork[server]!--;
      return captured(path);
    };
    const one = new World(database, slowlyBy(0));
    const two = new World(other, slowlyBy(1));
    const paths = Array.from({ length: 20 }, (_, i) => `/${i}`);
    const id = await one.queue(...paths);
    const stop = new AbortController();
    const running = [one, two].map(({ runner }) => runner.run(stop.signal));
    try {
      await until(
        WAIT_MS_MAX,
        async () => (await one.job(id)).status === "done",
        "the job is done",
      );
    } finally {
      stop.abort();
      await Promise.all(running);
    }
    const pages = [...one.pageCamera.pages, ...two.pageCamera.pages];
    assert.deepEqual(
      pages.toSorted(),
      paths.map((path) => `${path} desktop`).toSorted(),
    );
    assert.deepEqual([...one.told, ...two.told], []);
  },
);

steps.set("a failure in passing: three tries, the last picture stays", async (database) => {
  const world = new World(database, () => captured("good"));
  await world.queue("/");
  await world.runner.runDue(NEVER);
  const good = (await world.state("/"))?.image;
  assert.ok(good);
  world.pageCamera.answer = () => LATER;
  const id = await world.queue("/");
  for (const pauseMs of [20 * SECOND, 120 * SECOND]) {
    assert.equal(await world.runner.runDue(NEVER), 1);
    const job = await world.job(id);
    assert.deepEqual([job.status, job.captures], ["done", ["/ temporary_failure"]]);
    const { status, image } = (await world.state("/"))!;
    assert.deepEqual([status, image], ["temporary_failure", good]);
    world.nowMs += pauseMs - 1;
    assert.equal(await world.runner.runDue(NEVER), 0);
    world.nowMs += 1;
  }
  assert.equal(await world.runner.runDue(NEVER), 1);
  assert.deepEqual((await world.job(id)).captures, ["/ temporary_failure"]);
  assert.equal(world.pageCamera.requests.length, 4);
  assert.deepEqual((await world.state("/"))?.image, good);

  world.pageCamera.answer = () => captured("better");
  await world.queue("/");
  await world.runner.runDue(NEVER);
  assert.equal(await world.imageText("/"), "better");
});

steps.set(
  "a page that makes the page camera fail is told of, and holds nobody up",
  async (database) => {
    const world = new World(database, ({ path }) => {
      if (path === "/bad") throw new Error("a fault of ours");
      return captured(path);
    });
    const id = await world.queue("/bad", "/good");
    assert.equal(await world.runner.runDue(NEVER), 2);
    const { status, captures, messages } = await world.job(id);
    assert.deepEqual([status, captures], ["done", ["/bad render_failed", "/good captured"]]);
    assert.ok(!messages.join().includes("a fault of ours"), "the log has it");
    assert.deepEqual(world.told, ["capture failed"]);
  },
);

steps.set("a capture of one page leaves what is known of the others alone", async (database) => {
  const world = new World(database);
  await world.queue("/a", "/b");
  await world.runner.runDue(NEVER);
  const others = () =>
    database.query(
      `SELECT p.*, p.xmin::text AS written, c.captured_at, c.xmin::text AS image_written
      FROM capture_pages p LEFT JOIN captures c USING (project_id, capture_id)
      WHERE p.path <> '/a'`,
    );
  const before = await others();
  assert.equal(before.length, 1);
  world.nowMs += SECOND;
  world.pageCamera.answer = () => captured("changed");
  await world.queue("/a");
  await world.runner.runDue(NEVER);
  assert.equal(await world.imageText("/a"), "changed");
  assert.deepEqual(await others(), before);
});

steps.set(
  "stopping gives back what is under way, at once, and closes the browser",
  async (database) => {
    const stuck = Promise.withResolvers<ScreenshotResult>();
    const world = new World(database, () => stuck.promise);
    const id = await world.queue("/a", "/b", "/c");
    const stop = new AbortController();
    const running = world.runner.run(stop.signal);
    await until(
      WAIT_MS_MAX,
      () => Promise.resolve(world.pageCamera.atOnce === 2),
      "two are taken",
    );
    stop.abort();
    await running;
    assert.ok(world.pageCamera.requests.every(({ signal }) => signal?.aborted));
    assert.equal(world.pageCamera.closings, 1);
    assert.deepEqual(world.told, []);
    const waiting = ["/a pending", "/b pending", "/c pending"];
    assert.deepEqual(await world.job(id), {
      status: "queued",
      captures: waiting,
      messages: waiting.map(() => "The capture is waiting for its turn."),
    });
    const next = new World(database);
    assert.equal(await next.runner.runDue(NEVER), 3, "the next server need not wait for the lease");
    stuck.resolve(captured("too late"));
    await stuck.promise;
    assert.equal(await world.imageText("/a"), "/a desktop");
    assert.equal((await world.job(id)).status, "done");
  },
);

steps.set("what a server left when it ended is done by the next one", async (database, other) => {
  const world = new World(database);
  const id = await world.queue("/");
  assert.ok(await takeLease(other, "a server that ends"));
  assert.ok(await claimTask(other, "a server that ends", NOON));
  assert.equal(await world.runner.runDue(NEVER), 0, "it may live yet");
  await expireLease(other);
  assert.equal(await world.runner.runDue(NEVER), 1);
  assert.deepEqual((await world.job(id)).captures, ["/ captured"]);
});

steps.set("a page that ends the server each time is left alone", async (database) => {
  const world = new World(database);
  const id = await world.queue("/");
  for (let times = 1; times <= 3; times++) {
    const doomed = new World(database, () => new Promise<ScreenshotResult>(() => {}));
    const gone = new AbortController();
    const dying = doomed.runner.runDue(gone.signal);
    const taken = () => Promise.resolve(doomed.pageCamera.atOnce === 1);
    await until(WAIT_MS_MAX, taken, "it is taken");
    await expireLease(database);
    // A server that has really ended would not even give the task back.
    await database.script("UPDATE capture_tasks SET claims = claims + 1 WHERE state = 'running'");
    gone.abort();
    await dying;
  }
  assert.equal(await world.runner.runDue(NEVER), 0);
  assert.deepEqual((await world.job(id)).captures, ["/ render_failed"]);
  assert.equal((await world.state("/"))?.status, "render_failed");
  assert.deepEqual(world.observed, ["render_failed"]);
  await world.queue("/");
  assert.equal(await world.runner.runDue(NEVER), 1, "it may be asked for again");
  assert.equal((await world.state("/"))?.status, "captured");
});

steps.set("whoever was slower than its lease has no say", async (database, other) => {
  const stuck = Promise.withResolvers<ScreenshotResult>();
  const slow = new World(database, () => stuck.promise);
  const id = await slow.queue("/");
  const working = slow.runner.runDue(NEVER);
  await until(WAIT_MS_MAX, () => Promise.resolve(slow.pageCamera.atOnce === 1), "it is taken");
  await expireLease(other);
  const quick = new World(other, () => captured("of the quick one"));
  assert.equal(await quick.runner.runDue(NEVER), 1);
  stuck.resolve(captured("of the slow one"));
  await working;
  assert.equal(await quick.imageText("/"), "of the quick one");
  assert.deepEqual((await quick.job(id)).captures, ["/ captured"]);
  assert.deepEqual(slow.observed, []);
  assert.equal((await database.query("SELECT FROM captures")).length, 1);
});

steps.set(
  "a runner that waits is woken, finds what others queued, and survives an outage",
  async (database) => {
    let isAway = true;
    const flaky = withMembers(database, {
      query: (text, params) =>
        isAway ? Promise.reject(new Error("away")) : database.query(text, params),
    });
    const world = new World(database);
    const unlucky = new World(flaky);
    const first = await world.queue("/");
    const stop = new AbortController();
    const running = unlucky.runner.run(stop.signal);
    await until(WAIT_MS_MAX, () => Promise.resolve(unlucky.told.length > 1), "it tries again");
    isAway = false;
    const isDone = (id: string) => async () => (await world.job(id)).status === "done";
    await until(WAIT_MS_MAX, isDone(first), "the job is done");
    const second = await world.queue("/a");
    unlucky.runner.wake();
    await until(WAIT_MS_MAX, isDone(second), "the next job is done");
    stop.abort();
    await running;
    assert.equal(unlucky.pageCamera.closings, 1);
  },
);
