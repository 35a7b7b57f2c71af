import type { PageKind } from "../shop.ts";
import type { Device, DeviceClass } from "./devices.ts";
import MEASURED from "./page_boxes.json" with { type: "json" };
import type { Random } from "./random.ts";

/** Something to click on. Its position on the page is in `page_boxes.json`. */
export interface Spot {
  readonly weight: number;
  readonly selector: string;
  /** It looks clickable, and is not. */
  readonly dead?: true;
}

const spot = (weight: number, selector: string, flags: { dead?: true } = {}): Spot => ({
  weight,
  selector,
  ...flags,
});

const NAVIGATION = [
  spot(4, "nav > a:nth-of-type(1)"),
  spot(3, "nav > a:nth-of-type(2)"),
  spot(1, "nav > a.cart"),
];

/** What people click on, on each kind of page. */
export const SPOTS: Readonly<Record<PageKind, readonly Spot[]>> = {
  home: [
    ...NAVIGATION,
    spot(9, "#hero a.button"),
    spot(5, "#bestsellers li:nth-of-type(1) a"),
    spot(4, "#bestsellers li:nth-of-type(2) a"),
    spot(2, "#bestsellers li:nth-of-type(3) a"),
    spot(2, "#hero img", { dead: true }),
    spot(1, "footer a:nth-of-type(3)"),
  ],
  category: [
    ...NAVIGATION,
    spot(8, "ul.products li:nth-of-type(1) a"),
    spot(6, "ul.products li:nth-of-type(2) a"),
    spot(3, "ul.products li:nth-of-type(4) a"),
    spot(2, "#filter label:nth-of-type(2)"),
  ],
  product: [
    ...NAVIGATION,
    spot(8, "#add-to-cart"),
    spot(4, "#grind-size"),
    spot(4, "img.product-photo", { dead: true }),
    spot(3, "#reviews summary"),
  ],
  article: [
    ...NAVIGATION,
    spot(4, "article a:nth-of-type(1)"),
    spot(2, "article figure img", { dead: true }),
    spot(2, "aside a.product"),
  ],
  cart: [spot(8, "#checkout"), spot(3, "button.increase"), spot(2, "button.remove")],
  checkout: [
    spot(6, "#pay"),
    spot(3, "#delivery label:nth-of-type(1)"),
    spot(2, "#coupon summary"),
  ],
  thanks: [spot(2, "a.continue")],
  account: [spot(5, "form button[type=submit]"), spot(2, "form input[type=email]")],
};

/** The position of a part of a page; left edge and width are fractions of the document's width. */
export interface Box {
  readonly left: number;
  readonly topPx: number;
  readonly width: number;
  readonly heightPx: number;
  /** Whether it stays in the window while the page scrolls; `topPx` is then that in the window. */
  readonly fixed: boolean;
}

/** The layout of a kind of page on a device class. */
export interface PageBoxes {
  readonly documentHeightPx: number;
  /** By selector. */
  readonly boxes: Readonly<Record<string, Box>>;
}

/** Measured in a browser on the shop's own pages, 1440, 820 and 390 px wide. */
export const PAGE_BOXES: Readonly<Record<PageKind, Readonly<Record<DeviceClass, PageBoxes>>>> =
  MEASURED;

export interface ClickProperties {
  readonly x: number;
  readonly y: number;
  readonly fixed: boolean;
  readonly rage: boolean;
  readonly dead: boolean;
  readonly selector: string;
  readonly viewportWidth: number;
  readonly viewportHeight: number;
  readonly documentWidth: number;
  readonly documentHeight: number;
}

export interface ScrollProperties {
  readonly depthPx: number;
  readonly viewportWidth: number;
  readonly viewportHeight: number;
  readonly documentHeight: number;
}

export function documentHeightPx(kind: PageKind, device: Device): number {
  return PAGE_BOXES[kind][device.class].documentHeightPx;
}

/** The standard deviation of clicks from the middle, as a share of half the width. */
const SPREAD = 0.35;

/** Returns a random position around the middle of a stretch, and inside of it. */
function aim(random: Random, from: number, length: number): number {
  const at = random.normal(from + length / 2, SPREAD * length / 2);
  return Math.min(from + 0.98 * length, Math.max(from + 0.02 * length, at));
}

/** Makes a click on one of a page's spots: the one with `selector`, else a random one. */
export function aimClick(
  kind: PageKind,
  device: Device,
  random: Random,
  selector: string | null = null,
): ClickProperties {
  const spots = SPOTS[kind];
  const aimed = spots.find((candidate) => candidate.selector === selector) ??
    random.weighted(spots);
  const { viewport } = device;
  const { documentHeightPx, boxes } = PAGE_BOXES[kind][device.class];
  const box = boxes[aimed.selector]!;
  const x = aim(random, box.left, box.width);
  const y = aim(random, box.topPx, box.heightPx);
  return {
    x: Math.round(x * 10_000) / 10_000,
    y: Math.round(y),
    fixed: box.fixed,
    rage: false,
    dead: aimed.dead ?? false,
    selector: aimed.selector,
    viewportWidth: viewport.width,
    viewportHeight: viewport.height,
    documentWidth: viewport.width,
    documentHeight: documentHeightPx,
  };
}

/** Makes a scroll event's properties: the page was seen down to the first window's end at least. */
export function scrollOn(kind: PageKind, device: Device, random: Random): ScrollProperties {
  const documentHeight = documentHeightPx(kind, device);
  const first = Math.min(device.viewport.height, documentHeight);
  const further = random.exponential(kind === "article" ? 0.55 : 0.4) * (documentHeight - first);
  return {
    depthPx: Math.min(documentHeight, Math.round(first + further)),
    viewportWidth: device.viewport.width,
    viewportHeight: device.viewport.height,
    documentHeight,
  };
}
