import assert from "node:assert/strict";
import { crc32, deflateSync } from "node:zlib";
import type { Page } from "puppeteer-core";
import {
  CELL_PX,
  clicksAround,
  densityOf,
  reachAt,
  TILE_ROWS,
  tilePixels,
} from "../../src/dashboard/views/heatmaps_density.ts";
import type { Json } from "../support/app.ts";
import { until } from "../support/server_process.ts";
import { focused, pressByKey } from "./acts.ts";
import { dashboardWorld, EMPTY, type Visit } from "./page.ts";

const test = dashboardWorld();
const JOBS = "/v1/internal/jobs/heatmap-captures";
const CANVAS_SIDE_PX_MAX = 4_096;
const NOTICE = "This page is not publicly reachable: it asks visitors to sign in.";

const number = (value: number) => value.toLocaleString("en-US");

/** A grey picture in one bit a pixel: tall ones too are a few kilobytes. */
function greyPng(widthPx: number, heightPx: number): Uint8Array {
  const chunk = (type: string, data: Uint8Array) => {
    const body = new Uint8Array([...new TextEncoder().encode(type), ...data]);
    const framed = new Uint8Array(8 + body.length);
    const view = new DataView(framed.buffer);
    view.setUint32(0, data.length);
    framed.set(body, 4);
    view.setUint32(4 + body.length, crc32(body));
    return framed;
  };
  const head = new Uint8Array(13);
  new DataView(head.buffer).setUint32(0, widthPx);
  new DataView(head.buffer).setUint32(4, heightPx);
  head[8] = 1;
  const lines = new Uint8Array((1 + Math.ceil(widthPx / 8)) * heightPx);
  return new Uint8Array([
    ...[137, 80, 78, 71, 13, 10, 26, 10],
    ...chunk("IHDR", head),
    ...chunk("IDAT", deflateSync(lines)),
    ...chunk("IEND", new Uint8Array()),
  ]);
}

const TAKEN = {
  status: "captured",
  message: "The capture is up to date.",
  capturedAt: "2026-11-18T03:00:00.000Z",
  nextAttemptAt: "2026-11-22T03:00:00.000Z",
  imageUrl: "/v1/heatmaps/captures/cap_0123456789abcdefghij?project=prj_demo",
  width: 1440,
  height: 3_000,
  captureId: "cap_0123456789abcdefghij",
};

/** Answers the heatmap with a picture, as a server that has taken one would. */
async function withPicture(visit: Visit, capture: Json = {}, change: Json = {}): Promise<void> {
  const reply = await visit.read("heatmaps", { path: "/" });
  const taken = { ...TAKEN, ...capture };
  const body = JSON.stringify({ ...reply, ...change, capture: taken });
  const picture = greyPng(taken.width, taken.height);
  visit.intercept = (request) => {
    const { pathname } = new URL(request.url());
    if (pathname === "/v1/heatmaps") return { status: 200, body };
    if (!pathname.startsWith("/v1/heatmaps/captures/cap_")) return undefined;
    return { status: 200, contentType: "image/png", body: picture };
  };
}

/** The opacity that is drawn on the page at a place of the document, from 0 to 255. */
async function opacityAt(page: Page, xPx: number, yPx: number, widthPx: number): Promise<number> {
  return await page.evaluate(`(() => {
    const sheet = document.querySelector(".heatmaps-scroller .heatmaps-page");
    const scale = sheet.clientWidth / ${widthPx};
    for (const tile of sheet.querySelectorAll("canvas")) {
      const top = parseFloat(tile.style.top), height = parseFloat(tile.style.height);
      const y = ${yPx} * scale - top;
      if (y < 0 || y >= height || tile.width === 0) continue;
      const ratio = tile.height / height;
      const across = Math.round(${xPx} * scale * ratio);
      return tile.getContext("2d").getImageData(across, Math.floor(y * ratio), 1, 1).data[3];
    }
    return -1;
  })()`) as number;
}

async function opened(visit: Visit, query = ""): Promise<Page> {
  const page = await visit.open(`view=heatmaps${query}`);
  await page.waitForSelector(".heatmaps-scroller");
  await visit.settled(page);
  return page;
}

/** The texts of a table's rows, by its caption. */
async function rows(page: Page, caption: string): Promise<string[][]> {
  return await page.evaluate(`[...document.querySelectorAll("table")]
    .find((table) => table.caption.textContent === ${JSON.stringify(caption)})
    .querySelectorAll("tbody tr").values().map((row) =>
      [...row.cells].map((cell) => cell.innerText.trim())).toArray()`) as string[][];
}

