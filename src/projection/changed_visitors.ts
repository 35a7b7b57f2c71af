import { arrayLiteral, type Sql } from "../db/sql.ts";
import { packInts, unpackInts } from "../db/packed_ints.ts";
import { NEVER } from "../store/no_day.ts";
import type { Changes, Rollups } from "./changes.ts";
import type { LocalDays } from "./local_days.ts";
import { NEAR_VISITS, NEWEST_VISITS } from "./projection_limits.ts";
import type { SessionPart } from "./session_parts.ts";
import { sessionKey } from "./stored_sessions.ts";

/** The properties of a session's start that the acquisition rollup counts by. */
interface Visit {
  readonly day: number;
  readonly traffic: number;
  readonly context: number;
  readonly entryPath: number;
}

/** A distinct visit of an actor, with its number before and after the change. */
export interface CountedVisit extends Visit {
  before: number;
  after: number;
}

/** An actor whose visits or first day change. */
export class Visitor {
  /** By their properties. */
  readonly visits = new Map<string, CountedVisit>();
  oldFirst = NEVER;
  newFirst = NEVER;
  /** The earliest and latest start of a changed session. */
  lowMs = Infinity;
  highMs = -Infinity;

  change(part: SessionPart, days: LocalDays, before: number, after: number): void {
    this.lowMs = Math.min(this.lowMs, part.firstMs);
    this.highMs = Math.max(this.highMs, part.firstMs);
    const { traffic, context, entryPath } = part;
    this.add({ day: days.dayAt(part.firstMs), traffic, context, entryPath }, before, after);
  }

  add(visit: Visit, before: number, after: number): void {
    const key = `${visit.day} ${visit.traffic} ${visit.context} ${visit.entryPath}`;
    const counted = this.visits.getOrInsertComputed(key, () => ({ ...visit, before: 0, after: 0 }));
    counted.before += before;
    counted.after += after;
  }

  get changes(): Visit[] {
    return [...this.visits.values()].filter(({ before, after }) => before !== after);
  }

  get isChanged(): boolean {
    return this.oldFirst !== this.newFirst || this.changes.length > 0;
  }
}

/** Finds actors whose visits or first days change; a session that only grows longer changes neither. */
function withChanges(
  { days }: Rollups,
  { gone, came, actors, stored }: Changes,
): Map<number, Visitor> {
  const visitors = new Map<number, Visitor>();
  const visitorOf = (actor: number) => visitors.getOrInsertComputed(actor, () => new Visitor());
  for (const [actor, { firstDay }] of stored) {
    const visitor = visitorOf(actor);
    visitor.oldFirst = visitor.newFirst = firstDay;
  }
  for (const { actor, before, after } of actors) {
    const visitor = visitorOf(actor);
    visitor.oldFirst = before?.firstDay ?? NEVER;
    visitor.newFirst = after?.firstDay ?? NEVER;
  }
  for (const part of gone) if (part.humans > 0) visitorOf(part.actor).change(part, days, 1, 0);
  for (const part of came) if (part.humans > 0) visitorOf(part.actor).change(part, days, 0, 1);
  for (const [actor, visitor] of visitors) if (!visitor.isChanged) visitors.delete(actor);
  return visitors;
}

// Milliseconds do not fit into 32 bits, so they are sent as two integers.
const PACK = packInts([
  "s.actor_id",
  "(s.first_ms >> 31)::int",
  "(s.first_ms & 2147483647)::int",
  "s.traffic_id",
  "s.context_id",
  "coalesce(s.entry_path_id, 0)",
]);
const VISIT_INTS = 6;
const COLUMNS = "actor_id, first_ms, traffic_id, context_id, entry_path_id";
// A subquery hides the project from the planner: it would take one that its statistics do not know for one without rows,
// and read all of its sessions for each actor.
const COUNTED = "project_id = (SELECT $1::int) AND actor_id = k.actor_id AND humans > 0";

const NEWEST = `
SELECT ${PACK} AS pack FROM unnest($2::text::int[]) AS k (actor_id)
CROSS JOIN LATERAL (
  SELECT ${COLUMNS} FROM sessions WHERE ${COUNTED}
  ORDER BY first_ms DESC LIMIT ${NEWEST_VISITS}) AS s`;

const NEAR = `
SELECT ${PACK} AS pack
FROM unnest($2::text::int[], $3::text::int8[], $4::text::int8[]) AS k (actor_id, low_ms, high_ms)
CROSS JOIN LATERAL (
  (SELECT ${COLUMNS} FROM sessions WHERE ${COUNTED} AND first_ms < k.low_ms
    ORDER BY first_ms DESC LIMIT ${NEAR_VISITS})
  UNION ALL
  SELECT ${COLUMNS} FROM sessions WHERE ${COUNTED} AND first_ms BETWEEN k.low_ms AND k.high_ms
  UNION ALL
  (SELECT ${COLUMNS} FROM sessions WHERE ${COUNTED} AND first_ms > k.high_ms
    ORDER BY first_ms LIMIT ${NEAR_VISITS})
) AS s`;

const ALL = `
SELECT ${PACK} AS pack FROM unnest($2::text::int[]) AS k (actor_id)
CROSS JOIN LATERAL (SELECT ${COLUMNS} FROM sessions WHERE ${COUNTED} OFFSET 0) AS s`;

interface StoredVisit extends Visit {
  readonly ms: number;
}

