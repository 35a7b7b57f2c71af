/// <reference lib="dom" />
import assert from "node:assert/strict";
import { CAPTURE_MARK } from "../../src/http/capture_mark.ts";
import type { CaptureStatus } from "../../src/screenshots/capture_status.ts";
import { until } from "../support/server_process.ts";
import { WINDOWLESS } from "../support/chromium.ts";
import { CaptureWorld, NO_PROXY, sharedCaptures } from "./capture_world.ts";
import { FixtureSite } from "./fixture_site.ts";

const WAIT_MS_MAX = 20_000;

/** In the browser that takes captures: for what itself does about a page, or with it. */
const test = sharedCaptures();
/** For what the page alone decides. A picture takes a quarter of the processor there. */
const windowless = sharedCaptures({ chromePath: WINDOWLESS });

/** What each page of the fixture comes to, and what the message says of it. */
const CASES: readonly (readonly [path: string, status: CaptureStatus, says: RegExp])[] = [
  ["/", "captured", /photographed/],
  ["/basic", "not_publicly_reachable", /401/],
  ["/forbidden", "not_publicly_reachable", /403/],
  ["/challenge", "not_publicly_reachable", /bot check/],
  ["/private", "not_publicly_reachable", /login page/],
  ["/script-private", "not_publicly_reachable", /login page/],
  ["/refresh-private", "not_publicly_reachable", /login page/],
  ["/replaced", "not_publicly_reachable", /login page/],
  ["/own-form", "not_publicly_reachable", /sign in/],
  ["/small-form", "captured", /photographed/],
  ["/gone", "page_not_found", /410/],
  ["/missing", "page_not_found", /404/],
  ["/broken", "temporary_failure", /500/],
  ["/loop", "redirect_loop", /circles/],
  ["/script-loop", "redirect_loop", /circles/],
  ["/away", "blocked_address", /address/],
  ["/inside", "blocked_address", /address/],
  ["/elsewhere", "not_publicly_reachable", /away from the site, to nowhere\.invalid/],
  ["/empty", "not_a_page", /without content/],
  ["/document", "not_a_page", /PDF/],
  ["/data", "not_a_page", /application\/json/],
  ["/to-mail", "not_a_page", /app or a program/],
  ["/download", "not_a_page", /download/],
  ["/attachment", "not_a_page", /download/],
  ["/download-page", "captured", /photographed/],
  ["/blank", "render_failed", /blank/],
  ["/few-words", "captured", /photographed/],
  ["/alerts", "captured", /photographed/],
  ["/slow-part", "captured", /photographed/],
  ["/trickle", "temporary_failure", /in time/],
  ["/frames", "captured", /photographed/],
  ["/worker", "captured", /photographed/],
  ["/opener", "captured", /photographed/],
];

/** Pages that have the browser ask, refuse, show or save something itself. */
const ASKING = new Set([
  ...["/", "/basic", "/empty", "/document", "/data", "/to-mail", "/download", "/attachment"],
  ...["/download-page", "/alerts", "/frames", "/worker", "/opener"],
]);

for (const [path, status, says] of CASES) {
  const declare = ASKING.has(path) ? test : windowless;
  declare(`page camera: ${path} is ${status}`, async (world) => {
    const { verdict, screenshot } = await world.takeScreenshot(path);
    assert.equal(verdict.status, status, verdict.message);
    assert.match(verdict.message, says);
    assert.equal(verdict.retry, status === "temporary_failure");
    assert.equal(screenshot !== null, status === "captured");
    assert.doesNotMatch(verdict.message, /10\.0\.0\.1|127\.0\.0\.2/);
  });
}

windowless("page camera: a site that cannot be reached may be reached later", async (world) => {
  for (
    const [siteUrl, says] of [["http://nowhere.invalid", /name/], [
      "http://127.0.0.1:9",
      /reached/,
    ]] as const
  ) {
    const { verdict } = await world.takeScreenshot("/", "desktop", { siteUrl, trackedHosts: [] });
    assert.deepEqual([verdict.status, verdict.retry], ["temporary_failure", true]);
    assert.match(verdict.message, says);
  }
});