Deno.test("Density: the densest spot is where the clicks are, and nothing shines elsewhere", () => {
  const points = [{ x: 0.5, y: 205, fixed: false, count: 9, visitors: 3 }];
  const density = densityOf(points, { widthPx: 400, heightPx: 8_000 });
  assert.equal(density.columns, 400 / CELL_PX);
  const peak = density.values.indexOf(1);
  assert.deepEqual([peak % density.columns, Math.floor(peak / density.columns)], [50, 51]);
  const shining = density.values.reduce((count, value) => count + (value > 1e-4 ? 1 : 0), 0);
  assert.ok(shining > 100 && shining <= 25 * 25, String(shining));
  const pixels = tilePixels(density, 0);
  assert.equal(pixels.length, density.columns * TILE_ROWS * 4);
  assert.ok(pixels[peak * 4 + 3]! > 200);
  assert.equal(pixels[3], 0);
  const later = tilePixels(density, 1_536);
  assert.equal(later.length, density.columns * (2_000 - 1_536) * 4);
  assert.ok(later.every((value) => value === 0));
});

Deno.test("What is told under the pointer: clicks nearby, and the share that got so far", () => {
  const points = [
    { x: 0.5, y: 100, fixed: false, count: 4, visitors: 1 },
    { x: 0.5, y: 130, fixed: false, count: 2, visitors: 1 },
  ];
  assert.equal(clicksAround(points, { xPx: 500, yPx: 101, widthPx: 1000 }, 24), 4);
  assert.equal(clicksAround(points, { xPx: 500, yPx: 115, widthPx: 1000 }, 24), 6);
  const scroll = [{ depthPx: 0, reached: 8 }, { depthPx: 100, reached: 6 }, {
    depthPx: 200,
    reached: 2,
  }];
  assert.deepEqual([0, 100, 150, 900].map((depth) => reachAt(scroll, depth)), [1, 0.75, 0.25, 0]);
  assert.equal(reachAt([], 10), null);
});