async function readVisits(
  tx: Sql,
  text: string,
  days: LocalDays,
  params: readonly (string | number)[],
): Promise<Map<number, StoredVisit[]>> {
  const [row] = await tx.query<{ pack: string | null }>(text, params);
  const ints = unpackInts(row!.pack);
  const visitsOf = new Map<number, StoredVisit[]>();
  for (let i = 0; i < ints.length; i += VISIT_INTS) {
    const ms = ints[i + 1]! * 2 ** 31 + ints[i + 2]!;
    const [traffic, context, entryPath] = [ints[i + 3]!, ints[i + 4]!, ints[i + 5]!];
    const visit = { ms, day: days.dayAt(ms), traffic, context, entryPath };
    visitsOf.getOrInsertComputed(ints[i]!, () => []).push(visit);
  }
  return visitsOf;
}

/** Whether each value of `visits` also occurs in one of `others`. */
function haveValuesOf(
  { values }: Rollups,
  others: readonly Visit[],
  visits: readonly Visit[],
): boolean {
  const numbersOf = ({ traffic, context, entryPath }: Visit) =>
    values.numbersOf(traffic, context, entryPath);
  const seen: Set<number>[] = [];
  for (const visit of others) {
    numbersOf(visit).forEach((number, i) => (seen[i] ??= new Set()).add(number));
  }
  return visits.every((visit) => numbersOf(visit).every((number, i) => seen[i]?.has(number)));
}

/**
 * Whether the visits read of an actor suffice to update the rollup. The rollup links each day with a value to
 * the previous day with the same value. So for each changed value, a day before all changes and one after
 * them must have been read, unless all visits of that side were (fewer than `limit` were found). The first
 * link of every value contains the actor's first day, so a change of that day needs all visits.
 */
function areEnough(
  rollups: Rollups,
  visitor: Visitor,
  visits: readonly StoredVisit[],
  limit: { readonly before: number; readonly after: number },
): boolean {
  const { lowMs, highMs, changes } = visitor;
  const before = visits.filter(({ ms }) => ms < lowMs);
  const after = visits.filter(({ ms }) => ms > highMs);
  const [hasAllBefore, hasAllAfter] = [before.length < limit.before, after.length < limit.after];
  if (hasAllBefore && hasAllAfter) return true;
  if (visitor.oldFirst !== visitor.newFirst) return false;
  let [first, last] = [Infinity, -Infinity];
  for (const { day } of changes) [first, last] = [Math.min(first, day), Math.max(last, day)];
  const earlier = before.filter(({ day }) => day < first);
  const later = after.filter(({ day }) => day > last);
  return (hasAllBefore || haveValuesOf(rollups, earlier, changes)) &&
    (hasAllAfter || haveValuesOf(rollups, later, changes));
}

/** Reads only the stored visits of actors that are needed: mostly the newest, seldom all. */
async function storedVisits(
  tx: Sql,
  rollups: Rollups,
  visitors: ReadonlyMap<number, Visitor>,
): Promise<Map<number, StoredVisit[]>> {
  const { projectId, days, values } = rollups;
  const visitsOf = new Map<number, StoredVisit[]>();
  let undecided = [...visitors.keys()];
  const take = async (
    text: string,
    params: readonly string[],
    isEnough: (visitor: Visitor, visits: readonly StoredVisit[]) => boolean,
  ) => {
    const read = await readVisits(tx, text, days, [projectId, arrayLiteral(undecided), ...params]);
    await values.readOn(tx, projectId, [...read.values()].flat());
    undecided = undecided.filter((actor) => {
      const visits = read.get(actor) ?? [];
      if (!isEnough(visitors.get(actor)!, visits)) return true;
      visitsOf.set(actor, visits);
      return false;
    });
  };
  await take(NEWEST, [], (visitor, visits) => {
    if (visits.length < NEWEST_VISITS) return true;
    // The newest visits include all after the changes if one of them lies before the changes.
    const before = visits.filter(({ ms }) => ms < visitor.lowMs).length;
    return before > 0 && areEnough(rollups, visitor, visits, { before, after: Infinity });
  });
  if (undecided.length === 0) return visitsOf;
  // If only the first day changes, there are no changed sessions to bound the range. Any instant will do,
  // since all visits are read on both sides of it.
  const bounds = (boundOf: (visitor: Visitor) => number) =>
    arrayLiteral(undecided.map((actor) => {
      const ms = boundOf(visitors.get(actor)!);
      return Number.isFinite(ms) ? ms : 0;
    }));
  await take(
    NEAR,
    [bounds(({ lowMs }) => lowMs), bounds(({ highMs }) => highMs)],
    (visitor, visits) =>
      areEnough(rollups, visitor, visits, { before: NEAR_VISITS, after: NEAR_VISITS }),
  );
  if (undecided.length > 0) await take(ALL, [], () => true);
  return visitsOf;
}

/** Finds actors whose visits or first days change, with the stored visits that do not change. */
export async function changedVisitors(
  tx: Sql,
  rollups: Rollups,
  changes: Changes,
): Promise<Map<number, Visitor>> {
  const visitors = withChanges(rollups, changes);
  const isKnown = ([actor]: [number, Visitor]) => !changes.newActors.has(actor);
  const known = new Map([...visitors].filter(isKnown));
  if (known.size === 0) return visitors;
  const goneKeys = new Set(changes.gone.map(sessionKey));
  for (const [actor, visits] of await storedVisits(tx, rollups, known)) {
    const visitor = visitors.get(actor)!;
    for (const { ms, ...visit } of visits) {
      if (!goneKeys.has(sessionKey({ actor, firstMs: ms }))) visitor.add(visit, 1, 1);
    }
  }
  return visitors;
}
