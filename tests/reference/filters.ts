import type { EventRow } from "../../src/store/event_row.ts";
import { type Range, rangeOf, type RangeParams } from "./calendar.ts";
import { type Fact, historyOf, isTechnical, type Session, siteHost, type World } from "./world.ts";
import { hostOf } from "./traffic.ts";

export type Operator =
  | "is"
  | "is_not"
  | "contains"
  | "not_contains"
  | "starts_with"
  | "matches"
  | "exists"
  | "not_exists"
  | "gt"
  | "gte"
  | "lt"
  | "lte";

export type FilterValue = string | number | boolean;

export interface Filter {
  readonly field: string;
  readonly op: Operator;
  readonly values?: readonly FilterValue[];
}

/** An event's name and what must hold of the event. */
export interface EventMatch {
  readonly name?: string;
  readonly filters?: readonly Filter[];
}

export interface ReadParams extends RangeParams {
  readonly filters?: readonly Filter[];
  readonly bots?: "exclude" | "include" | "only";
  /** Slug of one of the world's segments. */
  readonly segment?: string;
}

const COLUMN_FIELDS: Readonly<Record<string, keyof EventRow>> = {
  name: "name",
  path: "path",
  host: "host",
  title: "title",
  country: "country",
  region: "region",
  city: "city",
  browser: "browser",
  os: "os",
};
const DEVICES: Readonly<Record<string, string>> = {
  d: "desktop",
  t: "tablet",
  m: "mobile",
  o: "other",
};
const SESSION_FIELDS = [
  "source",
  "medium",
  "campaign",
  "term",
  "content",
  "channel",
  "entryPath",
  "exitPath",
];
const PROPERTY_PREFIX = "properties.";

export function isSessionField(field: string): boolean {
  return SESSION_FIELDS.includes(field);
}

/** What a session's filters and the rows of an acquisition read see. */
export function sessionValue(session: Session, field: string): string | null {
  switch (field) {
    case "entryPath":
      return session.landing.row.path;
    case "exitPath":
      return session.exit.row.path;
    case "country":
    case "region":
    case "city":
    case "browser":
    case "os":
      return session.landing.row[field];
    case "device":
      return deviceOf(session.landing.row);
    case "source":
    case "medium":
    case "campaign":
    case "term":
    case "content":
    case "channel":
    case "referrer":
      return session.traffic[field];
    default:
      throw new Error(`no field of a session: ${field}`);
  }
}

function deviceOf({ device }: EventRow): string | null {
  return device === null ? null : DEVICES[device]!;
}

/** The value of any filter field as text; null where it is missing. */
export function fieldText(fact: Fact, field: string, world: World): string | null {
  if (field.startsWith(PROPERTY_PREFIX)) return jsonText(propertyOf(fact, field));
  if (isSessionField(field)) {
    return fact.session === null ? null : sessionValue(fact.session, field);
  }
  if (field === "device") return deviceOf(fact.row);
  if (field === "userId") return fact.user;
  if (field === "referrer") return referrerHost(fact.row, world);
  const column = COLUMN_FIELDS[field];
  if (column === undefined) throw new Error(`unknown field: ${field}`);
  return fact.row[column] as string | null;
}

/** As JSON; undefined where it is missing or JSON's null. */
export function propertyOf(fact: Fact, field: string): unknown {
  const key = field.startsWith(PROPERTY_PREFIX) ? field.slice(PROPERTY_PREFIX.length) : field;
  return fact.properties.get(key) ?? undefined;
}

/** Numbers as JavaScript writes them, which JSON does too. */
function jsonText(value: unknown): string | null {
  if (value === undefined) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}

const withoutWww = (host: string) => host.replace(/^www\./, "");

/** Without `www.`; the event's own host and the site's are no referrers. */
function referrerHost(row: EventRow, world: World): string | null {
  const host = hostOf(row.referrer);
  if (host === null) return null;
  const own = [row.host, siteHost(world)].some((other) =>
    other !== null && withoutWww(other) === withoutWww(host)
  );
  return own ? null : withoutWww(host);
}

/** Of what a person may have several: a positive condition holds for one of them, its contrary for none. */
function holdsForPerson(fact: Fact, { op, values = [] }: Filter, world: World): boolean {
  const ids = [...historyOf(world).anonymousIds.get(fact.actor) ?? []];
  const some = (test: (id: string, value: string) => boolean) =>
    ids.some((id) => values.some((value) => test(id, String(value))));
  switch (op) {
    case "is":
      return some((id, value) => id === value);
    case "is_not":
      return !some((id, value) => id === value);
    case "contains":
      return some((id, value) => id.includes(value));
    case "not_contains":
      return !some((id, value) => id.includes(value));
    case "starts_with":
      return some((id, value) => id.startsWith(value));
    case "matches":
      return some((id, value) => patternOf(value).test(id));
    case "exists":
      return ids.length > 0;
    case "not_exists":
      return ids.length === 0;
    default:
      throw new Error(`${op} compares numbers`);
  }
}

