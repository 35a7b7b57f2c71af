import { isMembers, type Members, parseJson } from "../../json_text.ts";
import { PROPERTIES_BYTES_MAX } from "../../limits.ts";
import type { ClientEvent } from "../client_event.ts";
import { present } from "../fields.ts";

/** Technical events of Plausible's tracker, by its own names. */
const TECHNICAL = new Set(["engagement"]);

/** The value of the first of these members that has one. */
export function memberOf(body: Members, ...names: readonly string[]): unknown {
  return names.map((name) => body[name]).find((value) => value !== undefined && value !== null);
}

/** JSON takes at most six characters for one: longer texts exceed what can be stored. */
const PROPS_TEXT_LENGTH_MAX = 6 * PROPERTIES_BYTES_MAX;
const REVENUE_TEXT_LENGTH_MAX = 1_024;

/**
 * An object, which older trackers send as JSON in a text; null: it is not one. A longer text is not parsed, as
 * its values were not counted.
 */
function membersOf(value: unknown, lengthMax: number): Members | null {
  if (typeof value !== "string") return isMembers(value) ? value : null;
  if (value.length > lengthMax) return null;
  try {
    const parsed = parseJson(value);
    return isMembers(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** Amounts are numbers, also where they were sent as text: goals add them up. */
function amountOf(value: unknown): unknown {
  if (typeof value !== "string" || value.trim() === "") return value;
  const amount = Number(value);
  return Number.isFinite(amount) ? amount : value;
}

/** `{ amount, currency }` as two properties, as goals take them. */
function revenueOf(body: Members): Members {
  const { amount, currency } = membersOf(memberOf(body, "$", "revenue"), REVENUE_TEXT_LENGTH_MAX) ??
    {};
  return amount === undefined || amount === null
    ? {}
    : present({ revenue: amountOf(amount), currency });
}

function nameOf(name: unknown): unknown {
  if (name === "pageview") return "page_view";
  return typeof name === "string" && TECHNICAL.has(name) ? `$${name}` : name;
}

/** The body of `/api/event` as an event. Plausible's clients make no id. */
export function mapEvent(body: Members): ClientEvent {
  const name = memberOf(body, "n", "name");
  const given = memberOf(body, "p", "props", "m", "meta");
  // As it is, it is refused by its size.
  const props = typeof given === "string" && given.length > PROPS_TEXT_LENGTH_MAX
    ? { props: given }
    : membersOf(given, PROPS_TEXT_LENGTH_MAX);
  const properties: Members = {
    ...props,
    ...revenueOf(body),
    // In percent of the page's height, and in milliseconds.
    ...(name === "engagement" ? present({ scrollDepth: body.sd, engagementTime: body.e }) : {}),
    ...(memberOf(body, "i", "interactive") === false ? { $interactive: false } : {}),
  };
  const url = memberOf(body, "u", "url");
  const referrer = memberOf(body, "r", "referrer");
  const isDecoded = typeof given === "string" ||
    typeof memberOf(body, "$", "revenue") === "string";
  return {
    id: null,
    ...isDecoded ? { isDecoded } : {},
    event: { name: nameOf(name), url, referrer, properties },
  };
}
