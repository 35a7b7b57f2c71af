import { arrayLiteral, type Sql } from "../db/sql.ts";
import type { UsedWords } from "../store/used_words.ts";
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

/**
 * Returns the words of `candidates` that no stored event uses any more.
 * @param used the words of all stored events
 */
export function unusedOf(candidates: UsedWords, used: UsedWords): UsedWords {
  const terms = [...candidates.terms.difference(used.terms)].filter((id) => id > RESERVED_MAX);
  return {
    terms: new Set(terms),
    referrers: candidates.referrers.difference(used.referrers),
    contexts: candidates.contexts.difference(used.contexts),
    traffic: candidates.traffic.difference(used.traffic),
  };
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
