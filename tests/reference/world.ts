import type { EventRow } from "../../src/store/event_row.ts";
import type { Traffic } from "../../src/attribution/channels.ts";
import type { ImportedFact } from "./imported.ts";
import type { SegmentDefinition } from "./segments.ts";
import { hostOf, trafficOf } from "./traffic.ts";

/**
 * The reference: every read over plain arrays, written for clarity from the definitions of the
 * numbers and independently of the SQL. Tests hold the server's answers against it.
 */
export interface World {
  readonly project: { readonly timezone: string; readonly siteUrl: string | null };
  readonly events: readonly EventRow[];
  readonly asOfMs: number;
  /** Daily sums of other products. */
  readonly imported?: readonly ImportedFact[];
  /** The world with everybody, where this is one of a segment's people. */
  readonly whole?: World;
  /** Saved segments. */
  readonly segments?: readonly SegmentDefinition[];
}

/** An event with what the whole history says of it. */
export interface Fact {
  readonly row: EventRow;
  readonly atMs: number;
  /** Whoever did it: distinct actors have distinct keys. */
  readonly actor: string;
  /** The actor's user, if the actor is one. */
  readonly user: string | null;
  /** What clients sent as `properties`, read back from the columns too. */
  readonly properties: ReadonlyMap<string, unknown>;
  session: Session | null;
}

export interface Session {
  readonly actor: string;
  /** In order of time, ties by event id. */
  readonly facts: readonly Fact[];
  readonly startMs: number;
  readonly endMs: number;
  /** The first page view, or the first event of a session that has none. */
  readonly landing: Fact;
  /** The last page view, or the last event of a session that has none. */
  readonly exit: Fact;
  readonly traffic: Traffic;
  readonly pageViews: readonly Fact[];
  readonly bounce: boolean;
}

export interface History {
  /** In order of time, ties by event id. */
  readonly facts: readonly Fact[];
  readonly sessions: readonly Session[];
  /** When each actor was first seen, under no filter. */
  readonly firstSeenMs: ReadonlyMap<string, number>;
  /** The anonymous ids that belong to each actor. */
  readonly anonymousIds: ReadonlyMap<string, ReadonlySet<string>>;
  /** The user of each anonymous id that has one. */
  readonly users: ReadonlyMap<string, string>;
}

const SESSION_GAP_MS = 30 * 60 * 1000;
/** They come without anybody having done something of note. */
const PASSIVE_NAMES = ["page_view", "scroll", "click"];

const VIEWPORT_PROPERTIES = {
  viewportWidth: "viewport_width",
  viewportHeight: "viewport_height",
  documentHeight: "document_height",
} as const;
/** Properties that are stored in columns, by the event's name. */
const COLUMN_PROPERTIES: Readonly<Record<string, Readonly<Record<string, keyof EventRow>>>> = {
  click: {
    ...VIEWPORT_PROPERTIES,
    documentWidth: "document_width",
    x: "pointer_x",
    y: "pointer_y",
    fixed: "fixed",
    rage: "rage",
    dead: "dead",
    selector: "selector",
  },
  scroll: { ...VIEWPORT_PROPERTIES, depthPx: "depth_px" },
};

const histories = new WeakMap<World, History>();

/** Worked out once for a world: identities, sessions, first sightings. */
export function historyOf(world: World): History {
  let history = histories.get(world);
  if (history === undefined) histories.set(world, history = readHistory(world));
  return history;
}

