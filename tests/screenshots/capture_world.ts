/// <reference lib="dom" />
import { join } from "node:path";
import {
  CaptureBrowser,
  type CaptureBrowserOptions,
} from "../../src/screenshots/browser/browser.ts";
import type { CaptureDevice } from "../../src/screenshots/capture_status.ts";
import type {
  PageCamera,
  Screenshot,
  ScreenshotRequest,
  ScreenshotResult,
} from "../../src/screenshots/browser/page_screenshot.ts";
import { createPageCamera } from "../../src/screenshots/browser/page_camera.ts";
import { createLog } from "../../src/http/log.ts";
import { FixtureSite } from "./fixture_site.ts";

/** For pages of the test's own, which ask for nothing. */
export const NO_PROXY = "direct://";

/** The tests' folder, so that one of them can look what is left there. */
export function makeBrowser(
  folder: string,
  options: Partial<CaptureBrowserOptions> = {},
): CaptureBrowser {
  return new CaptureBrowser({
    chromePath: null,
    noSandbox: true,
    isRoot: true,
    profileRoot: join(folder, "browser"),
    ...options,
  });
}

/** A site and a page camera: one for all tests of a file. */
export class CaptureWorld {
  readonly logged: string[] = [];
  #site: FixtureSite | undefined;
  #browser: CaptureBrowser | undefined;
  #pageCamera: PageCamera | undefined;
  #folder = "";

  get site(): FixtureSite {
    return this.#site!;
  }

  get browser(): CaptureBrowser {
    return this.#browser!;
  }

  get pageCamera(): PageCamera {
    return this.#pageCamera!;
  }

  get folder(): string {
    return this.#folder;
  }

  async start(options: Partial<CaptureBrowserOptions> = {}): Promise<void> {
    this.#folder = await Deno.makeTempDir({ prefix: "footfall-captures-" });
    this.#site = new FixtureSite();
    this.#browser = makeBrowser(this.#folder, options);
    const log = createLog({
      level: "debug",
      format: "json",
      colour: false,
      now: Date.now,
      write: (line) => this.logged.push(line),
    });
    const config = { chromePath: null, chromeNoSandbox: true, dataDir: this.#folder };
    this.#pageCamera = createPageCamera({ config, log, now: Date.now, browser: this.browser });
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    await this.#site?.[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }

  takeScreenshot(
    path: string,
    device: CaptureDevice = "desktop",
    members: Partial<ScreenshotRequest> = {},
  ): Promise<ScreenshotResult> {
    return this.pageCamera.takeScreenshot({
      siteUrl: this.site.url,
      siteUrlByOperator: true,
      trackedHosts: ["127.0.0.1"],
      path,
      device,
      ownEndpoints: [`${this.site.url}/own/collect`],
      ...members,
    });
  }

  /** The colours of a picture at these points, as `#rrggbb`, each channel rounded to 16 steps. */
  async colours(screenshot: Screenshot, points: readonly (readonly [x: number, y: number])[]) {
    const base64 = screenshot.bytes.toBase64();
    const options = { device: "desktop", proxyUrl: NO_PROXY, deadlineMs: 30_000 } as const;
    return await this.browser.page(options, (page) => page.evaluate(readColours, base64, points));
  }
}

/** Runs in a page of its own. */
async function readColours(
  base64: string,
  points: readonly (readonly [x: number, y: number])[],
): Promise<string[]> {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
  const context = new OffscreenCanvas(1, 1).getContext("2d")!;
  return points.map(([x, y]) => {
    context.drawImage(image, -x, -y);
    const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
    // JPEG is off by a few steps.
    const rounded = [red, green, blue].map((part) => Math.min(255, Math.round(part / 17) * 17));
    return `#${rounded.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  });
}

/** Width and height as the JPEG itself says. */
export function jpegSize(bytes: Uint8Array): { widthPx: number; heightPx: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  let at = 2;
  while (at < bytes.length) {
    const marker = view.getUint16(at);
    if (marker >= 0xffc0 && marker <= 0xffc3) {
      return { heightPx: view.getUint16(at + 5), widthPx: view.getUint16(at + 7) };
    }
    at += 2 + view.getUint16(at + 2);
  }
  throw new Error("This is no JPEG.");
}

/** Declares a test on a world that it shares. */
export type CaptureTest = (name: string, work: (world: CaptureWorld) => Promise<void>) => void;

/** Declares the tests of a file, on one world. Nothing is started before its first picture. */
export function sharedCaptures(options: Partial<CaptureBrowserOptions> = {}): CaptureTest {
  const world = new CaptureWorld();
  Deno.test.beforeAll(() => world.start(options));
  Deno.test.afterAll(() => world.stop());
  return (name, work) =>
    Deno.test({
      name,
      fn: async () => {
        world.site.reset();
        await work(world);
      },
    });
}
