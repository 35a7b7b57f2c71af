import type { EventRow } from "../../../src/store/event_row.ts";
import type { InsightsResult } from "../../reference/insights.ts";
import type { World } from "../../reference/world.ts";
import { type Dice, diceOf, pick, poisson, visit } from "./insight_world.ts";

const DAY_MS = 86_400_000;
const FIRST_MS = Date.parse("2026-03-01T00:00:00Z");
const DAYS = 40;
const CHANGED_DAYS = 7;
/** The last week, whose first day is 2026-04-03. */
export const PLANTED_RANGE = { from: "2026-04-03", to: "2026-04-09" };
const VISITS_OF_A_DAY = 150;

type Members = Partial<EventRow>;

/** A value that visits have, and of a hundred visits how many. */
type Shares = readonly (readonly [number, Members])[];

const SOURCES: Shares = [
  [34, {}],
  [26, { referrer: "https://www.google.com/" }],
  [12, { utm_source: "newsletter", utm_medium: "email", utm_campaign: "weekly" }],
  [10, { referrer: "https://partner.example/" }],
  [10, { utm_source: "google", utm_medium: "cpc", utm_campaign: "brand" }],
  [8, { referrer: "https://t.co/x" }],
];
const PATHS: Shares = ["/", "/docs", "/pricing", "/blog/one", "/about"]
  .map((path, i) => [[40, 25, 12, 13, 10][i]!, { path }]);
const COUNTRIES: Shares = ["DE", "US", "FR", "BR", null]
  .map((country, i) => [[40, 30, 12, 10, 8][i]!, { country }]);
const DEVICES: Shares = ["d", "m", "t"].map((device, i) => [[60, 32, 8][i]!, { device }]);
const BROWSERS: Shares = ["Chrome", "Safari", "Firefox"]
  .map((browser, i) => [[60, 28, 12][i]!, { browser }]);

/** Something that happened to a site in the last week. */
export interface PlantedCause {
  readonly name: string;
  /** The members that visits of the cause have. */
  readonly members: Members;
  /** How many more visits per day the cause brings. */
  readonly more: number;
  /** The share of visits with these members that the cause keeps away. */
  readonly less: number;
  /** Values that name the cause, each as dimension and value. */
  readonly values: readonly string[];
}

/** No two of them have a value in common. */
export const CAUSES: readonly PlantedCause[] = [
  {
    name: "a newsletter that many open",
    members: { utm_source: "newsletter", utm_medium: "email", utm_campaign: "weekly" },
    more: 50,
    less: 0,
    values: ["campaign weekly", "source newsletter", "channel Email"],
  },
  {
    name: "a page that is linked from elsewhere",
    members: { referrer: "https://news.ycombinator.com/", path: "/blog/two" },
    more: 60,
    less: 0,
    values: ["source news.ycombinator.com", "entryPath /blog/two"],
  },
  {
    name: "a country in which it is talked about",
    members: { country: "BR" },
    more: 55,
    less: 0,
    values: ["country BR"],
  },
  {
    name: "a browser that no longer works",
    members: { browser: "Firefox" },
    more: 0,
    less: 0.9,
    values: ["browser Firefox"],
  },
  {
    name: "a page that is read by many",
    members: { path: "/pricing" },
    more: 55,
    less: 0,
    values: ["entryPath /pricing"],
  },
  {
    name: "a partner that links no more",
    members: { referrer: "https://partner.example/" },
    more: 0,
    less: 1,
    values: ["source partner.example"],
  },
  {
    name: "a device that is on sale",
    members: { device: "t" },
    more: 55,
    less: 0,
    values: ["device tablet"],
  },
];

function draw(dice: Dice, shares: Shares): Members {
  let left = dice() * 100;
  return shares.find(([share]) => (left -= share) < 0)?.[1] ?? shares.at(-1)![1];
}

function has(members: Members, { members: wanted }: PlantedCause): boolean {
  return Object.entries(wanted).every(([name, value]) => members[name as keyof Members] === value);
}

function drawVisit(dice: Dice): Members {
  const parts = [SOURCES, PATHS, COUNTRIES, DEVICES, BROWSERS].map((shares) => draw(dice, shares));
  return Object.assign({}, ...parts);
}

/** What visits of a day have. */
function visitsOf(dice: Dice, day: number, causes: readonly PlantedCause[]): Members[] {
  const weekday = new Date(FIRST_MS + day * DAY_MS).getUTCDay();
  const level = (weekday === 0 || weekday === 6 ? 0.8 : 1) * (0.93 + 0.14 * dice());
  const visits = Array.from(
    { length: poisson(dice, VISITS_OF_A_DAY * level) },
    () => drawVisit(dice),
  );
  if (day < DAYS - CHANGED_DAYS) return visits;
  const stays = (members: Members) =>
    !causes.some((cause) => has(members, cause) && dice() < cause.less);
  const more = causes.flatMap(({ more, members }) =>
    Array.from({ length: poisson(dice, more * level) }, () => {
      // Visits by a source bring along nothing of another one.
      const { utm_source: _, utm_medium: __, utm_campaign: ___, referrer: ____, ...rest } =
        drawVisit(dice);
      const isOfSource = "referrer" in members || "utm_source" in members;
      return { ...isOfSource ? rest : drawVisit(dice), ...members };
    })
  );
  return [...visits, ...more].filter(stays);
}

/** A history of forty days, in whose last week this happened. The same for the same seed. */
export function plantedRows(seed: number, causes: readonly PlantedCause[]): EventRow[] {
  const dice = diceOf(seed);
  return Array.from({ length: DAYS }, (_, day) =>
    visitsOf(dice, day, causes).map((members) => {
      // A quarter come back now and then.
      const who = `who${Math.floor(dice() < 0.25 ? dice() * 400 : 400 + dice() * 1e9)}`;
      const atMs = FIRST_MS + day * DAY_MS + Math.floor(dice() * 85_000_000);
      const { path, ...rest } = members;
      return visit(dice, who, atMs, pick(dice, [1, 1, 1, 2, 3]), rest)
        .map((row, i) => i === 0 ? { ...row, path: path ?? null } : row);
    })).flat(2);
}

export function plantedWorld(seed: number, causes: readonly PlantedCause[]): World {
  return {
    project: { timezone: "UTC", siteUrl: null },
    events: plantedRows(seed, causes),
    asOfMs: FIRST_MS + DAYS * DAY_MS,
  };
}

/** Some of the causes, others for other seeds. */
export function someCauses(seed: number, count: number): PlantedCause[] {
  const dice = diceOf(seed ^ 0x5bd1e995);
  return CAUSES.map((cause) => ({ cause, at: dice() })).sort((a, b) => a.at - b.at)
    .slice(0, count).map(({ cause }) => cause);
}

type Told = Pick<InsightsResult, "findings">["findings"][number];

const valueOf = (finding: Told) => {
  const { dimension, value } = finding as { dimension?: string; value?: string | null };
  return `${dimension} ${value}`;
};

/** Whether the first findings are the causes, one each, and whether there are no others. */
export function judged(
  { findings }: Pick<InsightsResult, "findings">,
  causes: readonly PlantedCause[],
) {
  const first = findings.slice(0, causes.length).map(valueOf);
  const lead = causes.every(({ values }) =>
    first.filter((value) => values.includes(value)).length === 1
  );
  return { lead, alone: lead && findings.length === causes.length, told: findings.map(valueOf) };
}