function readHistory(world: World): History {
  const rows = [...world.events].sort((a, b) =>
    Date.parse(a.occurred_at) - Date.parse(b.occurred_at) || byCodeUnits(a.event_id, b.event_id)
  );
  // Whose an id is does not depend on a segment.
  const known = world.whole === undefined ? null : historyOf(world.whole);
  const users = known?.users ?? usersOfAnonymousIds(rows);
  const facts = rows.map((row): Fact => {
    const user = row.user_id ??
      (row.anonymous_id === null ? null : users.get(row.anonymous_id) ?? null);
    const actor = user !== null
      ? `user ${user}`
      : row.anonymous_id !== null
      ? `anonymous ${row.anonymous_id}`
      : `hash ${row.visitor_hash}`;
    const atMs = Date.parse(row.occurred_at);
    return { row, atMs, actor, user, properties: propertiesOf(row), session: null };
  });
  const firstSeenMs = new Map<string, number>();
  for (const { row, actor, atMs } of facts) {
    if (!isTechnical(row) && !firstSeenMs.has(actor)) firstSeenMs.set(actor, atMs);
  }
  const cutting = facts.filter(({ row }) => row.in_session && !isTechnical(row));
  const sessions = [...groupBy(cutting, (fact) => fact.actor)]
    .flatMap(([, own]) => cut(own))
    .map((own) => sessionOf(own, world));
  const anonymousIds = new Map<string, Set<string>>();
  for (const { anonymous_id } of rows) {
    if (anonymous_id === null) continue;
    const user = users.get(anonymous_id);
    const actor = user === undefined ? `anonymous ${anonymous_id}` : `user ${user}`;
    anonymousIds.set(actor, (anonymousIds.get(actor) ?? new Set()).add(anonymous_id));
  }
  return {
    ...{ facts, sessions, firstSeenMs, users },
    anonymousIds: known?.anonymousIds ?? anonymousIds,
  };
}

/** The first user, in order of time, that each anonymous id was seen with. */
function usersOfAnonymousIds(rows: readonly EventRow[]): Map<string, string> {
  const users = new Map<string, string>();
  for (const { anonymous_id, user_id } of rows) {
    if (anonymous_id !== null && user_id !== null && !users.has(anonymous_id)) {
      users.set(anonymous_id, user_id);
    }
  }
  return users;
}

function propertiesOf(row: EventRow): Map<string, unknown> {
  const properties = new Map<string, unknown>();
  for (const [key, column] of Object.entries(COLUMN_PROPERTIES[row.name] ?? {})) {
    if (row[column] !== null) properties.set(key, row[column]);
  }
  // A column may hold a rounded value; then the one that was sent stands in the JSON.
  for (const [key, value] of Object.entries(JSON.parse(row.properties ?? "{}"))) {
    properties.set(key, value);
  }
  return properties;
}

/** More than 30 minutes without an event end a session; exactly 30 do not. */
function cut(facts: readonly Fact[]): Fact[][] {
  const sessions: Fact[][] = [];
  let lastMs = -Infinity;
  for (const fact of facts) {
    if (fact.atMs - lastMs > SESSION_GAP_MS) sessions.push([]);
    sessions.at(-1)!.push(fact);
    lastMs = fact.atMs;
  }
  return sessions;
}

function sessionOf(facts: readonly Fact[], world: World): Session {
  const pageViews = facts.filter(isPageView);
  const first = facts[0]!;
  const last = facts.at(-1)!;
  const landing = pageViews[0] ?? first;
  const session: Session = {
    actor: first.actor,
    facts,
    startMs: first.atMs,
    endMs: last.atMs,
    landing,
    exit: pageViews.at(-1) ?? last,
    traffic: trafficOf(landing.row, siteHost(world)),
    pageViews,
    bounce: pageViews.filter(isInteractive).length <= 1 &&
      facts.filter(isInteractive).every(({ row }) => PASSIVE_NAMES.includes(row.name)),
  };
  for (const fact of facts) fact.session = session;
  return session;
}

/** Names that begin with `$` are technical: they tell who is who, and little else. */
export function isTechnical({ name }: EventRow): boolean {
  return name.startsWith("$");
}

/** An event that says of itself that it is none of the visitor's doing undoes no bounce. */
function isInteractive({ row }: Fact): boolean {
  return row.interactive !== false;
}

export function isPageView({ row }: Fact): boolean {
  return row.name === "page_view";
}

export function siteHost(world: World): string | null {
  return hostOf(world.project.siteUrl);
}

/** The different actors of these. */
export function actorsOf(facts: Iterable<{ readonly actor: string }>): Set<string> {
  return new Set([...facts].map(({ actor }) => actor));
}

/** Ascending by UTF-16 units, which for the texts in use is the order of their bytes. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** As byCodeUnits, with missing values last. */
export function byValue(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return byCodeUnits(a, b);
}

/** Groups in the order in which their keys first appear. */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
