import { gatheredRows } from "../db/gathered_rows.ts";
import { arrayLiteral, arrayLiterals, type Row, type Sql } from "../db/sql.ts";
import { countWhile } from "../store/segment_head.ts";
import type { TimedEvent } from "../store/timed_events.ts";
import type { LocalDays } from "./local_days.ts";
import { deleteNumbered } from "./keyed_deletion.ts";

/**
 * A row of `actors`: when one was seen, with days in the time zone of the rollups. Technical events do not count; a
 * bot's events count only for `firstMs`.
 */
export interface StoredActor {
  readonly firstMs: number;
  readonly firstDay: number;
  /** Local days with an event that is not a bot's, ascending. */
  readonly days: readonly number[];
}

/** How the stored row of an actor changes. Null: the actor has no event that counts. */
export interface ActorChange {
  readonly actor: number;
  readonly before: StoredActor | null;
  readonly after: StoredActor | null;
}

/** Collects sightings of actors, event by event. */
export class Sightings {
  readonly #sightings = new Map<number, { firstMs: number; readonly days: Set<number> }>();

  /** @param technical the numbers of technical names */
  constructor(readonly days: LocalDays, readonly technical: ReadonlySet<number>) {}

  add(actor: number, event: TimedEvent): void {
    if (this.technical.has(event.name)) return;
    const known = this.#sightingOf(actor);
    known.firstMs = Math.min(known.firstMs, event.ms);
    if (event.context > 0) known.days.add(this.days.dayAt(event.ms));
  }

  addAll(actor: number, firstMs: number, days: readonly number[]): void {
    const known = this.#sightingOf(actor);
    known.firstMs = Math.min(known.firstMs, firstMs);
    for (const day of days) known.days.add(day);
  }

  #sightingOf(actor: number) {
    return this.#sightings.getOrInsertComputed(
      actor,
      () => ({ firstMs: Infinity, days: new Set<number>() }),
    );
  }

  actors(): number[] {
    return [...this.#sightings.keys()];
  }

  /** Merges the collected sightings of an actor with the stored row; null: there are neither. */
  mergedWith(actor: number, stored: StoredActor | null): StoredActor | null {
    const seen = this.#sightings.get(actor);
    if (seen === undefined) return stored;
    const firstMs = Math.min(seen.firstMs, stored?.firstMs ?? Infinity);
    const missing = missingDays(seen.days, stored?.days ?? []);
    if (stored !== null && missing.length === 0 && firstMs === stored.firstMs) return stored;
    const days = missing.length === 0
      ? stored?.days ?? []
      : [...stored?.days ?? [], ...missing].sort((a, b) => a - b);
    return { firstMs, days, firstDay: this.days.dayAt(firstMs) };
  }
}

/** Returns the days that are not among the known ones, which must be ascending. */
function missingDays(days: ReadonlySet<number>, known: readonly number[]): number[] {
  const placeOf = (day: number) => countWhile(known.length, (i) => known[i]! < day);
  return [...days].filter((day) => known[placeOf(day)] !== day);
}

const READ = `
SELECT a.* FROM unnest($2::text::int[]) AS k (actor)
CROSS JOIN LATERAL (
  SELECT actor_id AS actor, first_ms AS "firstMs", first_day AS "firstDay", days FROM actors
  WHERE project_id = (SELECT $1::int) AND actor_id = k.actor OFFSET 0) a`;

const NAMES = ["actor", "firstMs", "firstDay", "days"] as const;

/** Reads the stored rows of some actors, by their numbers. */
export async function readActors(
  tx: Sql,
  projectId: number,
  actors: readonly number[],
): Promise<Map<number, StoredActor>> {
  if (actors.length === 0) return new Map();
  const rows = await gatheredRows<StoredActor & Row & { readonly actor: number }>(
    tx,
    NAMES,
    READ,
    [projectId, arrayLiteral(actors)],
  );
  return new Map(rows.map(({ actor, ...stored }) => [actor, stored]));
}

const WRITE = `
INSERT INTO actors (project_id, actor_id, first_ms, first_day, days)
SELECT $1::int, actor_id, first_ms, first_day, days::int[]
FROM unnest($2::text::int[], $3::text::int8[], $4::text::int[], $5::text::text[])
  AS a (actor_id, first_ms, first_day, days)
ON CONFLICT (project_id, actor_id) DO UPDATE
SET first_ms = excluded.first_ms, first_day = excluded.first_day, days = excluded.days`;

/** Stores changed actors, and deletes actors that have no event left. */
export async function writeActors(
  tx: Sql,
  projectId: number,
  changes: readonly ActorChange[],
): Promise<void> {
  const deleted = changes.filter(({ after }) => after === null).map(({ actor }) => actor);
  await deleteNumbered(tx, projectId, "actors", "actor_id", deleted);
  const kept = changes.flatMap(({ actor, after }) =>
    after === null ? [] : [{ ...after, actor, days: arrayLiteral(after.days) }]
  );
  if (kept.length > 0) await tx.query(WRITE, [projectId, ...arrayLiterals(NAMES, kept)]);
}
