import type { Device, DeviceClass } from "./devices.ts";
import type { Random } from "./random.ts";
import type { PageKind } from "./shop.ts";

/** Something to click on: where its centre lies on a desktop page, and how far clicks scatter. */
interface Spot {
  readonly weight: number;
  readonly selector: string;
  /** Fraction of the document's width. */
  readonly x: number;
  readonly yPx: number;
  readonly spreadX: number;
  readonly spreadYPx: number;
  /** Stays in the window while the page scrolls: `yPx` is then of the window. */
  readonly fixed?: true;
  /** Looks clickable and is not. */
  readonly dead?: true;
}

interface Layout {
  /** Height of the whole page on a desktop, in CSS pixels. */
  readonly heightPx: number;
  readonly spots: readonly Spot[];
}

const spot = (
  weight: number,
  selector: string,
  x: number,
  yPx: number,
  spreadX: number,
  spreadYPx: number,
  flags: { fixed?: true; dead?: true } = {},
): Spot => ({ weight, selector, x, yPx, spreadX, spreadYPx, ...flags });

const NAVIGATION = [
  spot(4, "nav > a:nth-of-type(1)", 0.4, 36, 0.015, 7, { fixed: true }),
  spot(3, "nav > a:nth-of-type(2)", 0.47, 36, 0.015, 7, { fixed: true }),
  spot(1, "nav > a.cart", 0.93, 36, 0.008, 7, { fixed: true }),
];

const LAYOUTS: Record<PageKind, Layout> = {
  home: {
    heightPx: 3400,
    spots: [
      ...NAVIGATION,
      spot(9, "#hero a.button", 0.27, 560, 0.03, 10),
      spot(5, "#bestsellers li:nth-of-type(1) a", 0.2, 1120, 0.05, 80),
      spot(4, "#bestsellers li:nth-of-type(2) a", 0.5, 1120, 0.05, 80),
      spot(2, "#bestsellers li:nth-of-type(3) a", 0.8, 1120, 0.05, 80),
      spot(2, "#hero img", 0.72, 430, 0.07, 90, { dead: true }),
      spot(1, "footer a:nth-of-type(3)", 0.6, 3250, 0.02, 6),
    ],
  },
  category: {
    heightPx: 2600,
    spots: [
      ...NAVIGATION,
      spot(8, "ul.products li:nth-of-type(1) a", 0.3, 520, 0.05, 90),
      spot(6, "ul.products li:nth-of-type(2) a", 0.6, 520, 0.05, 90),
      spot(3, "ul.products li:nth-of-type(4) a", 0.3, 1080, 0.05, 90),
      spot(2, "#filter label:nth-of-type(2)", 0.08, 420, 0.02, 8),
    ],
  },
  product: {
    heightPx: 2900,
    spots: [
      ...NAVIGATION,
      spot(8, "#add-to-cart", 0.71, 610, 0.04, 11),
      spot(4, "#grind-size", 0.71, 520, 0.05, 9),
      spot(4, "img.product-photo", 0.3, 460, 0.08, 110, { dead: true }),
      spot(3, "#reviews summary", 0.4, 1750, 0.08, 10),
    ],
  },
  article: {
    heightPx: 5200,
    spots: [
      ...NAVIGATION,
      spot(4, "article a:nth-of-type(1)", 0.46, 1500, 0.05, 6),
      spot(2, "article figure img", 0.5, 2300, 0.1, 120, { dead: true }),
      spot(2, "aside a.product", 0.5, 4700, 0.06, 30),
    ],
  },
  cart: {
    heightPx: 1300,
    spots: [
      spot(8, "#checkout", 0.78, 480, 0.05, 11),
      spot(3, "button.increase", 0.52, 300, 0.008, 7),
      spot(2, "button.remove", 0.62, 300, 0.008, 7),
    ],
  },
  checkout: {
    heightPx: 1700,
    spots: [
      spot(6, "#pay", 0.36, 1310, 0.06, 12),
      spot(3, "#delivery label:nth-of-type(1)", 0.3, 820, 0.05, 9),
      spot(2, "#coupon summary", 0.75, 420, 0.04, 9),
    ],
  },
  thanks: { heightPx: 1100, spots: [spot(2, "a.continue", 0.5, 520, 0.04, 10)] },
  account: {
    heightPx: 1000,
    spots: [
      spot(5, "form button[type=submit]", 0.5, 560, 0.05, 11),
      spot(2, "form input[type=email]", 0.5, 380, 0.08, 12),
    ],
  },
};

/** Narrow windows stack what stands side by side: taller pages, everything nearer the middle. */
const STRETCH: Record<DeviceClass, number> = { desktop: 1, tablet: 1.25, mobile: 1.7 };
const NARROWING: Record<DeviceClass, number> = { desktop: 1, tablet: 0.85, mobile: 0.45 };

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
  return Math.round(LAYOUTS[kind].heightPx * STRETCH[device.class]);
}

const clamp = (value: number, min: number, max: number): number =>
  Math.min(max, Math.max(min, value));

/** One click on a page, aimed at one of its spots. `selector` asks for a certain one. */
export function aimClick(
  kind: PageKind,
  device: Device,
  random: Random,
  selector: string | null = null,
): ClickProperties {
  const { spots } = LAYOUTS[kind];
  const aimed = spots.find((candidate) => candidate.selector === selector) ??
    random.weighted(spots);
  const { viewport } = device;
  const documentHeight = documentHeightPx(kind, device);
  const centre = 0.5 + (aimed.x - 0.5) * NARROWING[device.class];
  const x = clamp(random.normal(centre, aimed.spreadX), 0.001, 0.999);
  const stretch = aimed.fixed ? 1 : STRETCH[device.class];
  const bottom = aimed.fixed ? viewport.height : documentHeight;
  const y = clamp(random.normal(aimed.yPx * stretch, aimed.spreadYPx), 1, bottom - 1);
  return {
    x: Math.round(x * 10_000) / 10_000,
    y: Math.round(y),
    fixed: aimed.fixed ?? false,
    rage: false,
    dead: aimed.dead ?? false,
    selector: aimed.selector,
    viewportWidth: viewport.width,
    viewportHeight: viewport.height,
    documentWidth: viewport.width,
    documentHeight,
  };
}

/** How far down a page was seen: at least the first window, at most its end. */
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
