import { arrayLiteral, type Sql } from "../db/sql.ts";
import { packInts, unpackInts } from "../db/packed_ints.ts";
import type { Changes, Rollups } from "./changes.ts";
import { type LocalDays, NEVER } from "./local_days.ts";
import { NEAR_VISITS, NEWEST_VISITS } from "./projection_limits.ts";
import type { SessionPart } from "./session_parts.ts";

/** How a session starts, as far as visitors are told apart by it. */
interface Visit {
  readonly day: number;
  readonly traffic: number;
  readonly context: number;
  readonly entryPath: number;
}

/** An actor whose visits, or whose first day, are others than before. */
export class Visitor {
  /** Visits that are alike, each once. */
  readonly visits = new Map<string, Visit & { before: number; after: number }>();
  oldFirst = NEVER;
  newFirst = NEVER;
  /** Between which starts of sessions something changed. */
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
    const known = this.visits.get(key);
    if (known === undefined) this.visits.set(key, { ...visit, before, after });
    else {
      known.before += before;
      known.after += after;
    }
  }

  get changes(): Visit[] {
    return [...this.visits.values()].filter(({ before, after }) => before !== after);
  }

  get isChanged(): boolean {
    return this.oldFirst !== this.newFirst || this.changes.length > 0;
  }
}

/** Whose visits or first days changed: a session that only grew longer changes neither. */
function withChanges(
  { days }: Rollups,
  { gone, came, actors, stored }: Changes,
): Map<number, Visitor> {
  const visitors = new Map<number, Visitor>();
  const of = (actor: number) => {
    let visitor = visitors.get(actor);
    if (visitor === undefined) visitors.set(actor, visitor = new Visitor());
    return visitor;
  };
  for (const [actor, { firstDay }] of stored) {
    const visitor = of(actor);
    visitor.oldFirst = visitor.newFirst = firstDay;
  }
  for (const { actor, before, after } of actors) {
    const visitor = of(actor);
    visitor.oldFirst = before?.firstDay ?? NEVER;
    visitor.newFirst = after?.firstDay ?? NEVER;
  }
  for (const part of gone) if (part.humans > 0) of(part.actor).change(part, days, 1, 0);
  for (const part of came) if (part.humans > 0) of(part.actor).change(part, days, 0, 1);
  for (const [actor, visitor] of visitors) if (!visitor.isChanged) visitors.delete(actor);
  return visitors;
}

// Milliseconds are two numbers: they do not fit into one of 32 bits.
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
const OWN = "project_id = $1::int AND actor_id = k.actor_id AND humans > 0";

const NEWEST = `
SELECT ${PACK} AS pack FROM unnest($2::text::int[]) AS k (actor_id)
CROSS JOIN LATERAL (
  SELECT ${COLUMNS} FROM sessions WHERE ${OWN}
  ORDER BY first_ms DESC LIMIT ${NEWEST_VISITS}) AS s`;

const NEAR = `
SELECT ${PACK} AS pack
FROM unnest($2::text::int[], $3::text::int8[], $4::text::int8[]) AS k (actor_id, low_ms, high_ms)
CROSS JOIN LATERAL (
  (SELECT ${COLUMNS} FROM sessions WHERE ${OWN} AND first_ms < k.low_ms
    ORDER BY first_ms DESC LIMIT ${NEAR_VISITS})
  UNION ALL
  SELECT ${COLUMNS} FROM sessions WHERE ${OWN} AND first_ms BETWEEN k.low_ms AND k.high_ms
  UNION ALL
  (SELECT ${COLUMNS} FROM sessions WHERE ${OWN} AND first_ms > k.high_ms
    ORDER BY first_ms LIMIT ${NEAR_VISITS})
) AS s`;

const ALL = `
SELECT ${PACK} AS pack FROM unnest($2::text::int[]) AS k (actor_id)
CROSS JOIN LATERAL (SELECT ${COLUMNS} FROM sessions WHERE ${OWN} OFFSET 0) AS s`;

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
    const visits = visitsOf.get(ints[i]!);
    if (visits === undefined) visitsOf.set(ints[i]!, [visit]);
    else visits.push(visit);
  }
  return visitsOf;
}

