import assert from "node:assert/strict";
import { type CaptureStatus, verdict } from "../../src/screenshots/capture_status.ts";
import {
  type CaptureState,
  captureStates,
  deleteStalePages,
  findImage,
  storeAttempt,
} from "../../src/screenshots/queue/capture_store.ts";
import type { Screenshot } from "../../src/screenshots/browser/page_screenshot.ts";
import type { Database } from "../../src/db/sql.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";
import { screenshotOf } from "./fake_page_camera.ts";

const SITE = "https://shop.example";
const NOON = Date.parse("2026-11-21T12:00:00Z");
const MINUTE = 60_000;
const DAY = 86_400_000;

let ids = 0;

/** One attempt; with a picture it is `captured`. */
async function attempt(
  database: Database,
  atMs: number,
  { screenshot = null, status = "captured", path = "/", device = "desktop", projectId = 1 }: {
    screenshot?: Screenshot | null;
    status?: CaptureStatus;
    path?: string;
    device?: "desktop" | "mobile";
    projectId?: number;
  },
): Promise<void> {
  const newCaptureId = `cap_${String(++ids).padStart(20, "0")}`;
  const page = { projectId, path, device, siteUrl: SITE, verdict: verdict(status, `${status}.`) };
  await database.transaction((tx) => storeAttempt(tx, { ...page, screenshot, atMs, newCaptureId }));
}

async function stateOf(database: Database, path = "/"): Promise<CaptureState> {
  const states = await captureStates(database, 1, [path]);
  const state = states.find(({ device }) => device === "desktop");
  assert.ok(state);
  return state;
}

async function versions(database: Database): Promise<number> {
  return (await database.query("SELECT FROM captures")).length;
}

async function asBefore(database: Database, work: () => Promise<void>, except: string) {
  const others = () =>
    database.query(
      `SELECT p.*, p.xmin::text, c.captured_at, c.xmin::text AS c_xmin FROM capture_pages p
      LEFT JOIN captures c USING (project_id, capture_id)
      WHERE p.path <> $1::text ORDER BY p.project_id, p.path, p.device`,
      [except],
    );
  const before = await others();
  await work();
  assert.ok(before.length > 0);
  assert.deepEqual(await others(), before);
}

onBothEngines("store: versions, the last good picture, and nobody else's", async (t, db) => {
  const database = await openWithProjects(db);

  await t.step("what was never attempted is not known", async () => {
    assert.deepEqual(await captureStates(database, 1, ["/"]), []);
    assert.deepEqual(await captureStates(database, 1, []), []);
  });

  await t.step("a picture comes back as it was", async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(60_000));
    const screenshot = screenshotOf("", {
      bytes,
      contentType: "image/webp",
      widthPx: 820,
      heightPx: 4321,
      isCut: true,
    });
    await attempt(database, NOON, { screenshot });
    const { image, ...state } = await stateOf(database);
    const told = { status: "captured", message: "captured.", siteUrl: SITE };
    assert.deepEqual(state, { path: "/", device: "desktop", ...told });
    assert.ok(image);
    assert.deepEqual(
      [image.widthPx, image.heightPx, image.isCut, image.capturedAt.getTime()],
      [820, 4321, true, NOON],
    );
    const found = await findImage(database, 1, image.captureId);
    assert.ok(found);
    assert.deepEqual(found.bytes, bytes);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    assert.deepEqual([found.contentType, found.hash], ["image/webp", hash]);
    assert.equal(await findImage(database, 2, image.captureId), null, "of another project");
    assert.equal(await findImage(database, 1, "cap_x"), null);
    await attempt(database, NOON, { screenshot: screenshotOf("a") });
  });

  await t.step("an unchanged page is not stored twice: its time moves on", async () => {
    const before = await stateOf(database);
    const count = await versions(database);
    await attempt(database, NOON + MINUTE, { screenshot: screenshotOf("a") });
    const { image } = await stateOf(database);
    assert.equal(image?.captureId, before.image?.captureId);
    assert.equal(image?.capturedAt.getTime(), NOON + MINUTE);
    assert.equal(await versions(database), count);
  });

  await t.step("the last good picture outlives failures", async () => {
    const good = await stateOf(database);
    for (const status of ["not_publicly_reachable", "temporary_failure"] as const) {
      await attempt(database, NOON + 2 * MINUTE, { status });
      const { image, ...state } = await stateOf(database);
      assert.deepEqual([state.status, state.message], [status, `${status}.`]);
      assert.deepEqual(image, good.image);
    }
  });

  await t.step(
    "five versions are kept, and a page that looks as before has its old one",
    async () => {
      const first = (await stateOf(database)).image!.captureId;
      for (let i = 1; i <= 4; i++) {
        await attempt(database, NOON + (10 + i) * MINUTE, {
          screenshot: screenshotOf(`version ${i}`),
        });
      }
      assert.equal(await versions(database), 5);
      await attempt(database, NOON + 20 * MINUTE, { screenshot: screenshotOf("a") });
      assert.equal((await stateOf(database)).image?.captureId, first);
      assert.equal(await versions(database), 5);
      await attempt(database, NOON + 21 * MINUTE, { screenshot: screenshotOf("version 5") });
      const kept = await database.query<{ text: string }>(
        "SELECT encode(image, 'escape') AS text FROM captures ORDER BY captured_at DESC",
      );
      const texts = ["version 5", "a", "version 4", "version 3", "version 2"];
      assert.deepEqual(kept.map(({ text }) => text), texts);
    },
  );

  await t.step("pages, devices and projects do not touch each other", async () => {
    await attempt(database, NOON, { screenshot: screenshotOf("a"), path: "/b" });
    await attempt(database, NOON, { screenshot: screenshotOf("a"), path: "/b", device: "mobile" });
    await attempt(database, NOON, { screenshot: screenshotOf("a"), path: "/c", projectId: 2 });
    assert.equal(await versions(database), 8);
    await asBefore(
      database,
      () => attempt(database, NOON + DAY, { screenshot: screenshotOf("new") }),
      "/",
    );
    const both = await captureStates(database, 1, ["/b", "/", "/c", "/b"]);
    const told = both.map(({ path, device }) => `${path} ${device}`).sort();
    assert.deepEqual(told, ["/ desktop", "/b desktop", "/b mobile"]);
  });

  await t.step("a path of any length and letters is found again", async () => {
    const path = `/${"ä".repeat(2000)}"\\{},NULL`;
    await attempt(database, NOON, { screenshot: screenshotOf("long"), path });
    assert.equal((await stateOf(database, path)).path, path);
  });

  await t.step(
    "pages that nobody attempts any more are forgotten, with their pictures",
    async () => {
      assert.equal(await deleteStalePages(database, NOON + 90 * DAY), 0);
      assert.equal(await deleteStalePages(database, NOON + 90 * DAY + 1), 4);
      const left = await database.query("SELECT DISTINCT path FROM capture_pages");
      assert.deepEqual(left, [{ path: "/" }]);
      assert.equal(await versions(database), 5);
    },
  );
});
