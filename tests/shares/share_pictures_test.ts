import assert from "node:assert/strict";
import { captured, FakePageCamera } from "../screenshots/fake_page_camera.ts";
import { assertProblem, type Json, TestApp, type TestProject } from "../support/app.ts";
import {
  ask,
  NOON_MS,
  people,
  post,
  postCounted,
  read,
  share,
  SITE,
  tokenOf,
} from "./shared_shop.ts";

const MINIMUM = 3;
const pageCamera = new FakePageCamera(({ path, device }) => captured(`${path} ${device}`));
const app = new TestApp({}, { pageCamera });
Deno.test.beforeAll(async () => {
  await app.start();
  app.app.startCaptures();
});
Deno.test.afterAll(() => app.stop());

const PATHS = ["/shop/caf%C3%A9", "/shop/cart", "/shop/seldom", "/shop/unseen", "/internal/draft"];
const SHOP = [{ field: "path", op: "starts_with", values: ["/shop"] }];

/** A project with pictures of all the pages; the share's pages are those of the shop. */
async function photographed(filters: readonly Json[] = SHOP, minimumVisitors = MINIMUM) {
  const project = await app.project({ siteUrl: SITE });
  const click = {
    ...{ x: 0.5, y: 105, fixed: false, rage: false, dead: false, selector: "#buy" },
    ...{ viewportWidth: 1440, viewportHeight: 900, documentWidth: 1440, documentHeight: 3000 },
  };
  await post(app, project, [
    ...people(MINIMUM).map((who) => ({ who, path: "/shop/caf%C3%A9" })),
    ...people(MINIMUM).map((who) => ({
      ...{ who, path: "/shop/cart", name: "click", properties: click },
    })),
    ...people(MINIMUM - 1).map((who) => ({ who, path: "/shop/seldom" })),
    ...people(MINIMUM + 1).map((who) => ({ who, path: "/internal/draft" })),
  ]);
  const { status } = await app.fetch("/v1/internal/jobs/heatmap-captures", {
    method: "POST",
    headers: {
      "Authorization": `Bearer ${app.app.controlToken}`,
      "Content-Type": "application/json",
      "Prefer": "wait=30",
    },
    body: JSON.stringify({ project: project.id, paths: PATHS, devices: ["desktop"] }),
  });
  assert.equal(status, 200);
  const wanted = { views: ["heatmaps"], filters, minimumVisitors };
  return { project, token: await tokenOf(app, (await share(app, project, wanted)).id) };
}

// Tests look into replies of every shape.
// deno-lint-ignore no-explicit-any
async function captureOf(token: string, path: string, query: Json = {}): Promise<any> {
  const { status, body } = await read(app, token, "heatmaps", { path, ...query });
  assert.equal(status, 200, JSON.stringify(body));
  return body.capture;
}

/** The capture that everybody of the project sees. */
const ownCapture = ({ id }: TestProject, path: string) =>
  captureOf(app.app.controlToken, path, { project: id });

const imageOf = (token: string, id: string) => ask(app, token, `/v1/heatmaps/captures/${id}`);

Deno.test("share pictures: of pages that enough visitors viewed or clicked, and their images", async () => {
  const { project, token } = await photographed();
  for (const path of ["/shop/caf%C3%A9", "/shop/café", "/shop/cart"]) {
    const shown = await captureOf(token, path);
    assert.deepEqual(shown, await ownCapture(project, path));
    assert.equal(shown.status, "captured");
    const { status, body } = await imageOf(token, shown.captureId);
    assert.deepEqual([status, body], [200, `${encodeURI(decodeURI(path))} desktop`]);
  }
});

Deno.test("share pictures: of pages outside its filters, or of too few visitors, there is none", async () => {
  const { project, token } = await photographed();
  const none = {
    ...{ status: "pending", message: "No capture of this page has been taken yet." },
    ...{ capturedAt: null, nextAttemptAt: null, imageUrl: null, width: null, height: null },
    captureId: null,
  };
  for (const path of ["/internal/draft", "/shop/seldom", "/shop/unseen"]) {
    const own = await ownCapture(project, path);
    assert.equal(own.status, "captured");
    assert.deepEqual(await captureOf(token, path), none, path);
    assertProblem(await imageOf(token, own.captureId), 404, "not_found");
  }
  assert.deepEqual(await captureOf(token, "/shop/never"), none, "as one that nobody photographed");
});

Deno.test("share pictures: with a minimum of one, of pages that anybody viewed under its filters", async () => {
  const { project, token } = await photographed(SHOP, 1);
  assert.equal((await captureOf(token, "/shop/seldom")).status, "captured");
  for (const path of ["/internal/draft", "/shop/unseen"]) {
    const { captureId } = await ownCapture(project, path);
    assert.equal((await captureOf(token, path)).captureId, null);
    assertProblem(await imageOf(token, captureId), 404, "not_found");
  }
});

Deno.test("share pictures: no spelling of a path passes for another page", async () => {
  const { project, token } = await photographed();
  const disguised = "/shop/../internal/draft";
  await postCounted(
    app,
    project,
    people(MINIMUM).map((who, i) => ({
      ...{ eventId: crypto.randomUUID(), name: "page_view", anonymousId: who, path: disguised },
      timestamp: new Date(NOON_MS + i).toISOString(),
    })),
  );
  assert.equal((await ownCapture(project, disguised)).status, "captured");
  const shown = await captureOf(token, disguised);
  assert.deepEqual([shown.status, shown.imageUrl], ["pending", null]);
});

Deno.test("share pictures: by the range that is looked at; the image of any day", async () => {
  const { project, token } = await photographed();
  await postCounted(
    app,
    project,
    people(MINIMUM).map((who, i) => ({
      ...{ eventId: crypto.randomUUID(), name: "page_view", anonymousId: who },
      url: `${SITE}/shop/unseen`,
      timestamp: new Date(NOON_MS - 200 * 86_400_000 + i).toISOString(),
    })),
  );
  assert.equal((await captureOf(token, "/shop/unseen")).captureId, null);
  const day = (daysAgo: number) => new Date(NOON_MS - daysAgo * 86_400_000).toISOString();
  const { captureId } = await captureOf(token, "/shop/unseen", { from: day(201), to: day(199) });
  assert.equal((await imageOf(token, captureId)).status, 200);
});

Deno.test("share pictures: without filters too few visitors are too few", async () => {
  const { project, token } = await photographed([]);
  assert.equal((await captureOf(token, "/internal/draft")).status, "captured");
  const { captureId } = await ownCapture(project, "/shop/seldom");
  assert.equal((await captureOf(token, "/shop/seldom")).captureId, null);
  assertProblem(await imageOf(token, captureId), 404, "not_found");
});