/** Whether of each value that some visits have, one of the others has it, too. */
function haveValuesOf(
  { values }: Rollups,
  others: readonly Visit[],
  visits: readonly Visit[],
): boolean {
  const numbersOf = ({ traffic, context, entryPath }: Visit) =>
    values.of(traffic, context, entryPath);
  const seen: Set<number>[] = [];
  for (const visit of others) {
    numbersOf(visit).forEach((number, i) => (seen[i] ??= new Set()).add(number));
  }
  return visits.every((visit) => numbersOf(visit).every((number, i) => seen[i]?.has(number)));
}

/**
 * Whether what was read of an actor tells all that changes. The rollup links each day of a value to
 * the day before it with the same one: so of each value that changed, a day before all changes must
 * have been read and one after them, or all that there is on that side (at most `limit` were read).
 * An actor's own first day stands in the first link of every value.
 */
function tellsAll(
  rollups: Rollups,
  visitor: Visitor,
  visits: readonly StoredVisit[],
  limit: { readonly before: number; readonly after: number },
): boolean {
  const { lowMs, highMs, changes } = visitor;
  const before = visits.filter(({ ms }) => ms < lowMs);
  const after = visits.filter(({ ms }) => ms > highMs);
  const isAll = [before.length < limit.before, after.length < limit.after];
  if (isAll[0] && isAll[1]) return true;
  if (visitor.oldFirst !== visitor.newFirst) return false;
  const first = Math.min(...changes.map(({ day }) => day));
  const last = Math.max(...changes.map(({ day }) => day));
  const earlier = before.filter(({ day }) => day < first);
  const later = after.filter(({ day }) => day > last);
  return (isAll[0] || haveValuesOf(rollups, earlier, changes)) &&
    (isAll[1] || haveValuesOf(rollups, later, changes));
}

/** Stored visits of actors, as many as are needed: mostly the newest, seldom all. */
async function storedVisits(
  tx: Sql,
  rollups: Rollups,
  visitors: ReadonlyMap<number, Visitor>,
): Promise<Map<number, StoredVisit[]>> {
  const { projectId, days, values } = rollups;
  const found = new Map<number, StoredVisit[]>();
  let open = [...visitors.keys()];
  const take = async (
    text: string,
    params: readonly string[],
    isTold: (visitor: Visitor, visits: readonly StoredVisit[]) => boolean,
  ) => {
    const read = await readVisits(tx, text, days, [projectId, arrayLiteral(open), ...params]);
    await values.readOn(tx, projectId, [...read.values()].flat());
    open = open.filter((actor) => {
      const visits = read.get(actor) ?? [];
      const isOpen = !isTold(visitors.get(actor)!, visits);
      if (!isOpen) found.set(actor, visits);
      return isOpen;
    });
  };
  await take(NEWEST, [], (visitor, visits) => {
    if (visits.length < NEWEST_VISITS) return true;
    // All that come after the changes, where one is before them.
    const before = visits.filter(({ ms }) => ms < visitor.lowMs).length;
    return before > 0 && tellsAll(rollups, visitor, visits, { before, after: Infinity });
  });
  if (open.length === 0) return found;
  const within = (of: (visitor: Visitor) => number) =>
    arrayLiteral(open.map((actor) => of(visitors.get(actor)!)));
  await take(
    NEAR,
    [within(({ lowMs }) => lowMs), within(({ highMs }) => highMs)],
    (visitor, visits) =>
      tellsAll(rollups, visitor, visits, { before: NEAR_VISITS, after: NEAR_VISITS }),
  );
  if (open.length > 0) await take(ALL, [], () => true);
  return found;
}

/** Whose visits or first days changed, with the visits that stay beside those that changed. */
export async function changedVisitors(
  tx: Sql,
  rollups: Rollups,
  changes: Changes,
): Promise<Map<number, Visitor>> {
  const visitors = withChanges(rollups, changes);
  const isKnown = ([actor]: [number, Visitor]) => !changes.newActors.has(actor);
  const known = new Map([...visitors].filter(isKnown));
  if (known.size === 0) return visitors;
  const left = new Set(changes.gone.map(({ actor, firstMs }) => `${actor} ${firstMs}`));
  for (const [actor, visits] of await storedVisits(tx, rollups, known)) {
    const visitor = visitors.get(actor)!;
    for (const { ms, ...visit } of visits) {
      if (!left.has(`${actor} ${ms}`)) visitor.add(visit, 1, 1);
    }
  }
  return visitors;
}
