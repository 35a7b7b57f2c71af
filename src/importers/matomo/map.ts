import { browserName, deviceClass, statedText, systemName } from "../agent_names.ts";
import { membersOf, numberOf, picked, present, sizeOf, textOf } from "../fields.ts";
import type { Members } from "../json_rows.ts";
import { placeOf } from "../places.ts";
import type { MapContext, Mapped } from "../source.ts";

const SECOND_MS = 1000;
const DIMENSION = /^dimension\d+$/;

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
        name: textOf(action.eventAction) ?? "event",
        id,
        properties: present({
          category: textOf(action.eventCategory),
          label: textOf(action.eventName),
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
          keyword: textOf(action.siteSearchKeyword),
          category: textOf(action.siteSearchCategory),
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
        properties: present({ goal: textOf(action.goalName), goalId: goal, value }),
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
  const name = textOf(visit.campaignName) ?? textOf(visit.referrerName);
  return present({
    campaign: name,
    // A campaign needs a source; Matomo's has only a name.
    source: textOf(visit.campaignSource) ?? name,
    medium: textOf(visit.campaignMedium),
    term: textOf(visit.campaignKeyword) ?? textOf(visit.referrerKeyword),
    content: textOf(visit.campaignContent),
  });
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
        browser: browserName(visit.browserName ?? visit.browser),
        os: systemName(visit.operatingSystemName ?? visit.operatingSystem),
        device: deviceClass(visit.deviceType),
        bot: null,
      },
    },
    dimensions,
  };
}

/** Maps a visit: each of its actions is an event. */
export function map(visit: Members, { ids }: MapContext): readonly Mapped[] {
  const actions = Array.isArray(visit.actionDetails)
    ? visit.actionDetails
    : Object.values(membersOf(visit.actionDetails));
  const { event, dimensions } = commonOf(visit);
  const site = textOf(visit.idSite) ?? "";
  const mapped: Mapped[] = [];
  let page: string | null = null;
  let first = true;
  for (const action of actions.map(membersOf)) {
    const meaning = meaningOf(action);
    if (meaning === null) {
      const type = textOf(action.type) ?? "without a type";
      mapped.push({ leftOut: LEFT_OUT[type] ?? `actions ${type}` });
      continue;
    }
    const { name, id, properties, onPage } = meaning;
    const seconds = numberOf(action.timestamp);
    if (onPage) page = textOf(action.url) ?? page;
    mapped.push({
      event: {
        ...event,
        eventId: id === null
          ? ids.fromRow([site, visit.idVisit, action])
          : ids.fromTheirs(`${site}:${id}`),
        name,
        timestamp: seconds === null ? null : seconds * SECOND_MS,
        url: page,
        title: textOf(action.pageTitle),
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
  return mapped;
}
