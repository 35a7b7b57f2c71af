import { type Device, pickDevice, pickOtherDevice, pickRobot } from "./devices.ts";
import { momentOf, type ShopDay, shopDays, weekdayWeight } from "./calendar.ts";
import { addressIn, PLACES, type VisitorCountry } from "./places.ts";
import { Random } from "./random.ts";
import { SHOP_ORIGIN, SHOP_TIMEZONE } from "../shop.ts";
import { SOURCES, SURGE_SOURCE, type TrafficSource } from "./sources.ts";
import { crawlEvents, type DemoEvent, visitEvents, type VisitPlan } from "./visit.ts";

export interface DemoOptions {
  /** Any whole number; another one makes another history. */
  readonly seed: number;
  readonly weeks: number;
  /** About how many people; each day's share varies. */
  readonly visitors: number;
  /** All events are before this instant, in epoch milliseconds. */
  readonly untilMs: number;
  /** The shop's origin. Default: that of `footfall demo`. */
  readonly origin?: string;
}

/** Events of one browser, to be sent as that browser: at most `BATCH_EVENTS_MAX`, oldest first. */
export interface DemoBatch {
  readonly address: string;
  readonly userAgent: string;
  readonly events: readonly DemoEvent[];
  /** How many people are complete once this one is: the progress. */
  readonly visitorsDone: number;
}

export interface Demo {
  /** People and crawlers in all. */
  readonly visitors: number;
  /** Yields the events of one person after the other, so that memory does not grow with their number. */
  readonly batches: () => Generator<DemoBatch>;
}

export const BATCH_EVENTS_MAX = 200;
const DAYS_PER_WEEK = 7;
/** The surge comes on this many days before the last one. */
export const SURGE_DAYS = 3;
/** On each of them it brings this many times the new people of an ordinary day. */
const SURGE_FACTOR = 0.8;
const ROBOTS_PER_DAY = 2;
const VISITS_PER_PERSON_MAX = 40;

/** One browser of one person, with its identity. */
interface Browser {
  readonly device: Device;
  readonly address: string;
  readonly anonymousId: string;
  userId: string | null;
  readonly events: DemoEvent[];
}

interface Person {
  readonly place: VisitorCountry;
  readonly locale: string;
  readonly browsers: readonly Browser[];
  readonly appetite: number;
  /** The visit, counted from 0, on which an account is made; null: none is. */
  readonly signUpVisit: number | null;
  readonly accountId: string;
  readonly returnProbability: number;
  readonly meanGapDays: number;
}

/** How many come for the first time on a day. Depends on the date alone, so a later run adds days and changes none. */
interface Cohort {
  readonly dayIndex: number;
  readonly kind: "visitor" | "surge" | "robot";
  readonly size: number;
}

function planCohorts(days: readonly ShopDay[], options: DemoOptions): Cohort[] {
  const perDay = options.visitors / days.length;
  return days.flatMap((day, dayIndex) => {
    const random = new Random(`${options.seed}/${day.date}`);
    const size = Math.round(perDay * weekdayWeight(day) * (0.88 + 0.24 * random.fraction()));
    const fromEnd = days.length - 1 - dayIndex;
    const surge = fromEnd >= 1 && fromEnd <= SURGE_DAYS ? Math.round(perDay * SURGE_FACTOR) : 0;
    return [
      { dayIndex, kind: "visitor" as const, size },
      { dayIndex, kind: "surge" as const, size: surge },
      { dayIndex, kind: "robot" as const, size: ROBOTS_PER_DAY },
    ];
  });
}

function createPerson(random: Random): Person {
  const place = random.weighted(PLACES);
  const loyal = random.chance(0.3);
  const signsUp = random.chance(loyal ? 0.55 : 0.12);
  const first = pickDevice(random);
  const devices = signsUp && random.chance(0.4) ? [first, pickOtherDevice(first, random)] : [first];
  return {
    place,
    locale: random.pick(place.locales),
    browsers: devices.map((device) => ({
      device,
      address: addressIn(place, random),
      anonymousId: random.hex(32),
      userId: null,
      events: [],
    })),
    appetite: random.fraction() * (loyal ? 1 : 0.6),
    signUpVisit: signsUp ? random.integer(0, loyal ? 2 : 1) : null,
    accountId: `user-${random.hex(12)}`,
    returnProbability: loyal ? 0.86 : 0.36,
    meanGapDays: loyal ? 4 : 8,
  };
}

