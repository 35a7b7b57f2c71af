/** Events of every kind that the earlier program takes, the odd ones too: the same for one seed. */
import { seededRandom, userAgent } from "../typical_events.ts";

const DAY_MS = 86_400_000;

export interface VariedBatch {
  readonly headers: Record<string, string>;
  /** Whether it is to be sent with the project's secret key. */
  readonly isOfBackend: boolean;
  readonly events: readonly (Readonly<Record<string, unknown>> & { readonly eventId: string })[];
}

/** Texts that spreadsheets, CSV readers, JSON parsers or SQL stumble upon. */
const TEXTS = [
  'say "hello", then go; twice',
  "line\r\nbreak\ttab",
  "=1+1",
  "+49 30 1234",
  "@SUM(A1)",
  "a,b;c|d",
  "\\N",
  "NULL",
  "{}",
  "'; DROP TABLE events; --",
  "naïve 日本語 🧪 \u202e",
  " leading and trailing ",
  "\u2028\u0085\u001f\u007f",
  "x".repeat(2_000),
];
const PROPERTIES: readonly Record<string, unknown>[] = [
  { amount: 19.99, currency: "EUR", "a\n": 1, 'q"': { "b\\": [true, null] } },
  { n: 1e21, small: 1e-7, zero: -0, max: Number.MAX_VALUE, min: 5e-324, whole: 2 ** 53 },
  { list: [1, "two", [3, { four: 4 }]], empty: {}, none: [], nothing: null, "": "no name" },
  { "caf\u00e9": "é", ["__proto__"]: { polluted: true }, constructor: 1, $session: true },
  { deep: { a: { b: { c: { d: { e: { f: { g: { h: 1 } } } } } } } } },
  { text: "y".repeat(9_000), plan: "team" },
  { server: { ip: "6.6.6.6" }, plan: "free" },
];
const AGENTS = [
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "curl/8.5.0",
  "",
];
const REFERRERS = [
  null,
  "https://www.google.com/search?q=x",
  "https://news.ycombinator.com/item?id=1",
  "android-app://com.slack/",
  "https://shop.example/own",
  "not a url",
];
const QUERIES = [
  "",
  "?utm_source=news&utm_medium=email&utm_campaign=May%20%22sale%22",
  "?gclid=abc&x=1#part",
  "?utm_source=x&utm_medium=cpc&utm_term=shoes%2C+red&utm_content=b",
  "?fbclid=1",
];

type Random = () => number;
const pick = <T>(random: Random, from: readonly T[]): T =>
  from[Math.floor(random() * from.length)]!;

function uuid(random: Random, version: number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16));
  hex[12] = String(version);
  hex[16] = pick(random, ["8", "9", "a", "b"]);
  return hex.join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Who did it: named, anonymous, both, or nobody. Some devices are shared, and sign-ins come late. */
function who(random: Random, people: number): Record<string, unknown> {
  const person = Math.floor(people * random() ** 2);
  const device = random() < 0.1 ? `device ${person % 7}` : `anon-${person}`;
  const user = `user ${person}${person % 5 === 0 ? " – “ü”" : ""}`;
  const kind = random();
  if (kind < 0.06) return {};
  if (kind < 0.74) return { anonymousId: device };
  if (kind < 0.86) return { userId: user };
  return { anonymousId: device, userId: user, sessionId: `s${person}` };
}

const POINTER = (random: Random) => ({
  x: Math.round(random() * 1e4) / 1e4,
  y: random() * 5_000,
  fixed: random() < 0.1,
  rage: random() < 0.05,
  dead: random() < 0.1,
  selector: pick(random, ["main > a.buy", 'button[title="a, b"]', "#x"]),
  viewportWidth: pick(random, [390, 800, 1_440]),
  viewportHeight: 800,
  documentWidth: 1_440,
  documentHeight: 6_000,
  more: pick(random, [undefined, "kept", 3.5]),
});

function what(random: Random): Record<string, unknown> {
  const kind = random();
  if (kind < 0.45) {
    return {
      name: "page_view",
      title: pick(random, TEXTS).slice(0, 2_000),
      referrer: pick(random, REFERRERS),
      context: {
        viewport: { width: 1_440, height: 900 },
        locale: "de-DE",
        timezone: "Europe/Berlin",
      },
    };
  }
  if (kind < 0.6) return { name: "click", properties: POINTER(random) };
  if (kind < 0.7) {
    const { viewportWidth, viewportHeight, documentHeight } = POINTER(random);
    const depthPx = Math.round(random() * 6_000);
    return {
      name: "scroll",
      properties: { depthPx, viewportWidth, viewportHeight, documentHeight },
    };
  }
  return {
    ...pick(random, [{ name: "purchase" }, { event: "signup" }, { type: "Ämne, odd" }, {}]),
    properties: pick(random, PROPERTIES),
    ...(random() < 0.2 ? { campaignX: pick(random, TEXTS), list: [1, { "k\t": 2 }] } : {}),
  };
}

function when(random: Random, endMs: number, days: number): Record<string, unknown> {
  const ms = Math.floor(endMs - days * DAY_MS * random());
  const kind = random();
  if (kind < 0.01) return { timestamp: -1 - Math.floor(random() * 1e11) };
  return { timestamp: kind < 0.5 ? ms : new Date(ms).toISOString() };
}

/** So many events that happened in the `days` before `endMs`, or long before; in batches. */
export function* variedBatches(
  events: number,
  seed: number,
  endMs: number,
  days: number,
  batchEvents: number,
): Generator<VariedBatch> {
  const random = seededRandom(seed);
  const people = Math.ceil(events / 15);
  for (let made = 0; made < events; made += batchEvents) {
    const agent = random() < 0.06 ? pick(random, AGENTS) : userAgent(Math.floor(random() * 200));
    const last = () => 1 + Math.floor(random() * 250);
    const address = random() < 0.1
      ? `2001:db8::${last().toString(16)}`
      : `${pick(random, [8, 81, 93, 192])}.168.${last()}.${last()}`;
    yield {
      headers: { "user-agent": agent, "x-forwarded-for": address },
      isOfBackend: random() < 0.05,
      events: Array.from({ length: Math.min(batchEvents, events - made) }, () => ({
        eventId: uuid(random, pick(random, [4, 7])),
        url: `https://shop.example/p/${Math.floor(random() ** 3 * 60)}${pick(random, QUERIES)}`,
        ...when(random, endMs, days),
        ...who(random, people),
        ...what(random),
      })),
    };
  }
}

/** An event of now that tells its number, of somebody who did nothing before. */
export function freshEvent(n: number) {
  return {
    eventId: crypto.randomUUID(),
    name: "meanwhile",
    anonymousId: `fresh-${n % 50}`,
    path: "/meanwhile",
    properties: { n },
  };
}
