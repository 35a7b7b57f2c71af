import assert from "node:assert/strict";
import { CAPTURE_RETRY_MS } from "../../src/screenshots/capture_limits.ts";
import { transient, verdict } from "../../src/screenshots/capture_status.ts";
import { type Json, newEvent, type Reply, TestApp, type TestProject } from "../support/app.ts";
import { assertProblem } from "../support/app.ts";
import { onFreshEngines } from "../support/databases.ts";
import { captured, failed, FakePageCamera, screenshotOf } from "./fake_page_camera.ts";

const BASE_PATH = "/stats";
const SITE = "https://shop.example";
const JOBS = "/v1/internal/jobs/heatmap-captures";
const NO_IMAGE = { capturedAt: null, imageUrl: null, width: null, height: null, captureId: null };
const DAILY = "0 3 * * *";

interface World {
  readonly server: TestApp;
  readonly pageCamera: FakePageCamera;
  readonly project: TestProject;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

// Tests look into replies of every shape.
// deno-lint-ignore no-explicit-any
async function read({ server, project }: World, path: string, query: Json): Promise<any> {
  const search = new URLSearchParams({ project: project.id, ...query as Record<string, string> });
  const { status, body } = await server.admin("GET", `/v1/${path}?${search}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

// deno-lint-ignore no-explicit-any
async function captureOf(world: World, path: string, device = "desktop"): Promise<any> {
  return (await read(world, "heatmaps", { path, device })).capture;
}

/** Photographs these pages as they are then, and waits. */
async function capture({ server, project }: World, paths: string[], devices = ["desktop"]) {
  const { status, body } = await server.fetch(JOBS, {
    method: "POST",
    headers: {
      ...bearer(server.app.controlToken),
      "Content-Type": "application/json",
      "Prefer": "wait=30",
    },
    body: JSON.stringify({ project: project.id, paths, devices }),
  });
  assert.equal(status, 200, JSON.stringify(body));
}

async function setSite({ server, project }: World, siteUrl: string | null): Promise<void> {
  const { status } = await server.admin("PATCH", `/v1/projects/${project.id}`, { siteUrl });
  assert.equal(status, 200);
}

const nextThree = () => {
  const next = new Date();
  next.setUTCHours(3, 0, 0, 0);
  if (next.getTime() <= Date.now()) next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString();
};

type Step = (world: World) => Promise<void>;
const steps = new Map<string, Step>();

onFreshEngines("captures in the heatmaps", async (t, db) => {
  const pageCamera = new FakePageCamera(({ path, device }) => captured(`${path} ${device}`));
  const env = { ...db.env, BASE_PATH, CAPTURE_SCHEDULE: DAILY };
  const server = new TestApp(env, { pageCamera });
  await server.start();
  try {
    const project = await server.project();
    const view = (anonymousId: string, path: string) =>
      newEvent({ name: "page_view", anonymousId, url: SITE + path });
    await server.post(project, [
      ...["ann", "bob", "cat"].map((who) => view(who, "/")),
      ...["ann", "bob"].map((who) => view(who, "/caf%C3%A9")),
      view("ann", "/logout"),
    ]);
    server.app.startCaptures();
    const world = { server, pageCamera, project };
    for (const [name, step] of steps) await t.step(name, () => step(world));
  } finally {
    await server.stop();
  }
});

steps.set("without a site URL there is none, and none is planned", async (world) => {
  const { message, ...capture } = await captureOf(world, "/");
  assert.deepEqual(capture, { status: "site_url_missing", nextAttemptAt: null, ...NO_IMAGE });
  assert.match(message, /no site URL/);
  const { rows } = await read(world, "heatmaps/paths", {});
  const missing = { status: "site_url_missing" };
  for (const { devices } of rows) {
    assert.deepEqual(devices, { desktop: missing, tablet: missing, mobile: missing });
  }
});

steps.set("before the first attempt it is pending, and the daily job will come", async (world) => {
  await setSite(world, SITE);
  const pending = { status: "pending", message: "No capture of this page has been taken yet." };
  const next = nextThree();
  assert.deepEqual(await captureOf(world, "/"), { ...pending, nextAttemptAt: next, ...NO_IMAGE });
  const unseen = await captureOf(world, "/unseen");
  assert.deepEqual([unseen.status, unseen.nextAttemptAt], ["pending", null], "nobody was there");
  const { message, ...left } = await captureOf(world, "/logout");
  assert.deepEqual([left.status, left.nextAttemptAt], ["pending", null]);
  assert.match(message, /not photographed by themselves/);
  assert.equal((await captureOf(world, "//elsewhere.example/")).status, "not_a_page");
  const many = (await read(world, "heatmaps", { pattern: "/*" })).capture;
  assert.deepEqual([many.status, many.nextAttemptAt], ["pending", null]);
  assert.match(many.message, /A pattern stands for many pages/);
});

steps.set("the picture, where it is, and when it was taken", async (world) => {
  const { pageCamera } = world;
  pageCamera.answer = ({ path, device }) => ({
    ...captured(path),
    screenshot: screenshotOf(`${path} ${device}`, {
      widthPx: device === "mobile" ? 390 : 1440,
      heightPx: 4321,
    }),
  });
  const before = Date.now();
  await capture(world, ["/"], ["desktop", "mobile"]);
  const shown = await captureOf(world, "/", "mobile");
  assert.match(shown.captureId, /^cap_[A-Za-z0-9]{20}$/);
  const { captureId, capturedAt } = shown;
  assert.ok(Date.parse(capturedAt) >= before && Date.parse(capturedAt) <= Date.now());
  assert.deepEqual(shown, {
    status: "captured",
    message: "The page was captured.",
    capturedAt,
    nextAttemptAt: nextThree(),
    imageUrl: `${BASE_PATH}/v1/heatmaps/captures/${captureId}?project=${world.project.id}`,
    width: 390,
    height: 4321,
    captureId,
  });
  assert.notEqual((await captureOf(world, "/")).captureId, captureId);
  assert.equal((await captureOf(world, "/", "tablet")).status, "pending");
  // As events may have written it, and as its URL has it.
  await capture(world, ["/café"]);
  assert.equal((await captureOf(world, "/caf%C3%A9")).status, "captured");
  assert.equal((await captureOf(world, "/café")).status, "captured");
});

steps.set("the image: its bytes, and headers that keep it an image", async (world) => {
  const { server, project } = world;
  const { imageUrl } = await captureOf(world, "/", "mobile");
  const token = await server.token([project.id], "read");
  const ask = async (method = "GET", headers: Json = {}, url = imageUrl) =>
    await server.app.fetch(
      new Request(`http://footfall.test${url}`, {
        method,
        headers: { ...bearer(token), ...headers as Record<string, string> },
      }),
      null,
    );
  const reply = await ask();
  assert.equal(reply.status, 200);
  assert.equal(await reply.text(), "/ mobile");
  const headers = Object.fromEntries(reply.headers);
  assert.equal(headers["content-type"], "image/jpeg");
  assert.equal(headers["cache-control"], "private, max-age=31536000, immutable");
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["content-security-policy"], "default-src 'none'");
  assert.equal(headers["content-length"], "8");
  assert.match(headers["vary"] ?? "", /Authorization/);
  assert.equal(headers["access-control-allow-origin"], "*");
  assert.match(headers["etag"] ?? "", /^"[0-9a-f]{32}"$/);

  const head = await ask("HEAD");
  assert.equal(await head.text(), "");
  assert.deepEqual([head.status, head.headers.get("content-length")], [200, "8"]);
  assert.equal(head.headers.get("content-type"), "image/jpeg");
  const known = await ask("GET", { "If-None-Match": `"x", ${headers["etag"]}` });
  assert.deepEqual([known.status, await known.text()], [304, ""]);
  const without = imageUrl.replace(/\?.*/, "");
  assert.equal((await ask("GET", {}, without)).status, 200, "the token's only project");
});

