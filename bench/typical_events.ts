/**
 * The load of the benchmarks: what a shop's site sends. 55 % page views, 20 % clicks, 10 % scrolls,
 * 15 % custom events, ten to a request, from 50,000 visitors with 200 user agents.
 */

export const EVENT_KINDS = ["page_view", "click", "scroll", "custom"] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** An event as a client sends it, with placeholders where each sending writes its own values. */
export interface EventTemplate {
  readonly kind: EventKind;
  readonly event: Readonly<Record<string, unknown>>;
}

/** Placeholders: as long as what takes their place, so that a request can be patched in place. */
export const EVENT_ID_PLACE = "00000000-0000-7000-8000-000000000000";
export const ANONYMOUS_ID_PLACE = "11111111-0000-4000-8000-000000000000";
export const TIME_PLACE = "2000-01-01T00:00:00.000Z";
export const ADDRESS_PLACE = "100.100.100.100";
export const USER_ID_PLACE = "user-00000";

export const VISITORS = 50_000;
export const USER_AGENTS = 200;
const USERS = 20_000;
const PAGES = 500;

/** Numbers in [0, 1) that are the same in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SYSTEMS = [
  "Windows NT 10.0; Win64; x64",
  "Macintosh; Intel Mac OS X 10_15_7",
  "X11; Linux x86_64",
  "Linux; Android 10; K",
];

/** One of USER_AGENTS browsers: five families in forty versions. */
export function userAgent(index: number): string {
  const system = SYSTEMS[index % SYSTEMS.length]!;
  const version = 100 + Math.floor(index / 5);
  switch (index % 5) {
    case 0:
      return `Mozilla/5.0 (${system}; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`;
    case 1:
      return "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 " +
        `(KHTML, like Gecko) Version/17.${version} Mobile/15E148 Safari/604.1`;
    case 2:
      return `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) ` +
        `Chrome/${version}.0.0.0 Safari/537.36 Edg/${version}.0.0.0`;
    default:
      return `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) ` +
        `Chrome/${version}.0.${index % 5}.0 Safari/537.36`;
  }
}

/** A visitor's address, as long as ADDRESS_PLACE; neighbours share networks, as they do in a city. */
export function visitorAddress(visitor: number): string {
  const last = 100 + visitor % 100;
  const network = Math.floor(visitor / 100);
  return `${100 + (network * 7) % 26}.${100 + network % 100}.${100 + (network * 31) % 124}.${last}`;
}

