import assert from "node:assert/strict";
import type { CaptureDevice } from "../../src/screenshots/capture_status.ts";
import type { Shot } from "../../src/screenshots/browser/photograph.ts";
import { type CaptureWorld, jpegSize, sharedCaptures } from "./capture_world.ts";

const test = sharedCaptures();
const RED = "#ff0000";
const GREEN = "#009900";
const BLUE = "#0000ff";
const YELLOW = "#ffff00";
const WHITE = "#ffffff";

async function shoot(
  world: CaptureWorld,
  path: string,
  device: CaptureDevice = "desktop",
): Promise<Shot> {
  const { verdict, shot } = await world.photograph(path, device);
  assert.ok(shot !== null, verdict.message);
  const { widthPx, heightPx } = shot;
  assert.deepEqual(jpegSize(shot.bytes), { widthPx, heightPx }, "the image is as large as told");
  assert.equal(shot.contentType, "image/jpeg");
  return shot;
}

test("shoot: an ordinary page fills the window of each device", async (world) => {
  for (
    const [device, widthPx, heightPx] of [
      ["desktop", 1440, 900],
      ["tablet", 820, 1180],
      ["mobile", 390, 844],
    ] as const
  ) {
    const shot = await shoot(world, "/", device);
    assert.deepEqual([shot.widthPx, shot.heightPx, shot.isCut], [widthPx, heightPx, false]);
  }
});

for (const [device, windowPx] of [["desktop", 900], ["mobile", 844]] as const) {
  test(`shoot: a hero keeps its height, lazy images come, bars stand once (${device})`, async (world) => {
    const shot = await shoot(world, "/hero", device);
    assert.equal(shot.heightPx, 60 + windowPx + 20 * 600);
    assert.equal(world.site.count("GET /image-*"), 20);
    const right = shot.widthPx - 20;
    const lastImage = shot.heightPx - 600 + 100;
    const colours = await world.colours(shot, [
      [10, 30],
      [10, 70],
      [10, 60 + windowPx - 10],
      [10, 60 + windowPx + 100],
      [10, lastImage],
      [right, windowPx - 20],
      [right, shot.heightPx - 20],
      [10, Math.floor(shot.heightPx / 2 / 600) * 600 + 60 + windowPx % 600 + 300],
    ]);
    assert.deepEqual(colours.slice(0, 7), [RED, BLUE, BLUE, GREEN, GREEN, YELLOW, WHITE]);
    assert.notEqual(colours[7], RED);
  });
}

test("shoot: what waits to come into sight is scrolled past", async (world) => {
  const shot = await shoot(world, "/observed");
  assert.equal(world.site.count("GET /seen"), 10);
  const [first, last] = await world.colours(shot, [[700, 300], [700, 6_700]]);
  assert.deepEqual([first, last], [GREEN, GREEN]);
});

test("shoot: 25,000 pixels with a hero of the window's height", async (world) => {
  const shot = await shoot(world, "/long");
  assert.deepEqual([shot.heightPx, shot.isCut], [25_000, false]);
  const [inHero, below, end] = await world.colours(shot, [[700, 890], [700, 920], [700, 24_990]]);
  assert.deepEqual([inHero, below, end], [BLUE, RED, GREEN]);
});

test("shoot: what is taller than a picture may be is cut, and told", async (world) => {
  const { verdict, shot } = await world.photograph("/too-long", "mobile");
  assert.deepEqual([shot?.heightPx, shot?.isCut], [30_000, true]);
  assert.match(verdict.message, /30,000 pixels/);
  assert.deepEqual(jpegSize(shot!.bytes), { widthPx: 390, heightPx: 30_000 });
});

test("shoot: an inner part that scrolls is shown wholly", async (world) => {
  const shot = await shoot(world, "/inner");
  assert.equal(shot.heightPx, 4_100);
  const [menu, end] = await world.colours(shot, [[40, 450], [700, 4_050]]);
  assert.deepEqual([menu, end], [RED, GREEN]);
});

test("shoot: motion is shown at its end", async (world) => {
  const shot = await shoot(world, "/moving");
  assert.deepEqual(await world.colours(shot, [[700, 150]]), [GREEN]);
});

test("shoot: a page for desktops is as wide as a phone lays it out", async (world) => {
  const shot = await shoot(world, "/wide", "mobile");
  assert.equal(shot.widthPx, 980);
});

test("shoot: the same page gives the same bytes", async (world) => {
  const [one, other] = [await shoot(world, "/hero"), await shoot(world, "/hero")];
  assert.deepEqual(one.bytes, other.bytes);
});