steps.set("the image is the project's alone, and needs the scope read", async (world) => {
  const { server, project } = world;
  const { captureId } = await captureOf(world, "/", "mobile");
  const other = await server.project();
  const ask = async (
    project: string | null,
    token: string | null,
    id = captureId,
  ): Promise<Reply> => {
    const query = project === null ? "" : `?project=${project}`;
    const headers: Record<string, string> = token === null ? {} : bearer(token);
    return await server.fetch(`/v1/heatmaps/captures/${id}${query}`, { headers });
  };
  const both = await server.token([project.id, other.id], "read");
  assertProblem(await ask(other.id, both), 404, "not_found");
  assertProblem(await ask(null, both), 400, "project_required");
  assert.equal((await ask(project.id, both)).status, 200);
  assertProblem(await ask(project.id, null), 401, "missing_token");
  const stranger = await server.token([other.id], "read");
  assertProblem(await ask(project.id, stranger), 403, "insufficient_scope");
  assertProblem(await ask(null, stranger), 404, "not_found");
  const worker = await server.token([project.id], "jobs write admin");
  assertProblem(await ask(project.id, worker), 403, "insufficient_scope");
  for (const id of [`cap_${"x".repeat(20)}`, "cap_", "%00"]) {
    assertProblem(await ask(project.id, both, id), 404, "not_found");
  }
});

