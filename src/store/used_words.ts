import type { Sql } from "../db/sql.ts";
import type { IntegerName } from "./segment_columns.ts";
import { countWhile } from "./segment_head.ts";
import type { SegmentReader } from "./segment_reader.ts";
import { eachStoredBlock, fetchBlocks } from "./stored_segments.ts";
import type { EventSelection } from "./timed_events.ts";

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

/** Returns the selected events as ranges of places: of the runs of the identities, or of all. */
function rangesOf(
  reader: SegmentReader,
  { identities, beforeMs = Infinity }: EventSelection,
): [number, number][] {
  if (identities === undefined && beforeMs === Infinity) return [[0, reader.events]];
  const runs = reader.runs();
  const moments = beforeMs === Infinity ? null : reader.moments();
  return [...runs.identities.entries()]
    .filter(([, identity]) => identities === undefined || identities.has(identity))
    .map(([run]) => {
      const [from, to] = [runs.starts[run]!, runs.starts[run + 1]!];
      if (moments === null) return [from, to];
      return [from, from + countWhile(to - from, (i) => moments[from + i]! < beforeMs)];
    });
}

export const noWords = (): UsedWords => ({
  terms: new Set(),
  referrers: new Set(),
  contexts: new Set(),
  traffic: new Set(),
});

/** Adds the words of the selected stored events to `used`. `sql` must read one snapshot. */
export async function addUsedWords(
  sql: Sql,
  projectId: number,
  used: UsedWords,
  selection: EventSelection = {},
): Promise<void> {
  const columns = selection.beforeMs === undefined ? COLUMNS : [...COLUMNS, "times"] as const;
  for await (const block of eachStoredBlock(sql, projectId, selection.beforeMs)) {
    const [reader] = await fetchBlocks(sql, projectId, [block], columns);
    const ranges = rangesOf(reader!, selection);
    for (const name of WORD_COLUMNS) {
      const words = used[WORDS_OF[name]];
      const column = ranges.length === 0 ? [] : reader!.integers(name);
      for (const [from, to] of ranges) for (let at = from; at < to; at++) words.add(column[at]!);
    }
  }
}

/** Returns the words of the selected stored events. `sql` must read one snapshot. */
export async function usedWords(
  sql: Sql,
  projectId: number,
  selection: EventSelection = {},
): Promise<UsedWords> {
  const used = noWords();
  await addUsedWords(sql, projectId, used, selection);
  return used;
}
