import type { Sql } from "../db/sql.ts";
import type { IntegerName } from "./segment_columns.ts";
import { allBlocks, countWhile } from "./segment_head.ts";
import type { SegmentReader } from "./segment_reader.ts";
import { eachStoredBlock, fetchBlocks, fetchHeads, type StoredHead } from "./stored_segments.ts";
import type { EventSelection } from "./timed_events.ts";
import { yielding } from "./yielding.ts";

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
const RUN_COLUMNS = ["identities", "runs", "times"] as const;

/** The events from one place of a block to before another. */
type Range = readonly [from: number, to: number];

/** Divides the events of the runs of a block into the selected ones and the others. */
function rangesOf(
  reader: SegmentReader,
  { identities, beforeMs = Infinity }: EventSelection,
): { readonly selected: Range[]; readonly others: Range[] } {
  const runs = reader.runs();
  const moments = beforeMs === Infinity ? null : reader.moments();
  const ranges: { selected: Range[]; others: Range[] } = { selected: [], others: [] };
  for (const [run, identity] of runs.identities.entries()) {
    const [from, to] = [runs.starts[run]!, runs.starts[run + 1]!];
    const isSelected = identities === undefined || identities.has(identity);
    const selected = !isSelected
      ? 0
      : moments === null
      ? to - from
      : countWhile(to - from, (i) => moments[from + i]! < beforeMs);
    if (selected > 0) ranges.selected.push([from, from + selected]);
    if (from + selected < to) ranges.others.push([from + selected, to]);
  }
  return ranges;
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
  selection: EventSelection,
): Promise<void> {
  const columns = [...RUN_COLUMNS, ...WORD_COLUMNS];
  for await (const block of eachStoredBlock(sql, projectId, selection.beforeMs)) {
    const [reader] = await fetchBlocks(sql, projectId, [block], columns);
    const { selected } = rangesOf(reader!, selection);
    for (const name of WORD_COLUMNS) {
      const words = used[WORDS_OF[name]];
      const column = selected.length === 0 ? [] : reader!.integers(name);
      for (const [from, to] of selected) for (let at = from; at < to; at++) words.add(column[at]!);
    }
  }
}

/** Returns the words of the selected stored events. `sql` must read one snapshot. */
export async function usedWords(
  sql: Sql,
  projectId: number,
  selection: EventSelection,
): Promise<UsedWords> {
  const used = noWords();
  await addUsedWords(sql, projectId, used, selection);
  return used;
}

/** Takes the words that a block's events use from `words`; `leaving`: but for those of these events; null: of all. */
async function takeUsed(
  sql: Sql,
  projectId: number,
  stored: StoredHead,
  block: number,
  { words, leaving }: { readonly words: UsedWords; readonly leaving: EventSelection | null },
): Promise<void> {
  const wanted = WORD_COLUMNS.filter((name) => words[WORDS_OF[name]].size > 0);
  if (wanted.length === 0) return;
  const blocks = { first: block, end: block + 1 };
  const columns = leaving === null ? wanted : [...RUN_COLUMNS, ...wanted];
  const [reader] = await fetchBlocks(sql, projectId, [{ ...stored, blocks }], columns);
  const ranges = leaving === null
    ? [[0, reader!.events] as const]
    : rangesOf(reader!, leaving).others;
  for (const name of wanted) {
    const left = words[WORDS_OF[name]];
    const column = reader!.integers(name);
    for (const [from, to] of ranges) for (let at = from; at < to; at++) left.delete(column[at]!);
  }
}

/**
 * Takes the words that stored events use from `words`, and ends once none is left.
 * @param leaving events that are not looked at, since they are to go; null: all are
 * @param known segments that were gone through before, and are passed over
 * @returns the segments that were gone through. Fails where one is deleted meanwhile
 */
export async function takeUsedWords(
  sql: Sql,
  projectId: number,
  words: UsedWords,
  leaving: EventSelection | null,
  known: ReadonlySet<number> = new Set(),
): Promise<Set<number>> {
  const yieldIfDue = yielding();
  const passed = new Set<number>();
  const isDone = () => Object.values(words).every(({ size }) => size === 0);
  for (const stored of isDone() ? [] : await fetchHeads(sql, projectId)) {
    if (isDone()) break;
    if (known.has(stored.segmentId)) continue;
    const { end } = allBlocks(stored.head);
    for (let block = 0; block < end; block++) {
      await takeUsed(sql, projectId, stored, block, { words, leaving });
      await yieldIfDue();
    }
    passed.add(stored.segmentId);
  }
  return passed;
}
