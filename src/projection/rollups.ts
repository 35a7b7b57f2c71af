import { arrayLiteral, type Sql } from "../db/sql.ts";
import { isBounce } from "../store/bounce.ts";
import { NEVER } from "../store/no_day.ts";
import { rollUpAcquisition } from "./acquisition_rollup.ts";
import type { ActorChange, StoredActor } from "./actor_days.ts";
import type { Changes, Rollups } from "./changes.ts";
import { keyedDeletion } from "./keyed_deletion.ts";
import { ROLLUP_ROWS_DELETED_AT_ONCE } from "./projection_limits.ts";
import type { SessionPart } from "./session_parts.ts";
import { inSlices } from "./slices.ts";

/** Sums to add to the rows of a rollup table, by the integers of its key. */
class Sums {
  readonly #rows = new Map<string, { readonly key: readonly number[]; readonly sums: number[] }>();

  constructor(
    readonly table: string,
    readonly keys: readonly string[],
    readonly columns: readonly string[],
    /** Deletes rows with zero sums; null: they stay, which is better if most change again soon. */
    readonly deletion: string | null,
  ) {}

  add(key: readonly number[], ...sums: readonly number[]): void {
    const text = key.join();
    const row = this.#rows.get(text);
    if (row === undefined) this.#rows.set(text, { key, sums: [...sums] });
    else sums.forEach((sum, i) => row.sums[i]! += sum);
  }

  /** Adds the sums to the table, in the order of its key. */
  async store(tx: Sql, projectId: number): Promise<void> {
    const rows = [...this.#rows.values()].filter(({ sums }) => sums.some((sum) => sum !== 0))
      .sort((a, b) => a.key.reduce((order, part, i) => order || part - b.key[i]!, 0));
    if (rows.length === 0) return;
    const { table, keys, columns } = this;
    const arrays = [...keys.map(() => "int"), ...columns.map(() => "int8")]
      .map((type, i) => `$${i + 2}::text::${type}[]`);
    const keysOf = (some: readonly { readonly key: readonly number[] }[]) =>
      keys.map((_, i) => arrayLiteral(some.map(({ key }) => key[i]!)));
    await tx.query(
      `INSERT INTO ${table} AS t (project_id, ${[...keys, ...columns].join(", ")})
      SELECT $1::int, a.* FROM unnest(${arrays.join(", ")}) AS a
      ON CONFLICT (project_id, ${keys.join(", ")}) DO UPDATE
      SET ${columns.map((name) => `${name} = t.${name} + excluded.${name}`).join(", ")}`,
      [
        projectId,
        ...keysOf(rows),
        ...columns.map((_, i) => arrayLiteral(rows.map(({ sums }) => sums[i]!))),
      ],
    );
    const lessened = rows.filter(({ sums }) => sums.some((sum) => sum < 0));
    if (this.deletion === null || lessened.length === 0) return;
    await tx.query(this.deletion, [projectId, ...keysOf(lessened)]);
  }
}

const DAY_TOTALS = ["events", "pageviews", "sessions", "bounces", "duration_ms"] as const;
const VISITOR_KEYS = ["day", "prev_day", "cohort_day", "first_day"] as const;
const DELETE_VISITORS = keyedDeletion(
  "visitor_days",
  VISITOR_KEYS.map((key) => [key, "int"]),
  "t.actors = 0",
);

/** Stands for the seconds of a session without any duration. */
const NO_LENGTH = -1;
const SECONDS_MAX = 2147483647;

/** The sums that sessions change, and whether these are added (1) or subtracted (-1). */
interface SignedSums extends Pick<Rollups, "days"> {
  readonly sign: 1 | -1;
  readonly totals: Sums;
  readonly durations: Sums;
}

function addSession(session: SessionPart, { days, sign, totals, durations }: SignedSums): void {
  const { firstMs, lastMs, humans } = session;
  if (humans === 0) return;
  const day = days.dayAt(firstMs);
  const ms = lastMs - firstMs;
  totals.add([day], 0, 0, sign, isBounce(session) ? sign : 0, sign * ms);
  const seconds = ms === 0 ? NO_LENGTH : Math.min(Math.floor(ms / 1000), SECONDS_MAX);
  durations.add([day, seconds], sign);
}

/** Returns how many days two lists share at the start and at the end. */
function sharedEnds(
  before: readonly number[],
  after: readonly number[],
): [start: number, end: number] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [start, end];
}

/**
 * Subtracts an actor's days before the change, and adds those after it. A day is keyed by the actor's previous
 * day, the first of these days, and the day of the first event ever.
 */
function addVisitor({ before, after }: ActorChange, visitors: Sums): void {
  const [daysBefore, daysAfter] = [before?.days ?? [], after?.days ?? []];
  const isSame = before?.firstDay === after?.firstDay && daysBefore[0] === daysAfter[0];
  const [start, end] = isSame ? sharedEnds(daysBefore, daysAfter) : [0, 0];
  const add = (actor: StoredActor | null, days: readonly number[], sign: number) => {
    // The first of the shared days at the end may have another previous day.
    const to = Math.min(days.length, days.length - end + 1);
    for (let i = start; i < to; i++) {
      visitors.add([days[i]!, days[i - 1] ?? NEVER, days[0]!, actor!.firstDay], sign);
    }
  };
  add(before, daysBefore, -1);
  add(after, daysAfter, 1);
}

/** Applies changes to the rollups; to be called before sessions and actors are rewritten. */
export async function rollUp(tx: Sql, rollups: Rollups, changes: Changes): Promise<void> {
  const totals = new Sums("day_totals", ["day"], DAY_TOTALS, null);
  const durations = new Sums("session_durations", ["day", "seconds"], ["sessions"], null);
  const visitors = new Sums("visitor_days", VISITOR_KEYS, ["actors"], DELETE_VISITORS);
  for (const [day, [events, pageviews]] of changes.totals) {
    totals.add([day], events, pageviews, 0, 0, 0);
  }
  const sums = { days: rollups.days, totals, durations };
  await inSlices(changes.gone, addSession, { ...sums, sign: -1 });
  await inSlices(changes.came, addSession, { ...sums, sign: 1 });
  await inSlices(changes.actors, addVisitor, visitors);
  await totals.store(tx, rollups.projectId);
  await durations.store(tx, rollups.projectId);
  await visitors.store(tx, rollups.projectId);
  await rollUpAcquisition(tx, rollups, changes);
}

const TABLES = ["day_totals", "session_durations", "visitor_days", "acquisition_days"] as const;

/**
 * Deletes the rollups of a project part by part, because for a large one this exceeds the time of a statement
 * or a transaction.
 * @param isOver whether the transaction's time is over
 * @returns whether all are gone; else call it again, in another transaction
 */
export async function clearRollups(
  tx: Sql,
  projectId: number,
  isOver: () => boolean,
  rowsAtOnce = ROLLUP_ROWS_DELETED_AT_ONCE,
): Promise<boolean> {
  for (const table of TABLES) {
    for (;;) {
      const [gone] = await tx.query<{ rows: number }>(
        `WITH gone AS (
          DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM ${table} WHERE project_id = $1::int LIMIT $2::int))
            AND project_id = $1::int
          RETURNING 1)
        SELECT count(*)::int AS rows FROM gone`,
        [projectId, rowsAtOnce],
      );
      if (gone!.rows < rowsAtOnce) break;
      if (isOver()) return false;
    }
  }
  return true;
}
