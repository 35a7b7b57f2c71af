import assert from "node:assert/strict";
import type { CaptureDevice } from "../../src/screenshots/capture_status.ts";
import type { Screenshot } from "../../src/screenshots/browser/page_screenshot.ts";
import { type CaptureWorld, jpegSize, sharedCaptures } from "./capture_world.ts";

const test = sharedCaptures();
const RED = "#ff0000";
const GREEN = "#009900";
const BLUE = "#0000ff";
const YELLOW = "#ffff00";
const WHITE = "#ffffff";

async function screenshotOf(
  world: CaptureWorld,
  path: string,
  device: CaptureDevice = "desktop",
): Promise<Screenshot> {
  const { verdict, screenshot } = await world.takeScreenshot(path, device);
  assert.ok(screenshot !== null, verdict.message);
  const { widthPx, heightPx } = screenshot;
  assert.deepEqual(
    jpegSize(screenshot.bytes),
    { widthPx, heightPx },
    "the image is as large as told",
  );
  assert.equal(screenshot.contentType, "image/jpeg");
  return screenshot;
}

test("screenshot: an ordinary page fills the window of each device", async (world) => {
  for (
    const [device, widthPx, heightPx] of [
      ["desktop", 1440, 900],
      ["tablet", 820, 1180],
      ["mobile", 390, 844],
    ] as const
  ) {
    const screenshot = await screenshotOf(world, "/", device);
    assert.deepEqual([screenshot.widthPx, screenshot.heightPx, screenshot.isCut], [
      widthPx,
      heightPx,
      false,
    ]);
  }
});

for (const [device, windowPx] of [["desktop", 900], ["mobile", 844]] as const) {
  test(`screenshot: a hero keeps its height, lazy images come, bars stand once (${device})`, async (world) => {
    const screenshot = await screenshotOf(world, "/hero", device);
    assert.equal(screenshot.heightPx, 60 + windowPx + 20 * 600);
    assert.equal(world.site.count("GET /image-*"), 20);
    const right = screenshot.widthPx - 20;
    const lastImage = screenshot.heightPx - 600 + 100;
    const colours = await world.colours(screenshot, [
      [10, 30],
      [10, 70],
      [10, 60 + windowPx - 10],
      [10, 60 + windowPx + 100],
      [10, lastImage],
      [right, windowPx - 20],
      [right, screenshot.heightPx - 20],
      [10, Math.floor(screenshot.heightPx / 2 / 600) * 600 + 60 + windowPx % 600 + 300],
    ]);
    assert.deepEqual(colours.slice(0, 7), [RED, BLUE, BLUE, GREEN, GREEN, YELLOW, WHITE]);
    assert.notEqual(colours[7], RED);
  });
}

test("screenshot: what waits to come into sight is scrolled past", async (world) => {
  const screenshot = await screenshotOf(world, "/observed");
  assert.equal(world.site.count("GET /seen"), 10);
  const [first, last] = await world.colours(screenshot, [[700, 300], [700, 6_700]]);
  assert.deepEqual([first, last], [GREEN, GREEN]);
});

test("screenshot: 25,000 pixels with a hero of the window's height", async (world) => {
  const screenshot = await screenshotOf(world, "/long");
  assert.deepEqual([screenshot.heightPx, screenshot.isCut], [25_000, false]);
  const [inHero, below, end] = await world.colours(screenshot, [[700, 890], [700, 920], [
    700,
    24_990,
  ]]);
  assert.deepEqual([inHero, below, end], [BLUE, RED, GREEN]);
});

test("screenshot: what is taller than a picture may be is cut, and told", async (world) => {
  const { verdict, screenshot } = await world.takeScreenshot("/too-long", "mobile");
  assert.deepEqual([screenshot?.heightPx, screenshot?.isCut], [30_000, true]);
  assert.match(verdict.message, /30,000 pixels/);
  assert.deepEqual(jpegSize(screenshot!.bytes), { widthPx: 390, heightPx: 30_000 });
});

test("screenshot: an inner part that scrolls is shown wholly", async (world) => {
  const screenshot = await screenshotOf(world, "/inner");
  assert.equal(screenshot.heightPx, 4_100);
  const [menu, end] = await world.colours(screenshot, [[40, 450], [700, 4_050]]);
  assert.deepEqual([menu, end], [RED, GREEN]);
});

test("screenshot: motion is shown at its end", async (world) => {
  const screenshot = await screenshotOf(world, "/moving");
  assert.deepEqual(await world.colours(screenshot, [[700, 150]]), [GREEN]);
});

test("screenshot: a page is as wide as the device, whatever its viewport says", async (world) => {
  for (const [device, widthPx] of [["tablet", 820], ["mobile", 390]] as const) {
    for (const path of ["/wide", "/too-wide"]) {
      const screenshot = await screenshotOf(world, path, device);
      assert.equal(jpegSize(screenshot.bytes).widthPx, widthPx, path);
    }
  }
});

test("screenshot: a page that is read from right to left is shown from its right edge on", async (world) => {
  const screenshot = await screenshotOf(world, "/right-to-left");
  const colours = await world.colours(screenshot, [[10, 150], [1_390, 150], [1_430, 150]]);
  assert.deepEqual(colours, [WHITE, RED, RED]);
});

test("screenshot: the same page gives the same bytes", async (world) => {
  const [one, other] = [await screenshotOf(world, "/hero"), await screenshotOf(world, "/hero")];
  assert.deepEqual(one.bytes, other.bytes);
});
