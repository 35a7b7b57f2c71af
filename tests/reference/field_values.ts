import type { FilterValue } from "./filters.ts";
import { ANONYMOUS_IDS, HOSTS, NAMES, PATHS, TITLES, USERS } from "./random_history.ts";

const TOTALS: readonly FilterValue[] = [
  ...["0", "5", "10", 10, "10.5", 10.5, "10.0", "1e1", "none", ""],
  ...[1e21, "1e+21", "e", 0.1 + 0.2, 1e-7],
];
/** Values that occur, some that do not, and parts of them, by the filter's field. */
export const FIELD_VALUES: Readonly<Record<string, readonly FilterValue[]>> = {
  name: [...NAMES, "$", "$i"],
  path: [...PATHS, "a"],
  host: HOSTS,
  title: [...TITLES, "home", "%", "_", "\\", "'", '"'],
  referrer: [
    "google.com",
    "news.example",
    "chatgpt.com",
    "https://www.google.com/",
    "/post",
    "shop.example",
    "shop.example/",
  ],
  source: ["news", "google", "news.example", "chatgpt.com"],
  medium: ["email", "cpc", "Social", "social", "organic", "referral"],
  campaign: ["spring", "s"],
  term: ["shoes"],
  content: ["top"],
  channel: ["Direct", "Email", "Organic Search", "Referral", "Paid"],
  country: ["DE", "FR"],
  region: ["Berlin", "Bavaria"],
  city: ["Berlin", "Munich"],
  browser: ["Firefox", "Safari"],
  os: ["Linux", "iOS"],
  device: ["desktop", "tablet", "mobile", "other"],
  userId: USERS,
  anonymousId: [...ANONYMOUS_IDS, "a"],
  entryPath: PATHS,
  exitPath: PATHS,
  "properties.plan": ["free", "pro", "10", 10, "true", true],
  "properties.total": TOTALS,
  "properties.n": [7, "8"],
  "properties.ragq": ["true", "false", true],
  "properties.xq": ["0.5", 0.5, "1"],
  "properties.viewportWidthq": ["390", "1024"],
  "properties.depthPxq": ["700"],
  "properties.absent": ["x"],
};
