/// <reference lib="dom" />
import type { Page } from "puppeteer-core/lib/puppeteer/puppeteer-core-browser.js";
import {
  CAPTURE_HEIGHT_PX_MAX,
  CAPTURE_JPEG_QUALITY,
  CAPTURE_SCREENSHOT_MS_MAX,
} from "../capture_limits.ts";
import type { CaptureDevice } from "../capture_status.ts";
import { Deadline } from "../deadline.ts";
import { DEVICE_WINDOWS } from "../device.ts";
import { preparePage } from "./page_preparation.ts";
import { PageSession } from "../page_session.ts";
import type { Screenshot } from "./page_screenshot.ts";

/** There is no picture of this page. The message is for people. */
export class RenderFailed extends Error {
  override readonly name = "RenderFailed";
}

/** A little more than the size of a JPEG of one colour: a smaller picture may be blank. */
const BLANK_BYTES = 3_000;
const BLANK_BYTES_PER_PIXEL = 0.0064;
/** A picture with fewer pixels that differ from the first one is blank: a line of small text has more. */
const DISTINCT_PIXELS_MIN = 60;

/**
 * Takes a picture of a settled page from top to bottom, one pixel for each CSS pixel, cut at
 * CAPTURE_HEIGHT_PX_MAX. Throws RenderFailed if it is blank, and what the browser's protocol throws.
 */
export async function takeScreenshot(
  page: Page,
  device: CaptureDevice,
  deadlineMs: number,
): Promise<Screenshot> {
  const session = await PageSession.open(page);
  try {
    await preparePage(session, new Deadline(deadlineMs));
    const { cssContentSize, cssLayoutViewport } = await session.cdp.send("Page.getLayoutMetrics");
    const { widthPx } = DEVICE_WINDOWS[device];
    const contentPx = Math.ceil(Math.max(cssContentSize.height, cssLayoutViewport.clientHeight));
    const heightPx = Math.min(contentPx, CAPTURE_HEIGHT_PX_MAX);
    const { data } = await session.cdp.send("Page.captureScreenshot", {
      format: "jpeg",
      quality: CAPTURE_JPEG_QUALITY,
      captureBeyondViewport: true,
      // A page that is written from right to left begins at its right edge, and may overflow at its left.
      clip: { x: cssLayoutViewport.pageX, y: 0, width: widthPx, height: heightPx, scale: 1 },
    }, { timeout: CAPTURE_SCREENSHOT_MS_MAX });
    const bytes = Uint8Array.fromBase64(data);
    if (bytes.length < BLANK_BYTES + widthPx * heightPx * BLANK_BYTES_PER_PIXEL) {
      const distinct = await session.run(countDistinct, [data]);
      if (distinct < DISTINCT_PIXELS_MIN) {
        throw new RenderFailed("The page was blank when it was photographed.");
      }
    }
    return {
      bytes,
      contentType: "image/jpeg",
      widthPx,
      heightPx,
      isCut: contentPx > heightPx,
    };
  } finally {
    await session.close();
  }
}

/**
 * Runs in the page: counts the pixels that differ from the first one, in some parts of the picture from top to
 * bottom.
 */
async function countDistinct(base64: string): Promise<number> {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
  const partPx = 600;
  const parts = 6;
  const canvas = new OffscreenCanvas(image.width, Math.min(partPx, image.height));
  const context = canvas.getContext("2d", { willReadFrequently: true })!;
  let distinct = 0;
  let first: Uint8ClampedArray | undefined;
  for (let part = 0; part < parts; part++) {
    const y = Math.floor((image.height - canvas.height) * part / (parts - 1));
    context.drawImage(image, 0, -y);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    first ??= data.slice(0, 4);
    for (let i = 0; i < data.length; i += 4) {
      const difference = Math.abs(data[i]! - first[0]!) + Math.abs(data[i + 1]! - first[1]!) +
        Math.abs(data[i + 2]! - first[2]!);
      if (difference > 48) distinct++;
    }
    if (image.height <= partPx || distinct >= 10_000) break;
  }
  return distinct;
}
