import type { Sql } from "../db/sql.ts";
import type { IntegerName } from "./segment_columns.ts";
import { countWhile } from "./segment_head.ts";
import type { SegmentReader } from "./segment_reader.ts";
import { eachFetched } from "./stored_segments.ts";
import { type EventSelection, selectedBlocks } from "./timed_events.ts";

/** The dictionaries; terms are names, paths and titles. */
export const WORD_KINDS = ["terms", "referrers", "contexts", "traffic"] as const;
type WordKind = typeof WORD_KINDS[number];

/** Dictionary numbers that stored events use. */
export type UsedWords = Readonly<Record<WordKind, Set<number>>>;

/** Which words each column holds. */
const WORDS_OF = {
  names: "terms",
  paths: "terms",
  titles: "terms",
  referrers: "referrers",
  contexts: "contexts",
  traffics: "traffic",
} as const satisfies Partial<Record<IntegerName, WordKind>>;
const WORD_COLUMNS = Object.keys(WORDS_OF) as (keyof typeof WORDS_OF)[];

/** Returns the columns that tell which events are selected. */
const columnsOf = ({ beforeMs }: EventSelection) =>
  ["identities", "runs", ...beforeMs === undefined ? [] : ["times"] as const] as const;

/** Events of a block: from a place to before another. */
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

/** Returns what `make` returns for each dictionary. */
export const byKind = <T>(make: (kind: WordKind) => T) =>
  Object.fromEntries(WORD_KINDS.map((kind) => [kind, make(kind)])) as Record<WordKind, T>;

export const noWords = (): UsedWords => byKind(() => new Set());

/** Returns `used` with the words of the selected stored events added. `sql` must read one snapshot. */
export async function usedWords(
  sql: Sql,
  projectId: number,
  selection: EventSelection,
  used = noWords(),
): Promise<UsedWords> {
  const columns = [...columnsOf(selection), ...WORD_COLUMNS];
  const blocks = await selectedBlocks(sql, projectId, selection);
  for await (const reader of eachFetched(sql, projectId, blocks, columns)) {
    const { selected } = rangesOf(reader, selection);
    for (const name of WORD_COLUMNS) {
      const words = used[WORDS_OF[name]];
      const column = selected.length === 0 ? [] : reader.integers(name);
      for (const [from, to] of selected) for (let at = from; at < to; at++) words.add(column[at]!);
    }
  }
  return used;
}

/** Words that are used, each with a segment that has an event with it. */
export type WordUses = Readonly<Record<WordKind, ReadonlyMap<number, number>>>;

/**
 * Removes the words that stored events use from `words`; ends when none is left.
 * @param leaving events to ignore, as they are about to be deleted; null: none
 * @param known segments that were searched before, and are skipped
 * @returns the segments that need not be searched again, and a segment for each removed word
 * @throws SegmentsGone, SegmentUnreadable
 */
export async function dropUsedWords(
  sql: Sql,
  projectId: number,
  words: UsedWords,
  leaving: EventSelection | null,
  known: ReadonlySet<number> = new Set(),
): Promise<{ readonly segments: ReadonlySet<number>; readonly uses: WordUses }> {
  const uses = byKind(() => new Map<number, number>());
  const isDone = () => Object.values(words).every(({ size }) => size === 0);
  if (isDone()) return { segments: new Set(), uses };
  const asked = WORD_COLUMNS.filter((name) => words[WORDS_OF[name]].size > 0);
  const columns = leaving === null ? asked : [...columnsOf(leaving), ...asked];
  const blocks = (await selectedBlocks(sql, projectId, {})).filter(({ segmentId }) =>
    !known.has(segmentId)
  );
  let next = 0;
  for await (const reader of eachFetched(sql, projectId, blocks, columns)) {
    const { segmentId } = blocks[next++]!;
    const ranges = leaving === null
      ? [[0, reader.events] as const]
      : rangesOf(reader, leaving).others;
    for (const name of asked) {
      const kind = WORDS_OF[name];
      if (words[kind].size === 0) continue;
      const column = reader.integers(name);
      for (const [from, to] of ranges) {
        for (let at = from; at < to; at++) {
          if (words[kind].delete(column[at]!)) uses[kind].set(column[at]!, segmentId);
        }
      }
    }
    if (isDone()) break;
  }
  return { segments: new Set(blocks.map(({ segmentId }) => segmentId)), uses };
}