windowless("page camera: a page that does not answer may answer later", async (world) => {
  const { verdict } = await world.takeScreenshot("/silent");
  assert.deepEqual([verdict.status, verdict.retry], ["temporary_failure", true]);
});

for (const path of ["/endless", "/bomb", "/buffers"]) {
  test(`page camera: ${path} fails, and the next page does not`, async (world) => {
    const { verdict } = await world.takeScreenshot(path);
    assert.equal(verdict.status, "render_failed", verdict.message);
    assert.equal((await world.takeScreenshot("/")).verdict.status, "captured");
  });
}

windowless("page camera: settings are told before a browser is asked", async (world) => {
  const missing = await world.takeScreenshot("/", "desktop", { siteUrl: null });
  assert.equal(missing.verdict.status, "site_url_missing");
  const mismatch = await world.takeScreenshot("/", "desktop", { trackedHosts: ["shop.example"] });
  assert.equal(mismatch.verdict.status, "site_url_mismatch");
  for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
    const siteUrl = `http://${host}:${new URL(world.site.url).port}`;
    const asked = { siteUrl, siteUrlByOperator: false, trackedHosts: [] };
    const { verdict } = await world.takeScreenshot("/", "desktop", asked);
    assert.equal(verdict.status, "blocked_address");
    assert.match(verdict.message, /somebody whose token is for every project/i);
  }
  assert.deepEqual(world.site.requests, []);
});

windowless("page camera: paths that lead off the site are never asked for", async (world) => {
  for (
    const path of ["//127.0.0.1:1/x", "/\\127.0.0.1:1/x", "http://127.0.0.1:1/", "javascript:1"]
  ) {
    const { verdict } = await world.takeScreenshot(path);
    assert.equal(verdict.status, "not_a_page", path);
  }
  assert.deepEqual(world.site.requests, []);
});

windowless("page camera: queries are not sent", async (world) => {
  await world.takeScreenshot("/?token=1#part");
  assert.ok(world.site.requests.length > 0);
  assert.equal(world.site.count("GET /"), 1);
});

windowless("page camera: captures are no visits", async (world) => {
  const { verdict } = await world.takeScreenshot("/tracked");
  assert.equal(verdict.status, "captured");
  assert.equal(world.site.count("POST /v1/other"), 1);
  assert.equal(world.site.count("POST /v1/events"), 0);
  assert.equal(world.site.count("POST /base/v1/events"), 0);
  assert.equal(world.site.count("POST /own/collect"), 0);
});

test("page camera: each request says that it is of a capture, and asks no other origin for leave", async (world) => {
  await using other = new FixtureSite();
  const options = { device: "desktop", proxyUrl: NO_PROXY, deadlineMs: 30_000 } as const;
  await world.browser.page(options, async (page) => {
    await page.goto(`${world.site.url}/`);
    await page.evaluate(async (url) => {
      const sent = { method: "POST", body: "{}", mode: "no-cors", keepalive: true } as const;
      await fetch(`${url}/fetched`, sent);
      navigator.sendBeacon(`${url}/beacon`, "{}");
      await new Promise((resolve) =>
        Object.assign(new Image(), { src: `${url}/img`, onerror: resolve })
      );
      // With an answer that it may read, a page is told what it must ask for leave first.
      await fetch(`${url}/cors`, { method: "POST", body: "{}" }).catch(() => {});
    }, other.url);
    const lines = ["POST /fetched", "POST /beacon", "GET /img", "POST /cors"];
    const seen = () => lines.every((line) => other.count(line) === 1);
    await until(WAIT_MS_MAX, () => Promise.resolve(seen()), "all of them arrive");
  });
  const said = [...world.site.requests, ...other.requests]
    .map(({ line, headers }) => [line, headers.get("dnt")]);
  assert.deepEqual(
    said.filter(([line, capture]) => capture !== CAPTURE_MARK || /^OPTIONS/.test(line!)),
    [],
  );
});

windowless("page camera: what a script still fetches is waited for", async (world) => {
  const { verdict, screenshot } = await world.takeScreenshot("/spinner");
  assert.equal(verdict.status, "captured");
  assert.ok(screenshot!.bytes.length > 30_000, `${screenshot!.bytes.length} bytes hold the text`);
});