steps.set("a failed recapture: the new status beside the last good image", async (world) => {
  const { pageCamera } = world;
  const good = await captureOf(world, "/", "mobile");
  const others = await read(world, "heatmaps/paths", {});
  const denied = verdict("not_publicly_reachable", "It asks visitors to sign in.");
  pageCamera.answer = () => failed(denied);
  await capture(world, ["/"], ["mobile"]);
  assert.deepEqual(await captureOf(world, "/", "mobile"), {
    ...good,
    status: "not_publicly_reachable",
    message: "It asks visitors to sign in.",
    nextAttemptAt: nextThree(),
  });
  const { rows } = await read(world, "heatmaps/paths", {});
  const changed = structuredClone(others.rows);
  changed.find((row: Json) => row.path === "/").devices.mobile.status = "not_publicly_reachable";
  assert.deepEqual(rows, changed);
  assert.deepEqual(rows.map((row: Json) => [row.path, row.devices]), [
    ["/", {
      desktop: { status: "captured" },
      tablet: { status: "pending" },
      mobile: { status: "not_publicly_reachable" },
    }],
    ["/caf%C3%A9", {
      desktop: { status: "captured" },
      tablet: { status: "pending" },
      mobile: { status: "pending" },
    }],
    ["/logout", {
      desktop: { status: "pending" },
      tablet: { status: "pending" },
      mobile: { status: "pending" },
    }],
  ]);
});

steps.set("a planned retry is the next attempt", async (world) => {
  const { server, pageCamera, project } = world;
  pageCamera.answer = () => failed(transient("It did not answer."));
  const before = Date.now();
  const wanted = { project: project.id, path: "/", devices: ["tablet"] };
  await server.admin("POST", JOBS, wanted);
  let shown = await captureOf(world, "/", "tablet");
  while (shown.status === "pending") shown = await captureOf(world, "/", "tablet");
  assert.deepEqual([shown.status, shown.message], ["temporary_failure", "It did not answer."]);
  const [firstMs] = CAPTURE_RETRY_MS;
  const failedAt = Date.parse(shown.nextAttemptAt) - firstMs!;
  assert.ok(failedAt >= before && failedAt <= Date.now(), shown.nextAttemptAt);
});

steps.set("after the site URL has changed, what was found is of another site", async (world) => {
  const good = await captureOf(world, "/");
  await setSite(world, "https://new.example");
  const { status, message, captureId } = await captureOf(world, "/");
  assert.deepEqual([status, captureId], ["pending", good.captureId]);
  assert.match(message, /site URL has changed/);
  const { rows } = await read(world, "heatmaps/paths", {});
  assert.equal(rows[0].devices.mobile.status, "pending");
  await setSite(world, null);
  const without = await captureOf(world, "/");
  assert.deepEqual([without.status, without.nextAttemptAt], ["site_url_missing", null]);
  assert.equal(without.captureId, good.captureId);
  assert.doesNotMatch(without.message, /no capture/, "there is one beside it");
  await setSite(world, SITE);
  assert.deepEqual(await captureOf(world, "/"), good);
});

steps.set("captures are no visits", async (world) => {
  const { rows } = await read(world, "heatmaps/paths", {});
  assert.deepEqual(rows.map((row: Json) => [row.path, row.visitors]), [
    ["/", 3],
    ["/caf%C3%A9", 2],
    ["/logout", 1],
  ]);
});
