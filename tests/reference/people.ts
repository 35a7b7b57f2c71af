import { instantText, rangeOf } from "./calendar.ts";
import {
  countingSessions,
  lookedAt,
  type ReadParams,
  selectedInRange,
  takes,
  within,
} from "./filters.ts";
import type { GoalDefinition } from "./goals.ts";
import { countedPeople, type OfPeople } from "./behind.ts";
import { sum } from "./statistics.ts";
import { actorNamed, goalsOf, nameOf, visitIdOf, worthOf } from "./visits.ts";
import { byCodeUnits, groupBy, historyOf, isPageView, type World } from "./world.ts";

export interface PeopleParams extends ReadParams {
  /** A number of another read. */
  readonly of?: OfPeople;
}

/** `GET /v1/actors`. */
export function readPeople(
  world: World,
  params: PeopleParams,
  goals: readonly GoalDefinition[] = [],
) {
  const sessions = countingSessions(world, params);
  const { firstSeenMs } = historyOf(world);
  const selected = groupBy(selectedInRange(world, params), ({ actor }) => actor);
  const counted = params.of === undefined ? null : countedPeople(world, params, params.of, goals);
  const listed = counted ?? new Map([...selected].map(([actor, own]) => [actor, own.at(-1)!.atMs]));
  const people = [...listed].map(([actor, atMs]) => ({
    actor,
    own: selected.get(actor) ?? [],
    atMs,
    name: nameOf(actor),
  }));
  people.sort((a, b) =>
    b.atMs - a.atMs ||
    byCodeUnits(a.name.kind, b.name.kind) || byCodeUnits(a.name.text, b.name.text)
  );
  const rows = people.map(({ actor, own, atMs, name: { kind, text } }) => {
    const firstMs = firstSeenMs.get(actor);
    const last = own.at(-1);
    return {
      actor: text,
      userId: kind === "u" ? text : null,
      firstSeen: firstMs === undefined ? null : instantText(firstMs),
      lastSeen: last === undefined ? null : instantText(last.atMs),
      ...counted === null ? {} : { countedAt: instantText(atMs) },
      visits: sessions.filter((session) => session.actor === actor).length,
      pageviews: own.filter(isPageView).length,
      events: own.length,
      value: valueOf(world, params, actor, goals),
    };
  });
  return { rows, ...counted === null ? {} : { total: counted.size } };
}

function valueOf(
  world: World,
  params: ReadParams,
  actor: string,
  goals: readonly GoalDefinition[],
) {
  const range = rangeOf(world, params);
  const worths = goals.flatMap((goal) => {
    const own = lookedAt(world, params).filter(within(range))
      .filter(takes(world, params, goal.match)).filter((fact) => fact.actor === actor);
    const { amount, currency } = worthOf(goal, own);
    return own.length === 0 || currency === null ? [] : [{ amount: amount ?? 0, currency }];
  });
  return [...groupBy(worths, ({ currency }) => currency)]
    .map(([currency, own]) => ({ amount: sum(own.map(({ amount }) => amount)), currency }))
    .sort((a, b) => byCodeUnits(a.currency, b.currency));
}

/** What the timeline of a person tells of each event, newest first. */
export function timelineOf(
  world: World,
  params: ReadParams,
  text: string,
  goals: readonly GoalDefinition[],
) {
  const actor = actorNamed(world, text);
  return lookedAt(world, params).filter(within(rangeOf(world, params)))
    .filter((fact) => fact.actor === actor).toReversed()
    .map((fact) => ({
      eventId: fact.row.event_id,
      visit: fact.session === null ? null : visitIdOf(fact.session),
      goals: goalsOf(world, fact, params.bots, goals),
    }));
}
