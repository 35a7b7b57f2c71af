import type { Sql } from "../db/sql.ts";
import type { IntegerName } from "./segment_columns.ts";
import { allBlocks } from "./segment_head.ts";
import type { SegmentReader } from "./segment_reader.ts";
import { fetchBlocks, fetchHeads } from "./stored_segments.ts";
import { yielding } from "./yielding.ts";

/** Numbers of words that events say. */
export interface UsedWords {
  /** Names, paths and titles. */
  readonly terms: Set<number>;
  readonly referrers: Set<number>;
}

const TERMS = ["names", "paths", "titles"] as const satisfies readonly IntegerName[];
const COLUMNS = ["identities", "runs", ...TERMS, "referrers"] as const;

/** Places of the events of these identities, from and to; without a set, of all. */
function runsOf(reader: SegmentReader, identities?: ReadonlySet<number>): [number, number][] {
  if (identities === undefined) return [[0, reader.events]];
  const { identities: whose, starts } = reader.runs();
  return [...whose.entries()].filter(([, identity]) => identities.has(identity))
    .map(([run]) => [starts[run]!, starts[run + 1]!]);
}

/** The words of a project's stored events: of these identities, or of all. `sql` must see one moment. */
export async function usedWords(
  sql: Sql,
  projectId: number,
  identities?: ReadonlySet<number>,
): Promise<UsedWords> {
  const used: UsedWords = { terms: new Set(), referrers: new Set() };
  const pause = yielding();
  for (const stored of await fetchHeads(sql, projectId)) {
    const all = allBlocks(stored.head);
    for (let first = 0; first < all.end; first++) {
      const wanted = { ...stored, blocks: { first, end: first + 1 } };
      const [reader] = await fetchBlocks(sql, projectId, [wanted], COLUMNS);
      const runs = runsOf(reader!, identities);
      for (const name of [...TERMS, "referrers"] as const) {
        const words = name === "referrers" ? used.referrers : used.terms;
        const column = runs.length === 0 ? [] : reader!.integers(name);
        for (const [from, to] of runs) for (let at = from; at < to; at++) words.add(column[at]!);
      }
      await pause();
    }
  }
  return used;
}