/** Returns the days of a person's visits, counted from the first one. Some may be after the end of the history. */
function visitDays(person: Person, random: Random): number[] {
  const days = [0];
  let day = 0;
  while (days.length < VISITS_PER_PERSON_MAX && random.chance(person.returnProbability)) {
    day += 1 + Math.floor(random.exponential(person.meanGapDays));
    days.push(day);
  }
  return days;
}

/** Returns how the person signs in on a visit, on each browser once: first with a new account; null: not. */
function signsAs(person: Person, browser: Browser, visit: number): VisitPlan["signsAs"] {
  if (person.signUpVisit === null || visit < person.signUpVisit || browser.userId !== null) {
    return null;
  }
  const known = person.browsers.some((candidate) => candidate.userId !== null);
  return { event: known ? "login" : "sign_up", userId: person.accountId };
}

function livePerson(
  random: Random,
  days: readonly ShopDay[],
  firstDay: number,
  surge: boolean,
  origin: string,
): readonly Browser[] {
  const person = createPerson(random);
  const came = visitDays(person, random);
  for (let visit = 0; visit < came.length; visit++) {
    const day = days[firstDay + came[visit]!];
    if (day === undefined) break;
    const browser = visit === 0 ? person.browsers[0]! : random.pick(person.browsers);
    const signing = signsAs(person, browser, visit);
    const source: TrafficSource = surge && visit === 0 ? SURGE_SOURCE : random.weighted(SOURCES);
    const plan: VisitPlan = {
      origin,
      startMs: momentOf(day, random),
      source,
      device: browser.device,
      anonymousId: browser.anonymousId,
      userId: browser.userId,
      signsAs: signing,
      locale: person.locale,
      timezone: person.place.timezone,
      appetite: surge ? 0 : person.appetite,
    };
    browser.events.push(...visitEvents(plan, random));
    if (signing !== null) browser.userId = signing.userId;
  }
  return person.browsers;
}

function liveRobot(random: Random, day: ShopDay, origin: string): readonly Browser[] {
  const place = PLACES.find((candidate) => candidate.country === "US") ?? random.pick(PLACES);
  const device = pickRobot(random);
  const plan: VisitPlan = {
    origin,
    startMs: momentOf(day, random),
    source: random.pick(SOURCES),
    device,
    anonymousId: null,
    userId: null,
    signsAs: null,
    locale: "en-US",
    timezone: "UTC",
    appetite: 0,
  };
  const events = crawlEvents(plan, random);
  return [{ device, address: addressIn(place, random), anonymousId: "", userId: null, events }];
}

function* batchesOf(
  browsers: readonly Browser[],
  untilMs: number,
  visitorsDone: number,
): Generator<DemoBatch> {
  for (const { address, device, events } of browsers) {
    const past = events.filter((event) => Date.parse(event.timestamp) < untilMs);
    for (let start = 0; start < past.length; start += BATCH_EVENTS_MAX) {
      yield {
        address,
        userAgent: device.userAgent,
        events: past.slice(start, start + BATCH_EVENTS_MAX),
        visitorsDone,
      };
    }
  }
}

/**
 * Makes some weeks of a demo shop, up to `untilMs`: weekly and daily rhythm, campaigns, a funnel, people who sign
 * in after some visits, clicks and scrolls, crawlers, and in the last days a surge from one referrer.
 *
 * The same options make the same events with the same ids. A later `untilMs` makes the same events for the days
 * in common, except the surge, which moves along, and adds later ones.
 */
export function demoEvents(options: DemoOptions): Demo {
  const { origin = SHOP_ORIGIN } = options;
  const days = shopDays(options.untilMs, options.weeks * DAYS_PER_WEEK, SHOP_TIMEZONE);
  const cohorts = planCohorts(days, options);

  function* batches(): Generator<DemoBatch> {
    let done = 0;
    for (const { dayIndex, kind, size } of cohorts) {
      const day = days[dayIndex]!;
      for (let member = 0; member < size; member++) {
        const random = new Random(`${options.seed}/${day.date}/${kind}/${member}`);
        const browsers = kind === "robot"
          ? liveRobot(random, day, origin)
          : livePerson(random, days, dayIndex, kind === "surge", origin);
        yield* batchesOf(browsers, options.untilMs, ++done);
      }
    }
  }

  return { visitors: cohorts.reduce((sum, cohort) => sum + cohort.size, 0), batches };
}
