import assert from "node:assert/strict";
import { transient, verdict } from "../../src/screenshots/capture_status.ts";
import type { ScreenshotResult } from "../../src/screenshots/browser/page_screenshot.ts";
import {
  assertProblem,
  type Json,
  newEvent,
  type Reply,
  TestApp,
  type TestProject,
} from "../support/app.ts";
import { onFreshEngines } from "../support/databases.ts";
import { until } from "../support/server_process.ts";
import { captured, failed, FakePageCamera } from "./fake_page_camera.ts";

const JOBS = "/v1/internal/jobs/heatmap-captures";
const BASE_PATH = "/stats";
const WAIT_MS_MAX = 60_000;
const NOT_FOUND = failed(verdict("page_not_found", "There is no such page."));

/** A server whose page camera does as the test says; nothing is taken before `startCaptures`. */
interface World {
  readonly server: TestApp;
  readonly pageCamera: FakePageCamera;
  readonly project: TestProject;
  readonly other: TestProject;
  readonly env: Record<string, string>;
}

const asPathSays = ({ path, device }: { path: string; device: string }): ScreenshotResult =>
  path === "/gone" ? NOT_FOUND : captured(`${path} ${device}`);

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

async function post({ server, project }: World, body: Json, headers: Json = {}): Promise<Reply> {
  const token = await server.token([project.id], "jobs");
  return await server.fetch(JOBS, {
    method: "POST",
    headers: { ...bearer(token), "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

async function jobOf({ server }: World, id: string): Promise<Json & { captures: Json[] }> {
  const { status, body } = await server.admin("GET", `${JOBS}/${id}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.job;
}

const pagesOf = (job: { captures: Json[] }) =>
  job.captures.map(({ path, device, status }) => `${path} ${device} ${status}`);

type Step = (world: World) => Promise<void>;
const steps = new Map<string, Step>();
/** Those of several servers on one database, which the embedded one cannot have. */
const sharedSteps = new Map<string, Step>();

onFreshEngines("capture jobs", async (t, db) => {
  const pageCamera = new FakePageCamera(asPathSays);
  const env = { ...db.env, BASE_PATH };
  const server = new TestApp(env, { pageCamera });
  await server.start();
  let isStopped = false;
  try {
    const project = await server.project({ siteUrl: "https://shop.example" });
    const world = { server, pageCamera, project, other: await server.project(), env };
    const shared = db.env.DATABASE_URL === undefined ? [] : sharedSteps;
    for (const [name, step] of [...steps, ...shared]) await t.step(name, () => step(world));
    await t.step("stopping ends the waiting and the work, and closes the browser", async () => {
      pageCamera.answer = () => new Promise<ScreenshotResult>(() => {});
      const waiting = post(world, { path: "/stuck" }, { Prefer: "wait=120" });
      const isTaken = () => Promise.resolve(pageCamera.pages.includes("/stuck desktop"));
      await until(WAIT_MS_MAX, isTaken, "it is taken");
      await server.stop();
      isStopped = true;
      assert.equal((await waiting).status, 202);
      assert.equal(pageCamera.closings, 1);
    });
  } finally {
    if (!isStopped) await server.stop();
  }
});

steps.set("202 with every page pending, and where to look", async (world) => {
  const { status, headers, body } = await post(world, { paths: ["/b", "/a"] });
  assert.equal(status, 202);
  assert.match(body.job.id, /^job_[A-Za-z0-9]{20}$/);
  assert.equal(headers.get("location"), `${BASE_PATH}${JOBS}/${body.job.id}`);
  assert.deepEqual(Object.keys(body.job), ["id", "status", "captures"]);
  assert.equal(body.job.status, "queued");
  const devices = ["desktop", "tablet", "mobile"];
  const pages = ["/b", "/a"].flatMap((path) => devices.map((device) => `${path} ${device}`));
  assert.deepEqual(pagesOf(body.job), pages.map((page) => `${page} pending`));
  for (const { message } of body.job.captures) assert.match(message, /\.$/);
  const again = await post(world, { path: "/a", devices: ["mobile"] });
  assert.deepEqual(pagesOf(again.body.job), ["/a mobile pending"]);
  assert.deepEqual(await jobOf(world, again.body.job.id), again.body.job);

  world.server.app.startCaptures();
  world.server.app.startCaptures();
  const isDone = async () => (await jobOf(world, body.job.id)).status === "done";
  await until(WAIT_MS_MAX, isDone, "the job is done");
  const done = await jobOf(world, body.job.id);
  assert.deepEqual(pagesOf(done), pages.map((page) => `${page} captured`));
  const shared = await jobOf(world, again.body.job.id);
  assert.deepEqual(pagesOf(shared), ["/a mobile captured"]);
  assert.deepEqual(world.pageCamera.pages.toSorted(), pages.toSorted());
});

steps.set("Prefer: wait gives the job the time to be done: 200", async (world) => {
  const body = { paths: ["/a", "/gone"], devices: ["mobile"] };
  const reply = await post(world, body, { Prefer: "respond-async, wait=30" });
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get("preference-applied"), "wait=30");
  const { job } = reply.body;
  assert.deepEqual([job.status, ...pagesOf(job)], [
    "done",
    "/a mobile captured",
    "/gone mobile page_not_found",
  ]);
  assert.equal(job.captures[1].message, "There is no such page.");
  const longest = await post(world, { path: "/a" }, { Prefer: "wait=9999" });
  assert.equal(longest.headers.get("preference-applied"), "wait=120");
  assert.equal(longest.status, 200);
  for (const prefer of ["wait=soon", "handling=lenient", "waits=5"]) {
    const plain = await post(world, { path: "/a", devices: ["mobile"] }, { Prefer: prefer });
    assert.deepEqual([plain.status, plain.headers.get("preference-applied")], [202, null]);
  }
  await post(world, { path: "/a", devices: ["mobile"] }, { Prefer: "wait=30" });
});

steps.set("a page that fails in passing keeps nobody waiting for its next try", async (world) => {
  const { pageCamera } = world;
  pageCamera.answer = ({ path }) =>
    path === "/passing" ? failed(transient("It did not answer.")) : captured(path);
  const body = { paths: ["/a", "/passing"], devices: ["mobile"] };
  const { status, body: { job } } = await post(world, body, { Prefer: "wait=60" });
  assert.deepEqual([status, job.status, ...pagesOf(job)], [
    200,
    "done",
    "/a mobile captured",
    "/passing mobile temporary_failure",
  ]);
  assert.ok(Date.parse(job.captures[1].nextAttemptAt) > Date.now());
  assert.equal(job.captures[0].nextAttemptAt, null);
  pageCamera.answer = asPathSays;
});

steps.set("what is not done in time is 202, and only so many wait", async (world) => {
  const { pageCamera } = world;
  const stuck = Promise.withResolvers<ScreenshotResult>();
  pageCamera.answer = () => stuck.promise;
  const short = await post(world, { path: "/slow", devices: ["mobile"] }, { Prefer: "wait=1" });
  assert.deepEqual([short.status, short.body.job.status], [202, "running"]);
  assert.equal(short.headers.get("preference-applied"), "wait=1");
  const asked = Array.from(
    { length: 21 },
    () => post(world, { path: "/slow", devices: ["mobile"] }, { Prefer: "wait=60" }),
  );
  const turnedAway = await Promise.race(asked);
  assert.equal(turnedAway.status, 202);
  assert.equal(turnedAway.headers.get("preference-applied"), null);
  pageCamera.answer = asPathSays;
  stuck.resolve(captured("slow"));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  assert.deepEqual(statuses.toSorted(), [...Array(20).fill(200), 202]);
});

steps.set("a body of the wrong shape is told of at once", async (world) => {
  const refused = async (body: Json, ...fields: string[]) => {
    const reply = await post(world, body);
    assertProblem(reply, 400, "invalid_body");
    assert.deepEqual(reply.body.errors.map(({ field }: Json) => field), fields);
  };
  await refused({ path: 7, devices: ["phone"], wait: 1 }, "path", "devices.0", "wait");
  await refused({ paths: [] }, "paths");
  await refused({ devices: [] }, "devices");
  await refused({ path: "/a", paths: ["/b"] }, "paths");
  await refused({ paths: Array.from({ length: 101 }, (_, i) => `/${i}`) }, "paths");
  await refused({ path: `/${"a".repeat(2048)}` }, "path");
  const away = ["//evil.example/x", "/\\evil.example", "https://evil.example/", "a", "", "/\0"];
  for (const path of [...away, "/\ud800", "/../..//evil.example"]) await refused({ path }, "path");
  await refused({ paths: ["/a", "//evil.example", "/b", "javascript:1"] }, "paths.1", "paths.3");
  const raw = { method: "POST", headers: bearer(world.server.app.controlToken), body: "{" };
  assertProblem(
    await world.server.fetch(JOBS, {
      ...raw,
      headers: { ...raw.headers, "Content-Type": "application/json" },
    }),
    400,
    "invalid_json",
  );
  assertProblem(await world.server.fetch(JOBS, raw), 415, "unsupported_media_type");
});

steps.set(
  "a path is that of its URL, and one that may do something may be named",
  async (world) => {
    const paths = ["/café?a=1#b", "/a/../b", "/logout"];
    const { body } = await post(world, { paths, devices: ["mobile"] }, { Prefer: "wait=30" });
    assert.deepEqual(pagesOf(body.job), [
      "/caf%C3%A9 mobile captured",
      "/b mobile captured",
      "/logout mobile captured",
    ]);
  },
);

steps.set("the scope is jobs, and a job is its project's", async (world) => {
  const { server, project, other } = world;
  const body = JSON.stringify({ path: "/a" });
  const ask = (token: string | null, method: string, path: string, text: string | null = null) =>
    server.fetch(path, {
      method,
      body: text,
      headers: {
        ...(token === null ? {} : bearer(token)),
        ...(text === null ? {} : { "Content-Type": "application/json" }),
      },
    });
  const { id } = (await post(world, { path: "/a" })).body.job;
  for (const [method, path, text] of [["POST", JOBS, body], ["GET", `${JOBS}/${id}`]] as const) {
    assertProblem(await ask(null, method, path, text), 401, "missing_token");
    const reader = await server.token([project.id], "read write admin");
    assertProblem(await ask(reader, method, path, text), 403, "insufficient_scope");
  }
  const own = await server.token([project.id], "jobs");
  const named = JSON.stringify({ project: other.id, path: "/a" });
  assertProblem(await ask(own, "POST", JOBS, named), 403, "insufficient_scope");
  const both = await server.token([project.id, other.id], "jobs");
  assertProblem(await ask(both, "POST", JOBS, body), 400, "project_required");
  assert.equal((await ask(both, "POST", JOBS, named)).status, 202);
  assert.equal((await ask(both, "GET", `${JOBS}/${id}`)).status, 200);
  assert.equal((await ask(own, "GET", `${JOBS}/${id}`)).status, 200);
  const stranger = await server.token([other.id], "jobs");
  assertProblem(await ask(stranger, "GET", `${JOBS}/${id}`), 404, "not_found");
  for (const unknown of [`job_${"x".repeat(20)}`, "job_", "a%00b"]) {
    assertProblem(await ask(own, "GET", `${JOBS}/${unknown}`), 404, "not_found");
  }
  const nowhere = { project: "prj_none", path: "/a" };
  assertProblem(await server.admin("POST", JOBS, nowhere), 404, "not_found");
});

steps.set(
  "without a path: the most visited ones, by people, that may be photographed",
  async (world) => {
    const { server, project } = world;
    const view = (anonymousId: string, path: string, members: Json = {}) =>
      newEvent({ name: "page_view", anonymousId, url: `https://shop.example${path}`, ...members });
    const old = { timestamp: new Date(Date.now() - 31 * 86_400_000).toISOString() };
    await server.post(project, [
      ...["ann", "bob", "cat"].map((who) => view(who, "/pricing?plan=1")),
      ...["ann", "bob"].map((who) => view(who, "/")),
      // One visitor, many views.
      ...Array.from({ length: 5 }, () => view("ann", "/about")),
      ...["ann", "bob", "cat", "dan"].map((who) => view(who, "/logout")),
      ...["ann", "bob", "cat", "dan"].map((who) => view(who, "/old", old)),
      newEvent({ name: "signup", anonymousId: "ann", url: "https://shop.example/custom" }),
    ]);
    await server.post(project, ["x", "y", "z", "v", "w"].map((who) => view(who, "/bots")), {
      headers: { "User-Agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" },
    });
    const { body } = await post(world, { devices: ["tablet"] }, { Prefer: "wait=30" });
    assert.deepEqual(pagesOf(body.job), [
      "/pricing tablet captured",
      "/ tablet captured",
      "/about tablet captured",
    ]);
    const asked = world.pageCamera.requests.at(-1);
    assert.deepEqual(asked?.trackedHosts, ["shop.example"]);
    assert.deepEqual(asked?.ownEndpoints, [`${BASE_PATH}/v1/events`]);

    const many = Array.from({ length: 60 }, (_, i) => view("ann", `/page-${i}`));
    await server.post(project, many);
    const most = (await post(world, { devices: ["tablet"] })).body.job;
    assert.equal(most.captures.length, 50);
    const nothing = await server.admin("POST", JOBS, { project: world.other.id });
    assert.deepEqual([nothing.status, nothing.body.job.status, nothing.body.job.captures], [
      202,
      "done",
      [],
    ]);
  },
);

steps.set("what came of captures is counted", async ({ server, pageCamera, project }) => {
  const count = async (status: string) => {
    const { body } = await server.fetch("/metrics", {}, "127.0.0.1");
    return Number(body.match(`footfall_captures_total\\{status="${status}"\\} (\\d+)`)?.[1] ?? 0);
  };
  const before = [await count("captured"), await count("temporary_failure")] as const;
  pageCamera.answer = ({ path }) =>
    path === "/later" ? failed(transient("It did not answer.")) : captured(path);
  const wanted = { project: project.id, paths: ["/a", "/later"], devices: ["desktop"] };
  const { body } = await server.admin("POST", JOBS, wanted);
  const settled = async () => await count("temporary_failure") > before[1];
  await until(WAIT_MS_MAX, settled, "the attempt is counted");
  const { job } = (await server.admin("GET", `${JOBS}/${body.job.id}`)).body;
  const { status, message, nextAttemptAt } = job.captures[1];
  assert.deepEqual([status, message], ["temporary_failure", "It did not answer."]);
  assert.ok(Date.parse(nextAttemptAt) > Date.now(), "and is tried again");
  const captures = async () => await count("captured") > before[0];
  await until(WAIT_MS_MAX, captures, "the picture is counted");
  pageCamera.answer = asPathSays;
});

steps.set("the host of a page that was first viewed just before is known", async (world) => {
  const { server, pageCamera, project } = world;
  pageCamera.answer = asPathSays;
  await server.post(project, [newEvent({ name: "page_view", url: "https://other.example/new" })]);
  const reply = await post(world, { path: "/new", devices: ["mobile"] }, { Prefer: "wait=30" });
  assert.equal(reply.status, 200);
  const request = pageCamera.requests.find(({ path }) => path === "/new");
  assert.deepEqual(request?.trackedHosts, ["other.example"]);
});

sharedSteps.set("two servers on one database do one job once", async (world) => {
  const { pageCamera: mine, server } = world;
  const queued = Promise.withResolvers<void>();
  const onceQueued = async (asked: { path: string; device: string }) => {
    await queued.promise;
    return asPathSays(asked);
  };
  mine.answer = onceQueued;
  const theirs = new FakePageCamera(onceQueued);
  const second = new TestApp(world.env, { pageCamera: theirs });
  await second.start();
  try {
    second.app.startCaptures();
    const before = mine.requests.length;
    const paths = Array.from({ length: 30 }, (_, i) => `/both-${i}`);
    const wanted = { project: world.project.id, paths, devices: ["desktop"] };
    const replies = await Promise.all([
      server.admin("POST", JOBS, wanted),
      second.admin("POST", JOBS, wanted),
    ]);
    queued.resolve();
    for (const { body } of replies) {
      const isDone = async () => (await jobOf(world, body.job.id)).status === "done";
      await until(WAIT_MS_MAX, isDone, "the job is done");
    }
    // A page of the steps before may be due for its next try.
    const pages = [...mine.pages.slice(before), ...theirs.pages].filter((page) =>
      page.startsWith("/both-")
    );
    assert.deepEqual(pages.toSorted(), paths.map((path) => `${path} desktop`).toSorted());
  } finally {
    await second.stop();
  }
});
