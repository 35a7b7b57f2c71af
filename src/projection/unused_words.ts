import { arrayLiteral, type Sql } from "../db/sql.ts";
import type { EventSelection } from "../store/timed_events.ts";
import { takeUsedWords, type UsedWords, usedWords } from "../store/used_words.ts";
import { deleteNumbered } from "./numbered_rows.ts";

/** The terms up to this number are page_view, click and scroll, which stay. */
const RESERVED_MAX = 3;

/** A dictionary whose rows stay, as the rollups name values by the first row that holds them. */
interface LastingDictionary {
  readonly table: "contexts" | "traffic";
  readonly number: string;
  /** Columns whose texts visitors and links choose. */
  readonly texts: readonly string[];
}

const CONTEXTS: LastingDictionary = {
  table: "contexts",
  number: "context_id",
  texts: ["host", "country", "region", "city", "browser", "os"],
};
const TRAFFIC: LastingDictionary = {
  table: "traffic",
  number: "traffic_id",
  texts: [
    ...["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "click_id_kind"],
    ...["referrer_host", "host", "source", "medium", "campaign", "term", "content", "referrer"],
  ],
};

// Of the other rows those with one of the texts are kept alone: of a large dictionary all of them would be gone
// through for each row.
//
// Empty texts stand for what is gone, since no event has one: in place of null, the row could become the first
// one without a value, by which the rollups name that. With another digest, the same values are a new row.
const blank = ({ table, number, texts }: LastingDictionary): string => `
UPDATE ${table} AS gone SET digest = gen_random_uuid(), ${
  texts.map((text) => `
  ${text} = CASE WHEN gone.${text} IS NULL OR gone.${text} IN (
    SELECT ${text} FROM ${table} WHERE project_id = $1::int AND NOT ${number} = ANY ($2::text::int[])
      AND ${text} = ANY (ARRAY(
        SELECT ${text} FROM ${table} WHERE project_id = $1::int AND ${number} = ANY ($2::text::int[])))
  ) THEN gone.${text} ELSE '' END`).join(",")
}
WHERE project_id = $1::int AND ${number} = ANY ($2::text::int[])`;

async function blankUnused(
  tx: Sql,
  projectId: number,
  dictionary: LastingDictionary,
  unused: ReadonlySet<number>,
): Promise<void> {
  if (unused.size > 0) await tx.query(blank(dictionary), [projectId, arrayLiteral([...unused])]);
}

const KINDS = ["terms", "referrers", "contexts", "traffic"] as const;

/** Returns a copy, without the terms that stay. */
const removable = (words: UsedWords): UsedWords => ({
  terms: new Set([...words.terms].filter((id) => id > RESERVED_MAX)),
  referrers: new Set(words.referrers),
  contexts: new Set(words.contexts),
  traffic: new Set(words.traffic),
});

const isWithin = (words: UsedWords, others: UsedWords): boolean =>
  KINDS.every((kind) => words[kind].isSubsetOf(others[kind]));

/** What was found of the words of events that are to go, before their project was locked. */
export interface EarlierLook {
  readonly leaving: EventSelection;
  /** Words that were looked for among all other events, in these segments. */
  readonly words: UsedWords;
  readonly segments: ReadonlySet<number>;
  /** Those that none of these events has. */
  readonly unused: UsedWords;
}

/** Whether the same events are selected of what was stored at the earlier of two times. */
function isSame(one: EventSelection, other: EventSelection): boolean {
  const [own, others] = [one.identities ?? new Set(), other.identities ?? new Set()];
  return one.beforeMs === other.beforeMs && own.symmetricDifference(others).size === 0;
}

/**
 * Looks which words will be without an event once those that are `leaving` have gone. It goes through all
 * segments, 0.4 s for a million events, so that little is left to do while the project is locked.
 * @param more words of events that have gone
 * @returns null: a segment went meanwhile, or cannot be read; everything is to be looked for later
 */
export async function lookEarlier(
  sql: Sql,
  projectId: number,
  leaving: EventSelection,
  more?: UsedWords,
): Promise<EarlierLook | null> {
  try {
    const words = await usedWords(sql, projectId, leaving);
    for (const kind of KINDS) for (const id of more?.[kind] ?? []) words[kind].add(id);
    const unused = removable(words);
    const segments = await takeUsedWords(sql, projectId, unused, leaving);
    return { leaving, words, segments, unused };
  } catch {
    return null;
  }
}

/**
 * Returns the words of `words` that no stored event uses any more, after the events that were `leaving` have gone.
 * The caller has locked the project.
 */
export async function unusedOf(
  tx: Sql,
  projectId: number,
  words: UsedWords,
  leaving: EventSelection,
  earlier: EarlierLook | null,
): Promise<UsedWords> {
  const unused = removable(words);
  const holds = earlier !== null && isSame(earlier.leaving, leaving) &&
    isWithin(words, earlier.words);
  if (holds) {
    for (const kind of KINDS) {
      for (const id of unused[kind]) if (!earlier.unused[kind].has(id)) unused[kind].delete(id);
    }
  }
  await takeUsedWords(tx, projectId, unused, null, holds ? earlier.segments : undefined);
  return unused;
}

/** Returns the names, paths and titles among words. */
export async function textsOf(tx: Sql, projectId: number, { terms }: UsedWords): Promise<string[]> {
  const rows = await tx.query<{ term: string }>(
    "SELECT term FROM terms WHERE project_id = $1::int AND term_id = ANY ($2::text::int[])",
    [projectId, arrayLiteral([...terms])],
  );
  return rows.map(({ term }) => term);
}

/**
 * Removes words that no stored event uses any more: terms and referrers with their rows; of contexts and traffic,
 * the values that no other row has.
 */
export async function removeUnused(tx: Sql, projectId: number, unused: UsedWords): Promise<void> {
  const terms = [...unused.terms];
  await deleteNumbered(tx, projectId, "terms", "term_id", terms);
  // The numbers of deleted terms are given out again, to words that may be no technical names.
  await deleteNumbered(tx, projectId, "technical_names", "term_id", terms);
  await deleteNumbered(tx, projectId, "referrers", "referrer_id", [...unused.referrers]);
  await blankUnused(tx, projectId, CONTEXTS, unused.contexts);
  await blankUnused(tx, projectId, TRAFFIC, unused.traffic);
}
