import type { Random } from "./random.ts";
import { ARTICLES, CATEGORIES, HOME, type Page, PRODUCTS, SALE, VIRAL_ARTICLE } from "../shop.ts";

/** How a visit begins: the landing page, its query, and the page before. */
export interface Arrival {
  readonly landing: Page;
  /** With its `?`, or empty. */
  readonly query: string;
  readonly referrer: string | null;
}

export interface TrafficSource {
  readonly weight: number;
  /** The share that leaves after one page: readers of an article do more often than those who look for something. */
  readonly bounceProbability: number;
  readonly arrive: (random: Random) => Arrival;
}

const anyPage = (random: Random): Page =>
  random.chance(0.35)
    ? HOME
    : random.chance(0.5)
    ? random.weighted(PRODUCTS).page
    : random.pick([...CATEGORIES, ...ARTICLES]);

const referral =
  (referrer: string, landing: (random: Random) => Page) => (random: Random): Arrival => ({
    landing: landing(random),
    query: "",
    referrer,
  });

/** The opaque value of an ad network's click id. */
const clickId = (random: Random): string => `demo${random.hex(20)}`;

const article = (random: Random): Page => random.pick(ARTICLES);

/** The sources of all visits, first and later ones, of a shop that does some marketing. */
export const SOURCES: readonly TrafficSource[] = [
  {
    weight: 24,
    bounceProbability: 0.34,
    arrive: (random) => ({
      landing: random.chance(0.7) ? HOME : anyPage(random),
      query: "",
      referrer: null,
    }),
  },
  { weight: 25, bounceProbability: 0.4, arrive: referral("https://www.google.com/", anyPage) },
  { weight: 5, bounceProbability: 0.4, arrive: referral("https://www.bing.com/", anyPage) },
  { weight: 4, bounceProbability: 0.37, arrive: referral("https://duckduckgo.com/", anyPage) },
  {
    weight: 14,
    bounceProbability: 0.45,
    arrive: (random) => ({
      landing: random.weighted(PRODUCTS).page,
      query: `?utm_source=google&utm_medium=cpc&utm_campaign=${
        random.pick(["brand", "beans", "grinders"])
      }&utm_term=${random.pick(["coffee+beans", "espresso+beans", "hand+grinder"])}&gclid=${
        clickId(random)
      }`,
      referrer: "https://www.google.com/",
    }),
  },
  {
    weight: 7,
    bounceProbability: 0.52,
    arrive: (random) => ({
      landing: random.chance(0.5) ? SALE : random.weighted(PRODUCTS).page,
      query: `?utm_source=facebook&utm_medium=paid_social&utm_campaign=autumn-sale&utm_content=${
        random.pick(["carousel", "video"])
      }&fbclid=${clickId(random)}`,
      referrer: "https://l.facebook.com/",
    }),
  },
  {
    weight: 5,
    bounceProbability: 0.5,
    arrive: (random) => ({
      landing: random.weighted(PRODUCTS).page,
      query: "?utm_source=instagram&utm_medium=social&utm_campaign=latte-art",
      referrer: "https://l.instagram.com/",
    }),
  },
  {
    weight: 6,
    bounceProbability: 0.24,
    arrive: (random) => ({
      landing: random.chance(0.6) ? SALE : random.weighted(PRODUCTS).page,
      query: `?utm_source=newsletter&utm_medium=email&utm_campaign=weekly-roast`,
      referrer: null,
    }),
  },
  {
    weight: 4,
    bounceProbability: 0.38,
    arrive: (random) => ({
      landing: random.weighted(PRODUCTS).page,
      query: "?utm_source=partners&utm_medium=referral&utm_campaign=cafe-guide",
      referrer: "https://cafe-guide.example/best-beans",
    }),
  },
  { weight: 4, bounceProbability: 0.3, arrive: referral("https://chatgpt.com/", anyPage) },
  { weight: 1, bounceProbability: 0.6, arrive: referral("https://news.ycombinator.com/", article) },
  { weight: 1, bounceProbability: 0.55, arrive: referral("https://www.reddit.com/", article) },
];

/** The surge of the last days: an article that made it to a front page. */
export const SURGE_SOURCE: TrafficSource = {
  weight: 1,
  bounceProbability: 0.72,
  arrive: referral("https://news.ycombinator.com/", () => VIRAL_ARTICLE),
};
