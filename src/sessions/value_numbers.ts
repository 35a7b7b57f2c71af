import type { Row, Sql } from "../db/sql.ts";
import { FOLD_PROJECTS_KNOWN_MAX } from "../limits.ts";
import { RecentCache } from "../recent_cache.ts";

/** What acquisition can be split by, but for the entry path: fields of traffic, and of contexts. */
const OF_TRAFFIC = [
  "channel",
  "source",
  "medium",
  "campaign",
  "term",
  "content",
  "referrer",
] as const;
const OF_CONTEXT = ["country", "region", "city", "browser", "os", "device"] as const;

/** Every way to tell sessions apart, in the order of the numbers of a session; first the whole. */
export const DIMENSIONS = ["all", ...OF_TRAFFIC, "entryPath", ...OF_CONTEXT] as const;

/** No value, or no path. */
const NONE = 0;

/** The numbers of one dictionary's rows: a value's is the least number of those that have it. */
class Dictionary {
  readonly #least: Map<string | null, number>[];
  readonly #numbersOf = new Map<number, Int32Array>();
  /** The greatest number that is known, sign apart. */
  last = 0;

  constructor(readonly fields: readonly string[]) {
    this.#least = fields.map(() => new Map());
  }

  /** Rows come in the order in which their numbers were given out. */
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
SELECT traffic_id AS number, ${OF_TRAFFIC.join(", ")}, rule FROM traffic
WHERE project_id = $1::int AND traffic_id > $2::int ORDER BY traffic_id`;

// Contexts of bots have negative numbers of the same row.
const CONTEXT_ROWS = `
SELECT context_id AS number, country, region, city, browser, os, device::text AS device FROM contexts
WHERE project_id = $1::int AND (context_id > $2::int OR context_id < -$2::int)
ORDER BY abs(context_id)`;

interface NumberedRow extends Row {
  readonly number: number;
}

/**
 * The numbers that values of a project's sessions are known by in the rollups. They follow from
 * the dictionaries alone, which only grow: read once, kept, and read on where they have grown.
 */
export class ValueNumbers {
  readonly #traffic = new Dictionary([...OF_TRAFFIC, "rule"]);
  readonly #contexts = new Dictionary(OF_CONTEXT);

  /** Reads what has been added since. */
  async readOn(tx: Sql, projectId: number): Promise<void> {
    for (
      const [dictionary, rows] of [
        [this.#traffic, TRAFFIC_ROWS],
        [this.#contexts, CONTEXT_ROWS],
      ] as const
    ) {
      for (const row of await tx.query<NumberedRow>(rows, [projectId, dictionary.last])) {
        dictionary.add(row.number, row);
      }
    }
  }

  /** A session's number in each of DIMENSIONS. */
  of(trafficId: number, contextId: number, entryPathId: number | null): number[] {
    const traffic = this.#traffic.numbersOf(trafficId);
    return [
      NONE,
      ...traffic.subarray(0, OF_TRAFFIC.length),
      entryPathId ?? NONE,
      ...this.#contexts.numbersOf(contextId),
    ];
  }

  /** The number of the channel rule. */
  ruleOf(trafficId: number): number {
    return this.#traffic.numbersOf(trafficId)[OF_TRAFFIC.length]!;
  }
}

interface KnownNumbers {
  readonly siteHost: string | null;
  readonly values: ValueNumbers;
}

/** The numbers of the projects that were folded lately. */
export class ValueNumbersOf {
  readonly #known = new RecentCache<number, KnownNumbers>(FOLD_PROJECTS_KNOWN_MAX);

  /** `siteHost`: what the project's traffic is classified with. */
  of(projectId: number, siteHost: string | null): ValueNumbers {
    const known = this.#known.get(projectId);
    if (known?.siteHost === siteHost) return known.values;
    const values = new ValueNumbers();
    this.#known.set(projectId, { siteHost, values });
    return values;
  }

  /** After numbers were given out that are not stored. */
  forget(projectId: number): void {
    this.#known.delete(projectId);
  }
}
