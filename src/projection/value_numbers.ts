import { CONTEXT_DIMENSIONS, TRAFFIC_DIMENSIONS } from "../attribution/dimensions.ts";
import type { Row, Sql } from "../db/sql.ts";

/** Stands for no value, or no path. */
const NONE = 0;

/** Numbers the values of one dictionary's rows: a value has the number of the first row that holds it. */
class Dictionary {
  readonly #least: Map<string | null, number>[];
  readonly #numbersOf = new Map<number, Int32Array>();
  /** The greatest number read so far, without its sign. */
  last = 0;

  constructor(readonly fields: readonly string[]) {
    this.#least = fields.map(() => new Map());
  }

  /** Adds a row; rows must come in the order in which their numbers were given out. */
  add(number: number, row: Row): void {
    const numbers = this.fields.map((field, i) => {
      const value = row[field] as string | null;
      const known = this.#least[i]!.get(value);
      if (known === undefined) this.#least[i]!.set(value, number);
      return known ?? number;
    });
    this.#numbersOf.set(number, Int32Array.from(numbers));
    this.last = Math.abs(number);
  }

  numbersOf(number: number): Int32Array {
    const numbers = this.#numbersOf.get(number);
    if (numbers === undefined) throw new Error("A session names a row that no dictionary has");
    return numbers;
  }
}

const TRAFFIC_ROWS = `
SELECT traffic_id AS number, ${TRAFFIC_DIMENSIONS.join(", ")}, rule FROM traffic
WHERE project_id = $1::int AND traffic_id > $2::int ORDER BY traffic_id`;

// Contexts of bots have negative numbers from the same sequence.
const CONTEXT_ROWS = `
SELECT context_id AS number, country, region, city, browser, os, device::text AS device FROM contexts
WHERE project_id = $1::int AND (context_id > $2::int OR context_id < -$2::int)
ORDER BY abs(context_id)`;

/** A visit, by its rows of the dictionaries. */
interface NumberedVisit {
  readonly traffic: number;
  readonly context: number;
}

interface NumberedRow extends Row {
  readonly number: number;
}

/**
 * The numbers of the values of a project's sessions in the rollups. They follow from the dictionaries, which
 * only grow: they are cached, and only the new rows are read when they have grown.
 */
export class ValueNumbers {
  readonly #traffic = new Dictionary([...TRAFFIC_DIMENSIONS, "rule"]);
  readonly #contexts = new Dictionary(CONTEXT_DIMENSIONS);

  /** Reads the dictionary rows added since the last call, if one of these visits has such a row. */
  async readOn(tx: Sql, projectId: number, visits: readonly NumberedVisit[]): Promise<void> {
    for (
      const [dictionary, rows, field] of [
        [this.#traffic, TRAFFIC_ROWS, "traffic"],
        [this.#contexts, CONTEXT_ROWS, "context"],
      ] as const
    ) {
      if (!visits.some((visit) => Math.abs(visit[field]) > dictionary.last)) continue;
      for (const row of await tx.query<NumberedRow>(rows, [projectId, dictionary.last])) {
        dictionary.add(row.number, row);
      }
    }
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

  /** Returns the number of the channel rule. */
  ruleOf(trafficId: number): number {
    return this.#traffic.numbersOf(trafficId)[TRAFFIC_DIMENSIONS.length]!;
  }
}
