import type { Sql } from "../db/sql.ts";
import type { IntegerName } from "./segment_columns.ts";
import type { SegmentReader } from "./segment_reader.ts";
import { eachStoredBlock, fetchBlocks } from "./stored_segments.ts";

/** Dictionary numbers that stored events use. */
export interface UsedWords {
  /** Names, paths and titles. */
  readonly terms: Set<number>;
  readonly referrers: Set<number>;
  readonly contexts: Set<number>;
  readonly traffic: Set<number>;
}

/** Which words each column holds. */
const WORDS_OF = {
  names: "terms",
  paths: "terms",
  titles: "terms",
  referrers: "referrers",
  contexts: "contexts",
  traffics: "traffic",
} as const satisfies Partial<Record<IntegerName, keyof UsedWords>>;
const WORD_COLUMNS = Object.keys(WORDS_OF) as (keyof typeof WORDS_OF)[];
const COLUMNS = ["identities", "runs", ...WORD_COLUMNS] as const;

/** Returns the runs of these identities as ranges of places; without a set, one range over all events. */
function rangesOf(reader: SegmentReader, identities?: ReadonlySet<number>): [number, number][] {
  if (identities === undefined) return [[0, reader.events]];
  const runs = reader.runs();
  return [...runs.identities.entries()].filter(([, identity]) => identities.has(identity))
    .map(([run]) => [runs.starts[run]!, runs.starts[run + 1]!]);
}

/** Collects the words of the stored events of these identities, or of all. `sql` must read one snapshot. */
export async function usedWords(
  sql: Sql,
  projectId: number,
  identities?: ReadonlySet<number>,
): Promise<UsedWords> {
  const used: UsedWords = {
    terms: new Set(),
    referrers: new Set(),
    contexts: new Set(),
    traffic: new Set(),
  };
  for await (const block of eachStoredBlock(sql, projectId)) {
    const [reader] = await fetchBlocks(sql, projectId, [block], COLUMNS);
    const ranges = rangesOf(reader!, identities);
    for (const name of WORD_COLUMNS) {
      const words = used[WORDS_OF[name]];
      const column = ranges.length === 0 ? [] : reader!.integers(name);
      for (const [from, to] of ranges) for (let at = from; at < to; at++) words.add(column[at]!);
    }
  }
  return used;
}
