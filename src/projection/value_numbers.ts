import { CONTEXT_DIMENSIONS, TRAFFIC_DIMENSIONS } from "../attribution/dimensions.ts";
import type { Row, Sql } from "../db/sql.ts";
import { digestOf } from "./dictionaries.ts";
import { DICTIONARY_ROWS_AT_ONCE } from "./projection_limits.ts";

/** Stands for no value, or no path. */
const NONE = 0;

/** Values up to this many characters are cached as they are; of longer ones, their digests. */
const VALUE_CHARACTERS_KEPT_MAX = 32;

const kept = (value: string | null): string | null =>
  value === null || value.length <= VALUE_CHARACTERS_KEPT_MAX ? value : `\0${digestOf(value)}`;

interface NumberedRow extends Row {
  readonly number: number;
}

/**
 * Numbers the values in the rows of one dictionary: a value has the number of the first row that holds it. A
 * row takes 40 bytes, and 100 more for each value that it is the first to hold, whatever its length.
 */
class Dictionary {
  readonly #least: Map<string | null, number>[];
  /** The numbers of each row's values, by the row's number without the sign; 0: there is no such row. */
  #numbers = new Int32Array(0);
  /** The greatest number read so far, without its sign. */
  last = 0;

  /** The size of the cache: its rows, plus one for each distinct value of a field. */
  get entries(): number {
    return this.#least.reduce((sum, { size }) => sum + size, this.last);
  }

  /** @param rows selects the rows with numbers above $2 and up to $3, without their signs, in that order */
  constructor(readonly fields: readonly string[], readonly rows: string) {
    this.#least = fields.map(() => new Map());
  }

  /** Reads the rows that were added since the last call, up to a number. */
  async readUpTo(tx: Sql, projectId: number, end: number): Promise<void> {
    while (this.last < end) {
      const to = Math.min(end, this.last + DICTIONARY_ROWS_AT_ONCE);
      for (const row of await tx.query<NumberedRow>(this.rows, [projectId, this.last, to])) {
        this.#add(row);
      }
      this.last = to;
    }
  }

  #add(row: NumberedRow): void {
    const { fields } = this;
    const at = Math.abs(row.number) * fields.length;
    if (at >= this.#numbers.length) {
      const longer = new Int32Array(2 * (at + fields.length));
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    for (const [i, field] of fields.entries()) {
      const number = this.#least[i]!.getOrInsert(kept(row[field] as string | null), row.number);
      this.#numbers[at + i] = number;
    }
  }

  numbersOf(number: number): Int32Array {
    const at = Math.abs(number) * this.fields.length;
    const numbers = this.#numbers.subarray(at, at + this.fields.length);
    if (!numbers[0]) throw new Error("A session refers to a missing dictionary row");
    return numbers;
  }
}

const TRAFFIC_ROWS = `
SELECT traffic_id AS number, ${TRAFFIC_DIMENSIONS.join(", ")}, rule FROM traffic
WHERE project_id = $1::int AND traffic_id > $2::int AND traffic_id <= $3::int
ORDER BY traffic_id`;

// Contexts of bots have negative numbers from the same sequence.
const CONTEXT_ROWS = `
SELECT context_id AS number, country, region, city, browser, os, device::text AS device FROM contexts
WHERE project_id = $1::int AND (context_id > $2::int AND context_id <= $3::int
  OR context_id >= -$3::int AND context_id < -$2::int)
ORDER BY abs(context_id)`;

/** The greatest number of each dictionary, without its sign. */
const LAST = `
SELECT
  coalesce((SELECT max(traffic_id) FROM traffic WHERE project_id = $1::int), 0) AS traffic,
  coalesce((SELECT greatest(max(context_id), -min(context_id)) FROM contexts
    WHERE project_id = $1::int), 0) AS context`;

/** A visit, by its rows of the dictionaries. */
interface NumberedVisit {
  readonly traffic: number;
  readonly context: number;
}

/**
 * The numbers that the rollups use for the values of a project's sessions. They follow from the dictionaries,
 * which only grow, so they are cached, and only new rows are read.
 */
export class ValueNumbers {
  #traffic = new Dictionary([...TRAFFIC_DIMENSIONS, "rule"], TRAFFIC_ROWS);
  #contexts = new Dictionary(CONTEXT_DIMENSIONS, CONTEXT_ROWS);

  /** The size of the cache, in entries of at most about 100 bytes. */
  get entries(): number {
    return this.#traffic.entries + this.#contexts.entries;
  }

  /**
   * Reads all present rows; to be called once before `readOn`, and again after rows were reclassified. For a
   * large project, this takes longer than a batch may.
   */
  async open(tx: Sql, projectId: number): Promise<void> {
    this.#traffic = new Dictionary(this.#traffic.fields, TRAFFIC_ROWS);
    this.#contexts = new Dictionary(this.#contexts.fields, CONTEXT_ROWS);
    const [last] = await tx.query<NumberedVisit & Row>(LAST, [projectId]);
    await this.readOn(tx, projectId, [last!]);
  }

  /** Reads the dictionary rows added since the last call, up to those of these visits. */
  async readOn(tx: Sql, projectId: number, visits: readonly NumberedVisit[]): Promise<void> {
    let [traffic, context] = [0, 0];
    for (const visit of visits) {
      traffic = Math.max(traffic, visit.traffic);
      context = Math.max(context, Math.abs(visit.context));
    }
    await this.#traffic.readUpTo(tx, projectId, traffic);
    await this.#contexts.readUpTo(tx, projectId, context);
  }

  /** Returns a session's number in each of `ROLLED_DIMENSIONS`. */
  numbersOf(trafficId: number, contextId: number, entryPathId: number): number[] {
    const traffic = this.#traffic.numbersOf(trafficId);
    return [
      NONE,
      ...traffic.subarray(0, TRAFFIC_DIMENSIONS.length),
      entryPathId,
      ...this.#contexts.numbersOf(contextId),
    ];
  }

  ruleOf(trafficId: number): number {
    return this.#traffic.numbersOf(trafficId)[TRAFFIC_DIMENSIONS.length]!;
  }
}