export function visitorAnonymousId(visitor: number): string {
  const digits = (Math.imul(visitor + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
  return `${digits}-${digits.slice(0, 4)}-4${digits.slice(1, 4)}-8${
    digits.slice(2, 5)
  }-${digits}0000`;
}

/** Whose device a visitor is; a user has two or three of them. */
export const visitorUserId = (visitor: number): string => `user-${10_000 + visitor % USERS}`;

const LOCALES = [
  ["en-US", "America/New_York"],
  ["de-DE", "Europe/Berlin"],
  [
    "pt-BR",
    "America/Sao_Paulo",
  ],
  ["ja-JP", "Asia/Tokyo"],
  ["en-GB", "Europe/London"],
] as const;
const SCREENS = [[1920, 1080], [1440, 900], [390, 844], [412, 915], [2560, 1440]] as const;
const SOURCES = [["google", "cpc"], ["newsletter", "email"], ["facebook", "paid_social"]] as const;
const REFERRERS = ["https://www.google.com/", "https://duckduckgo.com/", "https://t.co/qXw3bS0aZ1"];
const CUSTOM_NAMES = ["add_to_cart", "search", "signup_started", "video_played", "coupon_applied"];

type Random = () => number;
const pick = <T>(random: Random, values: readonly T[]): T =>
  values[Math.floor(random() * values.length)]!;
const whole = (random: Random, max: number): number => Math.floor(random() * max);

function kindOf(share: number): EventKind {
  if (share < 0.55) return "page_view";
  if (share < 0.75) return "click";
  return share < 0.85 ? "scroll" : "custom";
}

function pageUrl(random: Random, tagged: boolean): string {
  // Few pages get most of the visits.
  const page = Math.floor(PAGES * random() ** 2);
  const url = `https://shop.example/products/garden-and-home/item-${page}`;
  if (!tagged) return url;
  const [source, medium] = pick(random, SOURCES);
  return `${url}?utm_source=${source}&utm_medium=${medium}&utm_campaign=spring-sale`;
}

/** The ten documented properties of a click, or the four of a scroll. */
function pointerProperties(random: Random, kind: "click" | "scroll", width: number) {
  const size = {
    viewportWidth: width,
    viewportHeight: 500 + whole(random, 600),
    documentHeight: 2_000 + whole(random, 6_000),
  };
  if (kind === "scroll") return { depthPx: whole(random, size.documentHeight), ...size };
  return {
    x: Math.round(random() * 10_000) / 10_000,
    y: whole(random, size.documentHeight),
    fixed: random() < 0.1,
    rage: random() < 0.02,
    dead: random() < 0.05,
    selector: `main > section:nth-of-type(${1 + whole(random, 9)}) > a.product-card`,
    documentWidth: width,
    ...size,
  };
}

function eventOf(random: Random, kind: EventKind, isSignedIn: boolean): EventTemplate["event"] {
  const [width, height] = pick(random, SCREENS);
  const [locale, timezone] = pick(random, LOCALES);
  const place = { screen: { width, height }, locale, timezone };
  const head = {
    eventId: EVENT_ID_PLACE,
    name: kind === "custom" ? pick(random, CUSTOM_NAMES) : kind,
    timestamp: TIME_PLACE,
    anonymousId: ANONYMOUS_ID_PLACE,
    ...(isSignedIn ? { userId: USER_ID_PLACE } : {}),
    url: pageUrl(random, kind === "page_view" && random() < 0.1),
  };
  if (kind === "click" || kind === "scroll") {
    return { ...head, properties: pointerProperties(random, kind, width), context: place };
  }
  const context = { viewport: { width, height: height - 120 }, ...place };
  if (kind === "custom") {
    const properties = {
      sku: `SKU-${10_000 + whole(random, 5_000)}`,
      price: Math.round(random() * 20_000) / 100,
      list: "recommended",
    };
    return { ...head, properties, context };
  }
  return {
    ...head,
    ...(random() < 0.2 ? { referrer: pick(random, REFERRERS) } : {}),
    title: `Item ${whole(random, PAGES)} for garden and home - Example Shop`,
    context,
  };
}

/** `count` batches of `size` events, each of one visitor; in one of ten the visitor is signed in. */
export function typicalBatches(count: number, size: number, random: Random): EventTemplate[][] {
  return Array.from({ length: count }, () => {
    const isSignedIn = random() < 0.1;
    return Array.from({ length: size }, () => {
      const kind = kindOf(random());
      return { kind, event: eventOf(random, kind, isSignedIn) };
    });
  });
}

const HEX = new TextEncoder().encode("0123456789abcdef");
let written = 0;

/** Writes a UUIDv7 of the time `ms` as 36 characters at `at`; no two of one process are equal. */
export function writeEventId(bytes: Uint8Array, at: number, ms: number): void {
  const put = (from: number, count: number, value: number) => {
    for (let i = count - 1, rest = value; i >= 0; i--, rest = Math.floor(rest / 16)) {
      bytes[at + from + i] = HEX[rest % 16]!;
    }
  };
  const count = written++;
  put(0, 8, Math.floor(ms / 0x10000));
  put(9, 4, ms % 0x10000);
  put(15, 3, Math.floor(Math.random() * 0x1000));
  put(20, 3, Math.floor(Math.random() * 0x1000));
  put(24, 4, Math.floor(Math.random() * 0x10000));
  put(28, 8, count);
  bytes[at + 8] =
    bytes[at + 13] =
    bytes[at + 18] =
    bytes[at + 23] =
      0x2d;
  bytes[at + 14] = 0x37;
  bytes[at + 19] = 0x38;
}
