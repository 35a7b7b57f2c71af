import { browserName, deviceClass, statedText, systemName } from "../agent_names.ts";
import { membersOf, numberOf, picked, present, sizeOf, textOf } from "../fields.ts";
import type { Members } from "../json_rows.ts";
import { placeOf } from "../places.ts";
import type { MapContext, Mapped } from "../source.ts";

const SECOND_MS = 1000;
const DIMENSION = /^dimension\d+$/;
/** Time zones differ from UTC by multiples of a quarter of an hour. */
const ZONE_STEP_SECONDS = 900;
/** How far the two times of an action may be apart besides. */
const SECONDS_APART_MAX = 60;
/** No time zone differs from UTC by more than this. */
const ZONE_SECONDS_MAX = 14 * 3600;
/** The file name of an icon, such as `desktop` of `…/devices/desktop.png`. */
const ICON = /([a-z_]+)\.(?:png|svg)$/;
/** What the code of a browser or a system is that Matomo did not recognise. */
const UNRECOGNISED = "UNK";
const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#039;": "'",
};

/** Returns a text that visitors sent: Matomo stores, and exports, such texts escaped for HTML. */
function sentText(value: unknown): string | null {
  return textOf(value)?.replace(/&(?:amp|lt|gt|quot|#039);/g, (entity) => ENTITIES[entity]!) ??
    null;
}

/** What an action is as an event. */
interface Meaning {
  readonly name: string;
  /** Its id, unique among actions of its kind in the site. */
  readonly id: string | null;
  readonly properties: Record<string, unknown>;
  /** Whether its `url` is the page on which it happened, and not the address that it led to. */
  readonly onPage: boolean;
}

function meaningOf(action: Members): Meaning | null {
  const pageId = textOf(action.pageId);
  const id = pageId === null ? null : `action:${pageId}`;
  const value = numberOf(action.revenue);
  switch (textOf(action.type)) {
    case "action":
      return { name: "page_view", id, properties: {}, onPage: true };
    case "event":
      return {
        name: sentText(action.eventAction) ?? "event",
        id,
        properties: present({
          category: sentText(action.eventCategory),
          label: sentText(action.eventName),
          value: numberOf(action.eventValue),
        }),
        onPage: true,
      };
    case "download":
    case "outlink":
      return {
        name: textOf(action.type)!,
        id,
        properties: present({ target: textOf(action.url) }),
        onPage: false,
      };
    case "search":
      return {
        name: "site_search",
        id,
        properties: present({
          keyword: sentText(action.siteSearchKeyword),
          category: sentText(action.siteSearchCategory),
          results: numberOf(action.siteSearchCount),
        }),
        onPage: true,
      };
    case "goal": {
      const goal = textOf(action.goalId);
      const page = textOf(action.goalPageId);
      return {
        name: "goal",
        id: goal === null || page === null ? null : `goal:${goal}:${page}`,
        properties: present({ goal: sentText(action.goalName), goalId: goal, value }),
        onPage: true,
      };
    }
    case "ecommerceOrder": {
      const order = textOf(action.orderId);
      return {
        name: "purchase",
        id: order === null ? null : `order:${order}`,
        properties: present({
          orderId: order,
          value,
          tax: numberOf(action.revenueTax),
          shipping: numberOf(action.revenueShipping),
          discount: numberOf(action.revenueDiscount),
          items: Array.isArray(action.itemDetails) ? action.itemDetails : null,
        }),
        onPage: false,
      };
    }
    default:
      return null;
  }
}

const LEFT_OUT: Readonly<Record<string, string>> = {
  content: "impressions of content",
  ecommerceAbandonedCart: "abandoned carts",
};

/** Reads the campaign of the visit: Matomo removes campaign parameters from addresses. */
function campaignOf(visit: Members) {
  if (textOf(visit.referrerType) !== "campaign") return null;
  const name = sentText(visit.campaignName) ?? sentText(visit.referrerName);
  return present({
    campaign: name,
    // A campaign needs a source; Matomo's has only a name.
    source: sentText(visit.campaignSource) ?? name,
    medium: sentText(visit.campaignMedium),
    term: sentText(visit.campaignKeyword) ?? sentText(visit.referrerKeyword),
    content: sentText(visit.campaignContent),
  });
}

/** Returns by how many seconds a local time is ahead of UTC, and how far that is from a time zone's; null: none is. */
function zoneOf(local: number | undefined, utc: number | null) {
  if (local === undefined || utc === null) return null;
  const ahead = Math.round((local - utc) / ZONE_STEP_SECONDS) * ZONE_STEP_SECONDS;
  return Math.abs(ahead) > ZONE_SECONDS_MAX
    ? null
    : { ahead, apart: Math.abs(local - utc - ahead) };
}

const isNear = (zone: ReturnType<typeof zoneOf>): boolean =>
  zone !== null && zone.apart <= SECONDS_APART_MAX;

/** By how many seconds clocks change: an hour; half an hour on Lord Howe Island. */
const CLOCK_CHANGES_SECONDS: ReadonlySet<number> = new Set([3600, 1800]);

/**
 * Returns the times with `shift` seconds added from the first action after the change of clocks on. The actions are in
 * the order in which they happened, so the change lies where only the shift makes an order of the times, at a step of
 * time zones. Returns `times` if nothing tells a change.
 * @param isLate whether the last of `times` is after the visit's last sign of life
 */
function timesAcrossChange(times: readonly number[], shift: number, isLate: boolean) {
  const back = times.flatMap((time, i) => i > 0 && times[i - 1]! > time ? [i] : []);
  // What Matomo tells of the last action may be of later signs of life.
  if (back.length > 1 || (back.length === 0 && !isLate)) return times;
  const stepOf = (time: number) => Math.floor(time / ZONE_STEP_SECONDS);
  const change = (back.length > 0 ? back.values() : times.keys().drop(1))
    .find((i) => stepOf(times[i - 1]!) < stepOf(times[i]! + shift));
  return change === undefined ? times : times.map((time, i) => i < change ? time : time + shift);
}

/**
 * Returns the times in UTC of a visit's actions, which Matomo writes as the clock of the site's time zone; those of the
 * first and last one it tells in UTC, too; they may be a few seconds apart for other reasons. The last one tells the
 * zone where the list lacks the first action and has the last. Where both tell, and differ by a change of clocks, they
 * may have changed amid the visit.
 */
function utcTimes(visit: Members, written: readonly number[]): readonly number[] {
  const lastSeconds = numberOf(visit.lastActionTimestamp);
  const first = zoneOf(written[0], numberOf(visit.firstActionTimestamp));
  const last = (numberOf(visit.truncatedActionsCount) ?? 0) > 0
    ? null
    : zoneOf(written.at(-1), lastSeconds);
  const ahead = (isNear(first) || !isNear(last) ? first ?? last : last)?.ahead ?? 0;
  const plain = written.map((seconds) => seconds - ahead);
  if (!isNear(first) || !isNear(last)) return plain;
  const shift = ahead - last!.ahead;
  if (!CLOCK_CHANGES_SECONDS.has(Math.abs(shift))) return plain;
  return timesAcrossChange(plain, shift, plain.at(-1)! > lastSeconds! + SECONDS_APART_MAX);
}

/** Returns the class of the device by its icon, as its name is in the language of the reply. */
function deviceOf(visit: Members) {
  const [, icon] = ICON.exec(textOf(visit.deviceTypeIcon) ?? "") ?? [];
  return deviceClass(icon) ?? deviceClass(visit.deviceType);
}

/** Returns what all events of a visit have in common. */
function commonOf(visit: Members) {
  const dimensions = present(picked(visit, (name) => DIMENSION.test(name)));
  return {
    event: {
      clock: "client" as const,
      anonymousId: textOf(visit.visitorId) ?? `visit-${textOf(visit.idVisit) ?? ""}`,
      userId: textOf(visit.userId),
      sessionId: textOf(visit.idVisit),
      context: { screen: sizeOf(visit.resolution), locale: statedText(visit.languageCode) },
      server: {
        geo: placeOf(visit.countryCode, visit.region, visit.city),
        browser: visit.browserCode === UNRECOGNISED
          ? null
          : browserName(visit.browserName ?? visit.browser),
        os: visit.operatingSystemCode === UNRECOGNISED
          ? null
          : systemName(visit.operatingSystemName ?? visit.operatingSystem),
        device: deviceOf(visit),
        bot: null,
      },
    },
    dimensions,
  };
}

/** Maps a visit: each of its actions is an event. */
export function map(visit: Members, { ids }: MapContext): readonly Mapped[] {
  const listed = Array.isArray(visit.actionDetails)
    ? visit.actionDetails
    : Object.values(membersOf(visit.actionDetails));
  const actions = listed.map(membersOf);
  const written = actions.map(({ timestamp }) => numberOf(timestamp));
  const times = utcTimes(visit, written.filter((seconds) => seconds !== null)).values();
  const utc = written.map((seconds) => seconds === null ? null : times.next().value! * SECOND_MS);
  const { event, dimensions } = commonOf(visit);
  const site = textOf(visit.idSite) ?? "";
  const mapped: Mapped[] = [];
  let page: string | null = null;
  let first = true;
  for (const [place, action] of actions.entries()) {
    const meaning = meaningOf(action);
    if (meaning === null) {
      const type = textOf(action.type) ?? "without a type";
      mapped.push({ leftOut: LEFT_OUT[type] ?? `actions ${type}` });
      continue;
    }
    const { name, id, properties, onPage } = meaning;
    if (onPage) page = textOf(action.url) ?? page;
    mapped.push({
      event: {
        ...event,
        eventId: id === null
          ? ids.fromRow([site, visit.idVisit, action])
          : ids.fromTheirs(`${site}:${id}`),
        name,
        timestamp: utc[place]!,
        url: page,
        title: sentText(action.pageTitle),
        // The referrer and the campaign are the visit's: its first event gets them.
        referrer: first ? textOf(visit.referrerUrl) : null,
        campaign: first ? campaignOf(visit) : null,
        properties: {
          ...dimensions,
          ...present(picked(action, (member) => DIMENSION.test(member))),
          ...properties,
        },
      },
    });
    first = false;
  }
  // Its `visitor_log_maximum_actions_per_visit`, 500 unless set, is how many of a visit it tells.
  if ((numberOf(visit.truncatedActionsCount) ?? 0) > 0) {
    mapped.push({ leftOut: "ends of visits that Matomo cut off" });
  }
  return mapped;
}
