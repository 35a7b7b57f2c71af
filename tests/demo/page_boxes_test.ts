import assert from "node:assert/strict";
import { type Page } from "puppeteer-core";
import { PAGES } from "../../src/demo/shop.ts";
import { createShop } from "../../src/demo/site/shop_site.ts";
import { type Box, PAGE_BOXES, type PageBoxes, SPOTS } from "../../src/demo/visitors/layout.ts";
import { launchChromium } from "../support/chromium.ts";

const FILE = new URL("../../src/demo/visitors/page_boxes.json", import.meta.url);
const WINDOWS = {
  desktop: { width: 1440, height: 900 },
  tablet: { width: 820, height: 1180 },
  mobile: { width: 390, height: 844 },
} as const;
/** Borders and rounding: fonts must not matter, and more than this they would. */
const OFF_PX_MAX = 3;

/** In the page: the boxes of some selectors, and the height of it all. */
const MEASURE = `(wanted) => {
  const { scrollWidth, scrollHeight } = document.documentElement;
  const fraction = (px) => Math.round(px / scrollWidth * 10_000) / 10_000;
  const boxes = wanted.map((selector) => {
    const element = document.querySelector(selector);
    if (element === null) throw new Error("The page has no " + selector);
    const { left, top, width, height } = element.getBoundingClientRect();
    return [selector, {
      left: fraction(left),
      topPx: Math.round(top),
      width: fraction(width),
      heightPx: Math.round(height),
      fixed: element.closest("header") !== null,
    }];
  });
  return { documentHeightPx: scrollHeight, boxes: Object.fromEntries(boxes) };
}`;

async function measure(page: Page, selectors: readonly string[]): Promise<PageBoxes> {
  return await page.evaluate(`(${MEASURE})(${JSON.stringify(selectors)})`) as PageBoxes;
}

/** How far one side of a box is off what is written down, in pixels. */
function offPx(found: Box, known: Box, widthPx: number): number {
  const sides = [
    (found.left - known.left) * widthPx,
    (found.left + found.width - known.left - known.width) * widthPx,
    found.topPx - known.topPx,
    found.topPx + found.heightPx - known.topPx - known.heightPx,
  ];
  return Math.max(...sides.map(Math.abs));
}

/**
 * With `-- --update` it writes down what it measures:
 * `deno test -A tests/demo/page_boxes_test.ts -- --update`.
 */
Deno.test("demo shop: clicks are aimed at what its pages show, on each device", async () => {
  const update = Deno.args.includes("--update");
  const shop = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    createShop({ server: "", apiKey: "", showsArrivals: false }, null),
  );
  const browser = await launchChromium();
  const measured: Record<string, Record<string, PageBoxes>> = {};
  try {
    const page = await browser.newPage();
    for (const { kind, path } of PAGES) {
      for (const [device, size] of Object.entries(WINDOWS)) {
        await page.setViewport(size);
        await page.goto(`http://127.0.0.1:${shop.addr.port}${path}`);
        const found = await measure(page, SPOTS[kind].map(({ selector }) => selector));
        const known = measured[kind]?.[device] ??
          (update ? found : PAGE_BOXES[kind][device as keyof typeof WINDOWS]);
        const place = `${path} on a ${device}`;
        const heightPx = found.documentHeightPx;
        assert.ok(Math.abs(heightPx - known.documentHeightPx) <= OFF_PX_MAX, place);
        for (const [selector, box] of Object.entries(found.boxes)) {
          const was = known.boxes[selector];
          assert.ok(was !== undefined && offPx(box, was, size.width) <= OFF_PX_MAX, place);
        }
        (measured[kind] ??= {})[device] ??= found;
      }
    }
  } finally {
    await browser.close();
    await shop.shutdown();
  }
  if (update) await Deno.writeTextFile(FILE, `${JSON.stringify(measured, null, 2)}\n`);
});
