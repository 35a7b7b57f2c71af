import { packInts, unpackInts } from "../db/packed_ints.ts";
import { arrayLiteral, isOneOf, type Sql } from "../db/sql.ts";
import { RESERVED_TERM_MAX } from "../reserved_terms.ts";
import type { EventSelection } from "../store/timed_events.ts";
import { SegmentUnreadable } from "../store/segment_head.ts";
import { SegmentsGone } from "../store/stored_segments.ts";
import {
  byKind,
  dropUsedWords,
  noWords,
  type UsedWords,
  usedWords,
  WORD_KINDS,
  type WordUses,
} from "../store/used_words.ts";
import { CONTEXTS, type Dictionary, TRAFFIC } from "./dictionaries.ts";
import { deleteNumbered } from "./keyed_deletion.ts";

/**
 * Columns of contexts and traffic whose values the server chooses; those of the others come from visitors and
 * links.
 */
const OWN_WORDS = ["device", "channel", "rule"];

/** The numbers of the words that go. */
const GONE = "$2::text::int[]";

// Rows of contexts and traffic stay, as the rollups name values by the first row that holds them.
//
// The texts that other rows have, too, are found by INTERSECT, which sorts or hashes them: a search of the other rows
// for each removed one would take minutes in a large dictionary.
//
// Removed texts become empty, as no event has an empty one. With null, the row could become the first one
// without a value, which is how the rollups name "no value". The digest changes too, so that the same values
// get a new row.
const blank = ({ table, number, columns }: Dictionary): string => `
UPDATE ${table} AS gone SET digest = gen_random_uuid(), ${
  columns.filter((column) => !OWN_WORDS.includes(column)).map((text) => `
  ${text} = CASE WHEN gone.${text} IS NULL OR gone.${text} IN (
    SELECT ${text} FROM ${table} WHERE project_id = (SELECT $1::int) AND ${isOneOf(number, GONE)}
    INTERSECT
    SELECT ${text} FROM ${table} WHERE project_id = $1::int AND ${number} NOT IN (SELECT unnest(${GONE}))
  ) THEN gone.${text} ELSE '' END`).join(",")
}
WHERE project_id = (SELECT $1::int) AND ${isOneOf(number, GONE)}`;

async function blankUnused(
  tx: Sql,
  projectId: number,
  dictionary: Dictionary,
  unused: ReadonlySet<number>,
): Promise<void> {
  if (unused.size > 0) await tx.query(blank(dictionary), [projectId, arrayLiteral([...unused])]);
}

/** Returns a copy, without the terms that stay: those of page_view, click and scroll. */
const removable = (words: UsedWords): UsedWords => ({
  ...byKind((kind) => new Set(words[kind])),
  terms: new Set([...words.terms].filter((id) => id > RESERVED_TERM_MAX)),
});

const isWithin = (words: UsedWords, others: UsedWords): boolean =>
  WORD_KINDS.every((kind) => words[kind].isSubsetOf(others[kind]));

/** Returns the numbers of all words of a project. */
export async function allWords(sql: Sql, projectId: number): Promise<UsedWords> {
  const idsOf = async (table: string, number: string) => {
    const [row] = await sql.query<{ ids: string | null }>(
      `SELECT ${packInts([number])} AS ids FROM ${table} WHERE project_id = $1::int`,
      [projectId],
    );
    return new Set(unpackInts(row!.ids));
  };
  return {
    terms: await idsOf("terms", "term_id"),
    referrers: await idsOf("referrers", "referrer_id"),
    contexts: await idsOf(CONTEXTS.table, CONTEXTS.number),
    traffic: await idsOf(TRAFFIC.table, TRAFFIC.number),
  };
}

/** What an early search found about the words of events to be deleted, before the project was locked. */
export interface EarlySearch {
  readonly leaving: EventSelection;
  /** Words that were searched for among all other events, in these segments. */
  readonly words: UsedWords;
  readonly segments: ReadonlySet<number>;
  /** Those that were found there, each with a segment. */
  readonly uses: WordUses;
}

/** Whether both selections select the same of the events that were stored at the earlier time. */
function isSame(one: EventSelection, other: EventSelection): boolean {
  const [own, others] = [one.identities ?? new Set(), other.identities ?? new Set()];
  return one.beforeMs === other.beforeMs && own.symmetricDifference(others).size === 0;
}

