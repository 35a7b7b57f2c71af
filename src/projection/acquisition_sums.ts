import { gatheredRows } from "../db/gathered_rows.ts";
import { arrayLiteral, arrayLiterals, type Row, type Sql } from "../db/sql.ts";
import { NEVER } from "../store/no_day.ts";
import { keyedDeletion } from "./keyed_deletion.ts";
import { ACQUISITION_ROWS_HELD_MAX, LINK_DAYS_MAX } from "./projection_limits.ts";

const KEY = ["dimension", "day", "value_number"] as const;
const LISTS = [
  ...["rules", "sessions", "bounces", "pageviews", "prev_days", "first_days", "actors"] as const,
];
/** A row of `acquisition_days`: its key, and the lists that change. */
type StoredDay =
  & Row
  & Readonly<Record<typeof KEY[number], number>>
  & Readonly<Record<typeof LISTS[number], number[]>>;

const ON_DAYS = `unnest($2::text::int2[], $3::text::int[], $4::text::int[])
  AS k (dimension, day, value_number)`;

// A lateral lookup per key: the planner could turn a join into a scan of the table. A subquery hides the project, as it
// would take one that its statistics do not know for one without rows.
const READ = `
SELECT d.* FROM ${ON_DAYS}
CROSS JOIN LATERAL (
  SELECT * FROM acquisition_days
  WHERE project_id = (SELECT $1::int) AND dimension = k.dimension AND day = k.day
    AND value_number = k.value_number
  OFFSET 0) AS d`;

const DELETE = keyedDeletion("acquisition_days", [
  ["dimension", "int2"],
  ["day", "int"],
  ["value_number", "int"],
]);

const WRITE = `
INSERT INTO acquisition_days (project_id, dimension, day, value_number, ${LISTS.join(", ")})
SELECT $1::int, dimension, day, value_number, ${LISTS.map((name) => `${name}::int[]`).join(", ")}
FROM unnest($2::text::int2[], $3::text::int[], $4::text::int[],
  ${LISTS.map((_, i) => `$${i + 5}::text::text[]`).join(", ")})
  AS w (dimension, day, value_number, ${LISTS.join(", ")})
ON CONFLICT (project_id, dimension, day, value_number) DO UPDATE
SET ${LISTS.map((name) => `${name} = excluded.${name}`).join(", ")}`;

/** Days have 32 bits, so `dimension * DAYS_SPAN + day` is a unique key. */
const DAYS_SPAN = 2 ** 32;

const isZero = (sum: number): boolean => sum === 0;
const areZero = (sums: readonly number[]): boolean => sums.every(isZero);
const isNotZero = (sums: DaySums): boolean => !sums.isZero;
const haveNoActors = (firsts: ReadonlyMap<number, number>): boolean =>
  firsts.values().every(isZero);

/** Orders sums by the table's key, so that the pages of its index are written one after the other. */
const byKey = (a: DaySums, b: DaySums): number =>
  a.dimension - b.dimension || a.day - b.day || a.valueNumber - b.valueNumber;

/** The sums of one value of one dimension on one day: as stored, or to add to the stored sums. */
class DaySums {
  readonly #totals = new Map<number, [sessions: number, bounces: number, pageviews: number]>();
  /** Numbers of actors, by the previous day with the value, then by the first day. */
  readonly #links = new Map<number, Map<number, number>>();

  constructor(readonly dimension: number, readonly day: number, readonly valueNumber: number) {}

  addTotal(rule: number, sessions: number, bounces: number, pageviews: number): void {
    const known = this.#totals.get(rule);
    if (known === undefined) this.#totals.set(rule, [sessions, bounces, pageviews]);
    else {
      known[0] += sessions;
      known[1] += bounces;
      known[2] += pageviews;
    }
  }