/** Whether one filter holds for one event. */
export function holds(fact: Fact, filter: Filter, world: World): boolean {
  const { field, op, values = [] } = filter;
  if (field === "anonymousId") return holdsForPerson(fact, filter, world);
  const text = fieldText(fact, field, world);
  const number = field.startsWith(PROPERTY_PREFIX) ? propertyOf(fact, field) : undefined;
  const any = (test: (value: string) => boolean) => values.some((value) => test(String(value)));
  const compared = (test: (left: number, right: number) => boolean) =>
    typeof number === "number" && any((value) => isNumeric(value) && test(number, Number(value)));
  /** A referrer is compared as a whole where the filter's value has a slash and is no pattern. */
  const subject = (value: string) =>
    field === "referrer" && op !== "matches" && value.includes("/") ? fact.row.referrer : text;
  const equals = (value: string) =>
    typeof number === "number" && isNumeric(value)
      ? number === Number(value)
      : subject(value) === value;
  switch (op) {
    case "is":
      return any(equals);
    case "is_not":
      return !any(equals);
    case "contains":
      return any((value) => subject(value)?.includes(value) ?? false);
    case "not_contains":
      return !any((value) => subject(value)?.includes(value) ?? false);
    case "starts_with":
      return any((value) => subject(value)?.startsWith(value) ?? false);
    case "matches":
      return any((value) => {
        const searched = subject(value);
        return searched !== null && patternOf(value).test(searched);
      });
    case "exists":
      return text !== null;
    case "not_exists":
      return text === null;
    case "gt":
      return compared((left, right) => left > right);
    case "gte":
      return compared((left, right) => left >= right);
    case "lt":
      return compared((left, right) => left < right);
    case "lte":
      return compared((left, right) => left <= right);
  }
}

/** A leading `(?i)` asks for any case. */
function patternOf(value: string): RegExp {
  return value.startsWith("(?i)") ? new RegExp(value.slice(4), "iu") : new RegExp(value, "u");
}

function isNumeric(text: string): boolean {
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text);
}

export function matches(fact: Fact, { name, filters = [] }: EventMatch, world: World): boolean {
  return (name === undefined || fact.row.name === name) &&
    filters.every((filter) => holds(fact, filter, world));
}

/** Whether a question that says this of names names technical events: these, or all that begin so. */
function namesTechnical({ name, filters = [] }: EventMatch): boolean {
  return name?.startsWith("$") === true || filters.some(({ field, op, values = [] }) => {
    const begins = values.some((value) => String(value).startsWith("$"));
    if (field !== "name") return false;
    return ["is", "contains", "starts_with"].includes(op) && begins ||
      op === "matches" && values.some((value) => /^\^?\\\$/.test(String(value)));
  });
}

/**
 * Which of the events looked at a match takes: of those with a technical name only what the match,
 * or a filter of the read, names.
 */
export function takes(
  world: World,
  { filters = [] }: Pick<ReadParams, "filters">,
  match: EventMatch,
): (fact: Fact) => boolean {
  const areMeant = namesTechnical(match) || namesTechnical({ filters });
  return (fact) => (areMeant || !isTechnical(fact.row)) && matches(fact, match, world);
}

/** A read asks for the same events once a bucket. */
const selections = new WeakMap<World, WeakMap<ReadParams, readonly Fact[]>>();

/** The events that count: technical ones where the filters name them. At any time, in order. */
export function selectedEvents(world: World, params: ReadParams): readonly Fact[] {
  return lookedAt(world, params).filter(takes(world, params, {}));
}

/** The events that pass `bots` and `filters`, technical ones too, at any time, in order. */
export function lookedAt(world: World, params: ReadParams): readonly Fact[] {
  let ofWorld = selections.get(world);
  if (ofWorld === undefined) selections.set(world, ofWorld = new WeakMap());
  let selected = ofWorld.get(params);
  if (selected === undefined) {
    const { bots, filters = [] } = params;
    selected = historyOf(world).facts.filter((fact) =>
      passesBots(fact, bots) && filters.every((filter) => holds(fact, filter, world))
    );
    ofWorld.set(params, selected);
  }
  return selected;
}

export function passesBots({ row }: Fact, bots: ReadParams["bots"] = "exclude"): boolean {
  return bots === "include" || (row.bot === true) === (bots === "only");
}

export function within(range: Pick<Range, "fromMs" | "toMs">): (fact: Fact) => boolean {
  return ({ atMs }) => atMs >= range.fromMs && atMs < range.toMs;
}

/** The events that pass `bots` and `filters` and lie in the range. */
export function selectedInRange(
  world: World,
  params: ReadParams,
  range: Pick<Range, "fromMs" | "toMs"> = rangeOf(world, params),
): Fact[] {
  return selectedEvents(world, params).filter(within(range));
}

/**
 * The sessions that start in the range and hold an event, in the range or not, that passes `bots`
 * and every filter. Each counts whole.
 */
export function countingSessions(
  world: World,
  params: ReadParams,
  range: Pick<Range, "fromMs" | "toMs"> = rangeOf(world, params),
): Session[] {
  const selected = new Set(selectedEvents(world, params).map(({ session }) => session));
  return historyOf(world).sessions.filter((session) =>
    session.startMs >= range.fromMs && session.startMs < range.toMs && selected.has(session)
  );
}