test("page camera: no window is opened, no permission given, no service worker kept", async (world) => {
  await world.takeScreenshot("/opener");
  assert.equal(world.site.count("GET /denied-1"), 1);
  await world.takeScreenshot("/worker");
  assert.equal(world.site.count("GET /worker.js"), 0);
});

test("page camera: a page is asked for once, without a wish to be followed", async (world) => {
  await world.takeScreenshot("/");
  assert.equal(world.site.count("GET /"), 1);
  const { headers } = world.site.requests.find(({ line }) => line === "GET /")!;
  assert.equal(headers.get("sec-gpc"), "1");
  assert.match(headers.get("dnt")!, /^1/);
  assert.doesNotMatch(headers.get("user-agent")!, /headless|mobile/i);
  world.site.reset();
  await world.takeScreenshot("/", "mobile");
  assert.match(world.site.requests[0]!.headers.get("user-agent")!, /Android.*Mobile/);
});

const CONSENT: readonly (readonly [path: string, status: CaptureStatus, refused: number])[] = [
  ["/banner", "captured", 1],
  ["/banner-german", "captured", 1],
  ["/banner-link", "captured", 0],
  ["/banner-out", "captured", 0],
  ["/banner-shadow", "captured", 1],
  ["/banner-known", "captured", 1],
  ["/banner-accept-only", "captured", 0],
  ["/wall", "not_publicly_reachable", 0],
  ["/wall-with-reject", "captured", 1],
  ["/wall-with-price", "not_publicly_reachable", 0],
  ["/bakery", "captured", 0],
];

for (const [path, status, refused] of CONSENT) {
  windowless(`page camera: consent is refused or left on ${path}`, async (world) => {
    const { verdict, screenshot } = await world.takeScreenshot(path);
    assert.equal(verdict.status, status, verdict.message);
    assert.equal(world.site.count("POST /accepted"), 0);
    assert.equal(world.site.count("POST /refused"), refused);
    if (status !== "captured") assert.match(verdict.message, /cookie wall/);
    else {
      const [top, bottom] = await world.colours(screenshot!, [[700, 30], [700, 860]]);
      assert.notEqual(bottom, "#00ff00", "the banner is not in the picture");
      if (path === "/bakery") assert.equal(top, "#0000ff", "a menu stays");
    }
  });
}

test("page camera: an attempt that is given up throws, and leaves nothing behind", async (world) => {
  const giveUp = new AbortController();
  const work = world.takeScreenshot("/silent", "desktop", { signal: giveUp.signal });
  const isThere = () => Promise.resolve(world.site.requests.length > 0);
  await Promise.all([
    assert.rejects(work, /stopping/),
    until(WAIT_MS_MAX, isThere, "the page is asked for").then(() =>
      giveUp.abort(new Error("stopping"))
    ),
  ]);
  assert.equal((await world.takeScreenshot("/")).verdict.status, "captured");
});

test("page camera: a browser that is killed is a passing failure", async (world) => {
  const work = world.takeScreenshot("/silent");
  const isThere = () => Promise.resolve(world.site.requests.length > 0);
  await until(WAIT_MS_MAX, isThere, "the page is asked for");
  for (const pid of world.browser.pids) Deno.kill(pid, "SIGKILL");
  const { verdict } = await work;
  assert.deepEqual([verdict.status, verdict.retry], ["temporary_failure", true]);
  assert.match(verdict.message, /browser ended while/);
  assert.equal((await world.takeScreenshot("/")).verdict.status, "captured");
});

Deno.test("page camera: a browser that starts and does not answer is reported as such", async () => {
  const chrome = await Deno.makeTempFile({ prefix: "footfall-chrome-" });
  // Nothing to speak by, which is known sooner than that nothing is said.
  await Deno.writeTextFile(chrome, "#!/bin/sh\nexec 3<&- 4>&-\nwhile :; do sleep 1; done\n");
  await Deno.chmod(chrome, 0o755);
  const world = new CaptureWorld();
  await world.start({ chromePath: chrome });
  try {
    const { verdict } = await world.takeScreenshot("/");
    assert.deepEqual([verdict.status, verdict.retry], ["temporary_failure", true]);
    assert.match(verdict.message, /was started and did not answer/);
  } finally {
    await world.stop();
    await Deno.remove(chrome);
  }
});