  addLink(prevDay: number, firstDay: number, actors: number): void {
    [prevDay, firstDay] = [this.#linked(prevDay), this.#linked(firstDay)];
    let actorsByFirstDay = this.#links.get(prevDay);
    if (actorsByFirstDay === undefined) this.#links.set(prevDay, actorsByFirstDay = new Map());
    actorsByFirstDay.set(firstDay, (actorsByFirstDay.get(firstDay) ?? 0) + actors);
  }

  /** Adds the stored sums of the same value, dimension and day. */
  addStored(stored: StoredDay): void {
    stored.rules.forEach((rule, i) =>
      this.addTotal(rule, stored.sessions[i]!, stored.bounces[i]!, stored.pageviews[i]!)
    );
    stored.prev_days.forEach((prevDay, i) =>
      this.addLink(prevDay, stored.first_days[i]!, stored.actors[i]!)
    );
  }

  #linked(day: number): number {
    return day === NEVER ? NEVER : Math.max(day, this.day - LINK_DAYS_MAX);
  }

  /** Whether all sums are zero. */
  get isZero(): boolean {
    return this.#totals.values().every(areZero) && this.#links.values().every(haveNoActors);
  }

  /** Returns the sums that are not zero as the values of a row's `LISTS`, in that order. */
  lists(): string[] {
    const totals = [...this.#totals].filter(([, sums]) => sums.some((sum) => sum !== 0))
      .map(([rule, sums]) => [rule, ...sums]);
    const links = [...this.#links].flatMap(([prevDay, firsts]) =>
      [...firsts].filter(([, actors]) => actors !== 0)
        .map(([firstDay, actors]) => [prevDay, firstDay, actors])
    );
    return [
      ...[0, 1, 2, 3].map((i) => arrayLiteral(totals.map((row) => row[i]!))),
      ...[0, 1, 2].map((i) => arrayLiteral(links.map((row) => row[i]!))),
    ];
  }
}

/** The sums that a transaction adds to `acquisition_days`; it must hold the project's lock. */
export class AcquisitionSums {
  /** By dimension and day, then by value. */
  readonly #days = new Map<number, Map<number, DaySums>>();
  #held = 0;

  constructor(private readonly tx: Sql, private readonly projectId: number) {}

  dayOf(dimension: number, day: number, valueNumber: number): DaySums {
    const key = dimension * DAYS_SPAN + day;
    let ofDay = this.#days.get(key);
    if (ofDay === undefined) this.#days.set(key, ofDay = new Map());
    let sums = ofDay.get(valueNumber);
    if (sums === undefined) {
      ofDay.set(valueNumber, sums = new DaySums(dimension, day, valueNumber));
      this.#held++;
    }
    return sums;
  }

  /** Stores the held sums if they are at the limit; else returns undefined. */
  storeIfFull(): Promise<void> | undefined {
    return this.#held >= ACQUISITION_ROWS_HELD_MAX ? this.store() : undefined;
  }

  /** Adds the held sums to the table and forgets them. */
  async store(): Promise<void> {
    const [tx, projectId] = [this.tx, this.projectId];
    const changed = [...this.#days.values()]
      .flatMap((ofDay) => [...ofDay.values()].filter(isNotZero))
      .sort(byKey);
    if (changed.length > 0) {
      const keys = [projectId, ...keysOf(changed)];
      for (const stored of await gatheredRows<StoredDay>(tx, [...KEY, ...LISTS], READ, keys)) {
        this.dayOf(stored.dimension, stored.day, stored.value_number).addStored(stored);
      }
    }
    this.#days.clear();
    this.#held = 0;
    const emptied = changed.filter((sums) => sums.isZero);
    if (emptied.length > 0) await tx.query(DELETE, [projectId, ...keysOf(emptied)]);
    const kept = changed.filter(isNotZero);
    if (kept.length === 0) return;
    const lists = kept.map((sums) => sums.lists());
    const columns = LISTS.map((_, i) => arrayLiteral(lists.map((row) => row[i]!)));
    await tx.query(WRITE, [projectId, ...keysOf(kept), ...columns]);
  }
}

const keysOf = (sums: readonly DaySums[]): string[] =>
  arrayLiterals(["dimension", "day", "valueNumber"], sums);