test("Pages, clicks and elements are the API's numbers", async (visit) => {
  const page = await opened(visit);
  const paths = await visit.read("heatmaps/paths", { limit: "15" });
  assert.deepEqual(
    (await rows(page, "Pages with clicks")).map((cells) => cells.slice(0, 3)),
    paths.rows.map((
      { path, clicks, visitors }: Json,
    ) => [path, number(clicks as number), number(visitors as number)]),
  );
  const first = paths.rows[0].path;
  const { points, sample } = await visit.read("heatmaps", { path: first });
  const drawn = points.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
  assert.ok(drawn > 0);
  const told = await visit.text(page, ".heatmaps-sample");
  assert.match(told, new RegExp(`^${number(drawn)} clicks of ${number(sample.visitors)} visitors`));
  const listed = await rows(page, "Elements of the page by their clicks");
  const { elements } = await visit.read("heatmaps", { path: first, elements: 10 });
  assert.ok(elements.length > 2);
  assert.deepEqual(
    listed.map(([selector, clicks, , visitors]) => [selector, clicks, visitors]),
    elements.map(({ selector, count, visitors }: Json) => [
      selector,
      number(count as number),
      number(visitors as number),
    ]),
  );
  const fixed = points.filter((point: Json) => point.fixed)
    .reduce((sum: number, { count }: { count: number }) => sum + count, 0);
  assert.ok(fixed > 0);
  await visit.sees(page, `${number(fixed)} clicks`, ".heatmaps-fixed-count");
  await page.evaluate(`HTMLAnchorElement.prototype.click = function () {
    globalThis.savedName = this.download;
  }`);
  await pressByKey(page, "CSV: Elements of the page by their clicks");
  await visit.until(page, `"savedName" in globalThis`);
  const named = String(await page.evaluate("savedName"));
  assert.match(named, /^clicked elements click desktop 2\S+ to 2\S+ \//);
});

test("Without a capture: dots on a dark page, and why there is none", async (visit) => {
  const page = await opened(visit, "&path=/");
  const { capture, points } = await visit.read("heatmaps", { path: "/" });
  await visit.sees(page, capture.message, ".heatmaps-message");
  await visit.sees(page, "The next attempt is planned for", ".heatmaps-message");
  const moving = points.filter((point: Json) => !point.fixed);
  assert.ok(await opacityAt(page, moving[0].x * 1440, moving[0].y, 1440) > 100);
  const deepest = Math.max(...moving.map(({ y }: { y: number }) => y));
  const shown = await page.$eval(
    ".heatmaps-scroller .heatmaps-page",
    (sheet) => sheet.clientHeight / sheet.clientWidth,
  );
  assert.ok(Math.abs(shown * 1440 - (deepest + 60)) < 3, `${shown * 1440} for ${deepest}`);
});

test("A capture 30,000 px tall, with clicks down to its end", async (visit) => {
  const deep = { x: 0.25, y: 29_805, fixed: false, count: 40, visitors: 12 };
  await withPicture(visit, { height: 30_000 }, { points: [deep] });
  const page = await opened(visit, "&path=/");
  await page.waitForSelector(".heatmaps-picture");
  await visit.until(page, `document.querySelector(".heatmaps-picture").naturalHeight === 30000`);
  const [ratio, largest] = await page.evaluate(`(() => {
    const picture = document.querySelector(".heatmaps-picture");
    const canvases = [...document.querySelectorAll("canvas")];
    return [picture.clientHeight / picture.clientWidth,
      Math.max(...canvases.flatMap(({ width, height }) => [width, height]))];
  })()`) as [number, number];
  assert.ok(Math.abs(ratio - 30_000 / 1440) < 0.05, String(ratio));
  assert.ok(largest > 0 && largest <= CANVAS_SIDE_PX_MAX, String(largest));
  assert.ok(await opacityAt(page, 360, 29_805, 1440) > 200);
  assert.equal(await opacityAt(page, 1080, 29_805, 1440), 0);
  assert.equal(await opacityAt(page, 360, 15_000, 1440), 0);
  await visit.sees(page, "Captured Nov 18, 2026", ".heatmaps-facts");
  assert.equal(await page.$(".heatmaps-message"), null);
  const before = await page.$eval(".heatmaps-layer", (layer) => layer.getAttribute("style"));
  await page.focus(".heatmaps-slider input");
  await page.keyboard.press("Home");
  assert.equal(before, "opacity: 0.85;");
  await visit.until(
    page,
    `document.querySelector(".heatmaps-layer").getAttribute("style") === "opacity: 0.1;"`,
  );
});

test("A failed attempt beside the last good capture says both", async (visit) => {
  await withPicture(visit, { status: "not_publicly_reachable", message: NOTICE });
  const page = await opened(visit, "&path=/");
  await page.waitForSelector(".heatmaps-picture");
  const told = await visit.text(page, ".heatmaps-facts");
  assert.ok(told.includes(NOTICE), told);
  assert.ok(told.includes("Shown is the last good one, taken Nov 18, 2026"), told);
  assert.ok(told.includes("The next attempt is planned for Nov 22, 2026"), told);
});

test("A capture that does not load leaves the dots, and says so", async (visit) => {
  await withPicture(visit);
  const answer = visit.intercept;
  visit.expectedFaults.push("500");
  visit.intercept = (request) =>
    request.url().includes("/captures/")
      ? { status: 500, body: JSON.stringify({ detail: "The disk is on fire." }) }
      : answer(request);
  const page = await opened(visit, "&path=/");
  await visit.sees(page, "The disk is on fire.", ".heatmaps-message");
  assert.equal(await page.$(".heatmaps-picture"), null);
});

test("A new capture is taken on request, with its progress and its result", async (visit) => {
  const asked: Json[] = [];
  let polls = 0;
  let reads = 0;
  const job = (status: string, done: number) => ({
    id: "job_0123456789abcdefghij",
    status,
    captures: ["desktop", "tablet", "mobile"].map((device, i) => ({
      path: "/",
      device,
      status: i >= done ? "pending" : i === 2 ? "not_publicly_reachable" : "captured",
      message: i === 2 ? NOTICE : "",
    })),
  });
  visit.intercept = (request) => {
    const { pathname } = new URL(request.url());
    if (pathname === "/v1/heatmaps") reads++;
    if (pathname === JOBS) {
      asked.push(JSON.parse(request.postData() ?? "{}"));
      return { status: 202, body: JSON.stringify({ job: job("queued", 0) }) };
    }
    if (!pathname.startsWith(`${JOBS}/`)) return undefined;
    polls++;
    return {
      status: 200,
      body: JSON.stringify({ job: polls === 1 ? job("running", 1) : job("done", 3) }),
    };
  };
  const page = await opened(visit, "&path=/");
  const readsBefore = reads;
  await pressByKey(page, "On all devices");
  await visit.sees(page, "1 of 3 done", ".heatmaps-recapture");
  await visit.sees(page, `Mobile: ${NOTICE}`, ".heatmaps-recapture");
  const devices = ["desktop", "tablet", "mobile"];
  assert.deepEqual(asked, [{ project: "prj_demo", path: "/", devices }]);
  await visit.until(page, `document.querySelector(".heatmaps-recapture button:disabled") === null`);
  assert.equal(await focused(page), "On all devices");
  await until(10_000, () => Promise.resolve(reads > readsBefore), "the heatmap is read anew");
  await page.click(".heatmaps-paths tbody tr:last-child .row-button");
  await visit.until(page, `new URLSearchParams(location.search).get("path") !== "/"`);
  await visit.until(
    page,
    `document.querySelector(".heatmaps-progress-text")?.textContent.trim() === ""`,
  );
});

test("Who may not have captures taken sees no button for it", async (visit) => {
  const page = await visit.open("view=heatmaps&path=/", { token: await visit.token("read") });
  await page.waitForSelector(".heatmaps-scroller");
  assert.equal(await page.$(".heatmaps-recapture"), null);
});

test("Scroll reach: bands and rows with the API's shares", async (visit) => {
  const page = await opened(visit, "&path=/&kind=scroll");
  const { scroll } = await visit.read("heatmaps", { path: "/", kind: "scroll" });
  const views = scroll[0].reached;
  assert.ok(views > 0);
  const shown = await page.$$eval(
    ".heatmaps-band-label",
    (labels) => labels.map((label) => label.textContent),
  );
  const stepPx = Number(/([\d,]+) px/.exec(shown[1]!)![1]!.replace(",", ""));
  shown.forEach((text, i) => {
    const reached = scroll.find(({ depthPx }: Json) => depthPx === i * stepPx)?.reached ?? 0;
    assert.equal(text, `${Math.round(reached / views * 100)}% ${number(i * stepPx)} px`);
  });
  const table = await rows(page, "Page views by the depth that they reached");
  assert.deepEqual(
    table.map(([depth, reached]) => [depth, reached]),
    scroll.slice(0, 10).map((
      { depthPx, reached }: { depthPx: number; reached: number },
    ) => [`${number(depthPx)} px`, number(reached)]),
  );
});

test("Page, device and kind live in the address, by mouse and by keyboard", async (visit) => {
  const page = await opened(visit);
  // The page's own word: the browser tells of its address only later.
  const param = (name: string, value: string) =>
    visit.until(
      page,
      `new URLSearchParams(location.search).get("${name}") === ${JSON.stringify(value)}`,
    );
  await page.click(".heatmaps-paths tbody tr:nth-child(3) .row-button");
  const { rows: listed } = await visit.read("heatmaps/paths", { limit: "15" });
  await param("path", listed[2].path);
  await visit.sees(page, listed[2].path, ".heatmaps-map .panel-title");
  await page.focus(`.heatmaps-choices .segments:nth-child(2) .segment:nth-child(3)`);
  await page.keyboard.press("Enter");
  await page.focus(`.heatmaps-choices .segments:nth-child(1) .segment:nth-child(3)`);
  await page.keyboard.press("Space");
  await param("device", "mobile");
  await param("kind", "dead");
  await visit.settled(page);
  await page.reload();
  await page.waitForSelector(".heatmaps-scroller");
  assert.equal(
    await visit.text(page, `.heatmaps-choices [aria-pressed="true"]`),
    "Dead clicks Mobile",
  );
  await page.evaluate("history.back()");
  await visit.until(page, `!location.search.includes("kind=")`);
  await page.waitForSelector(".heatmaps-form input");
  await page.focus(".heatmaps-form input");
  await page.$eval(
    ".heatmaps-form input",
    (field) => (field as unknown as { select(): void }).select(),
  );
  await page.keyboard.type("/products/*");
  await page.keyboard.press("Enter");
  await param("path", "/products/*");
  await visit.settled(page);
  const { sample } = await visit.read("heatmaps", { pattern: "/products/*", device: "mobile" });
  await visit.sees(page, `of ${number(sample.visitors)} visitors`, ".heatmaps-sample");
  assert.equal(await page.$(".heatmaps-recapture"), null, "a pattern is no page to photograph");
});

test("An error of one read leaves the others, and a project without pages says what to do", async (visit) => {
  visit.expectedFaults.push("503");
  const problem = { status: 503, code: "read_timeout", detail: "The read took too long." };
  visit.intercept = (request) =>
    new URL(request.url()).pathname === "/v1/heatmaps"
      ? { status: 503, contentType: "application/problem+json", body: JSON.stringify(problem) }
      : undefined;
  const page = await visit.open("view=heatmaps&path=/");
  await visit.sees(page, "The read took too long.", ".heatmaps-map");
  await visit.settled(page);
  assert.ok((await rows(page, "Pages with clicks")).length > 5);
  visit.intercept = () => undefined;
  await page.click(".heatmaps-map .note-error button");
  await page.waitForSelector(".heatmaps-scroller");
  const empty = await visit.open("view=heatmaps", { project: EMPTY });
  await visit.sees(empty, "No pages in this range");
  await visit.sees(empty, "Nothing to draw yet");
});