/**
 * Finds words that no event will have once those that are `leaving` are deleted. Searches all segments, up to
 * 0.4 s for a million events, so that little is left to do while the project is locked.
 * @param more words of events that have gone
 * @returns null: a segment was deleted in the meantime, or cannot be read, so that all is searched later
 */
export async function searchEarly(
  sql: Sql,
  projectId: number,
  leaving: EventSelection,
  more?: UsedWords,
): Promise<EarlySearch | null> {
  try {
    const words = await usedWords(sql, projectId, leaving);
    for (const kind of WORD_KINDS) for (const id of more?.[kind] ?? []) words[kind].add(id);
    return { leaving, words, ...await dropUsedWords(sql, projectId, removable(words), leaving) };
  } catch (error) {
    if (error instanceof SegmentsGone || error instanceof SegmentUnreadable) return null;
    throw error;
  }
}

/**
 * Divides words by what the earlier search found. A use counts only while its segment exists: segments never
 * change, but the events of a deleted one may be deleted, too.
 * @returns words to search for in the segments added since, and words to search for in all
 */
async function leftToSearchFor(
  tx: Sql,
  projectId: number,
  words: UsedWords,
  { uses }: EarlySearch,
): Promise<{ readonly inNew: UsedWords; readonly inAll: UsedWords }> {
  const rows = await tx.query<{ segment_id: number }>(
    "SELECT segment_id::int8 FROM segments WHERE project_id = $1::int",
    [projectId],
  );
  const present = new Set(rows.map(({ segment_id }) => segment_id));
  const [inNew, inAll] = [noWords(), noWords()];
  for (const kind of WORD_KINDS) {
    for (const id of words[kind]) {
      const segmentId = uses[kind].get(id);
      if (segmentId === undefined) inNew[kind].add(id);
      else if (!present.has(segmentId)) inAll[kind].add(id);
    }
  }
  return { inNew, inAll };
}

/**
 * Returns the words of `words` that no stored event uses any more, now that the events that were `leaving`
 * are deleted. The caller has locked the project.
 */
export async function unusedOf(
  tx: Sql,
  projectId: number,
  words: UsedWords,
  leaving: EventSelection,
  earlier: EarlySearch | null,
): Promise<UsedWords> {
  const candidates = removable(words);
  const holds = earlier !== null && isSame(earlier.leaving, leaving) &&
    isWithin(words, earlier.words);
  if (!holds) {
    await dropUsedWords(tx, projectId, candidates, null);
    return candidates;
  }
  const { inNew, inAll } = await leftToSearchFor(tx, projectId, candidates, earlier);
  await dropUsedWords(tx, projectId, inNew, null, earlier.segments);
  await dropUsedWords(tx, projectId, inAll, null);
  for (const kind of WORD_KINDS) for (const id of inAll[kind]) inNew[kind].add(id);
  return inNew;
}

/** Returns the names, paths and titles among words. */
export async function textsOf(tx: Sql, projectId: number, { terms }: UsedWords): Promise<string[]> {
  const rows = await tx.query<{ term: string }>(
    `SELECT term FROM terms WHERE project_id = (SELECT $1::int) AND ${isOneOf("term_id", GONE)}`,
    [projectId, arrayLiteral([...terms])],
  );
  return rows.map(({ term }) => term);
}

/**
 * Removes words that no stored event uses any more: whole rows of terms and referrers; in contexts and
 * traffic, the values that no other row has.
 */
export async function removeUnused(tx: Sql, projectId: number, unused: UsedWords): Promise<void> {
  const terms = [...unused.terms];
  await deleteNumbered(tx, projectId, "terms", "term_id", terms);
  // The numbers of deleted terms are reused, for words that may not be technical names.
  await deleteNumbered(tx, projectId, "technical_names", "term_id", terms);
  await deleteNumbered(tx, projectId, "referrers", "referrer_id", [...unused.referrers]);
  await blankUnused(tx, projectId, CONTEXTS, unused.contexts);
  await blankUnused(tx, projectId, TRAFFIC, unused.traffic);
}
