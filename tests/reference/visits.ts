import { Buffer } from "node:buffer";
import { instantText } from "./calendar.ts";
import {
  countingSessions,
  matches,
  passesBots,
  propertyOf,
  type ReadParams,
  sessionValue,
} from "./filters.ts";
import { countedVisits, type OfVisits } from "./behind.ts";
import type { GoalDefinition } from "./goals.ts";
import { sum } from "./statistics.ts";
import {
  byCodeUnits,
  type Fact,
  historyOf,
  isPageView,
  type Session,
  type World,
} from "./world.ts";

export interface VisitsParams extends ReadParams {
  /** Whom a user id, an anonymous id or a hash names. */
  readonly actor?: string;
  /** Slug of one of the goals. */
  readonly goal?: string;
  /** A number of another read. */
  readonly of?: OfVisits;
}

/** A visitor hash as replies tell it. */
export function hashText(hash: string): string {
  return Buffer.from(hash.slice(2), "hex").toString("base64url");
}

/** How replies name an actor, and by what kind of id. */
export function nameOf(actor: string): { readonly kind: "u" | "a" | "h"; readonly text: string } {
  const at = actor.indexOf(" ");
  const [word, value] = [actor.slice(0, at), actor.slice(at + 1)];
  if (word === "hash") return { kind: "h", text: hashText(value) };
  return { kind: word === "user" ? "u" : "a", text: value };
}

/**
 * Whom a text names: a user, else whoever an anonymous id belongs to, else a hash; null: nobody. Whose
 * an id is does not depend on a segment.
 */
export function actorNamed(world: World, text: string): string | null {
  const { facts } = historyOf(world.whole ?? world);
  if (facts.some(({ row }) => row.user_id === text)) return `user ${text}`;
  const own = facts.filter(({ row }) => row.anonymous_id === text);
  if (own.length > 0) return (own.find(({ row }) => row.user_id === null) ?? own[0]!).actor;
  const hashed = facts.find(({ row }) =>
    row.user_id === null && row.anonymous_id === null && hashText(row.visitor_hash) === text
  );
  return hashed?.actor ?? null;
}

/** 8 bytes of the time and 16 of the landing event's id. */
export function visitIdOf({ startMs, landing }: Session): string {
  const bytes = Buffer.alloc(24);
  bytes.writeBigInt64BE(BigInt(startMs));
  bytes.write(landing.row.event_id.replaceAll("-", ""), 8, "hex");
  return bytes.toString("base64url");
}

/** What conversions of a goal are worth together. */
export function worthOf({ value }: GoalDefinition, conversions: readonly Fact[]) {
  if (value === undefined) return { amount: null, currency: null };
  const { currency } = value;
  if ("fixed" in value) return { amount: value.fixed * conversions.length, currency };
  const numbers = conversions.map((fact) => propertyOf(fact, value.property));
  return { amount: sum(numbers.filter((one) => typeof one === "number")), currency };
}

function conversionsOf(
  world: World,
  session: Session,
  bots: ReadParams["bots"],
  goals: readonly GoalDefinition[],
) {
  return goals.toSorted((a, b) => byCodeUnits(a.slug, b.slug)).flatMap((goal) => {
    const own = session.facts.filter((fact) =>
      passesBots(fact, bots) && matches(fact, goal.match, world)
    );
    if (own.length === 0) return [];
    const { slug, title } = goal;
    return [{ slug, title, totalConversions: own.length, value: worthOf(goal, own) }];
  });
}

export function visitRowOf(
  world: World,
  session: Session,
  bots: ReadParams["bots"],
  goals: readonly GoalDefinition[],
) {
  const { actor, startMs, endMs, facts, pageViews, landing, exit } = session;
  const { kind, text } = nameOf(actor);
  const value = (field: string) => sessionValue(session, field);
  return {
    id: visitIdOf(session),
    actor: text,
    userId: kind === "u" ? text : null,
    start: instantText(startMs),
    seconds: (endMs - startMs) / 1000,
    channel: value("channel"),
    source: value("source"),
    entryPath: landing.row.path,
    exitPath: exit.row.path,
    country: value("country"),
    device: value("device"),
    browser: value("browser"),
    os: value("os"),
    pageviews: pageViews.length,
    events: facts.length,
    conversions: conversionsOf(world, session, bots, goals),
  };
}

/** `GET /v1/visits`. */
export function readVisits(
  world: World,
  params: VisitsParams,
  goals: readonly GoalDefinition[] = [],
) {
  const wanted = params.actor === undefined ? null : actorNamed(world, params.actor);
  const counted = params.of === undefined ? null : countedVisits(world, params, params.of);
  const sessions = [...counted ?? countingSessions(world, params)]
    .filter(({ actor }) => params.actor === undefined || actor === wanted)
    .toSorted((a, b) =>
      b.startMs - a.startMs || byCodeUnits(b.landing.row.event_id, a.landing.row.event_id)
    );
  const rows = sessions.map((session) => visitRowOf(world, session, params.bots, goals))
    .filter(({ conversions }) =>
      params.goal === undefined || conversions.some(({ slug }) => slug === params.goal)
    );
  return { rows, ...counted === null ? {} : { total: counted.length } };
}

/** What the story of a visit tells of each event, in order. */
export function storyOf(
  world: World,
  id: string,
  bots: ReadParams["bots"],
  goals: readonly GoalDefinition[],
) {
  const session = historyOf(world).sessions.find((one) => visitIdOf(one) === id)!;
  return session.facts.map((fact, i) => {
    const next = session.facts[i + 1];
    const nextView = session.facts.slice(i + 1).find(isPageView);
    return {
      eventId: fact.row.event_id,
      secondsToNext: next === undefined ? null : (next.atMs - fact.atMs) / 1000,
      secondsOnPage: isPageView(fact)
        ? ((nextView?.atMs ?? session.endMs) - fact.atMs) / 1000
        : null,
      goals: goalsOf(world, fact, bots, goals),
    };
  });
}

/** The slugs of the goals that an event is a conversion of. */
export function goalsOf(
  world: World,
  fact: Fact,
  bots: ReadParams["bots"],
  goals: readonly GoalDefinition[],
): string[] {
  return goals.filter(({ match }) => passesBots(fact, bots) && matches(fact, match, world))
    .map(({ slug }) => slug).sort(byCodeUnits);
}
