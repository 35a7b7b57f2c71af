/** Looks up which values of a field a project has ever had, in its dictionaries instead of its events. */
import { isOneOf, type Sql } from "../db/sql.ts";
import { SUGGESTION_CANDIDATES_MAX, SUGGESTION_ROWS_MAX } from "../limits.ts";
import { termDigests } from "./filter_conditions.ts";
import type { Field } from "./filters.ts";
import { keyedRows } from "../db/keyed_rows.ts";
import { dictionaryOf } from "./selection.ts";
import { SqlParams } from "./sql_params.ts";
import { RESERVED_NAMES } from "../reserved_terms.ts";

/** The dictionary (alias v) that holds the values of a field. */
interface ValueSource {
  readonly from: string;
  readonly value: string;
  /** The SQL condition of the values that are suggested; null: none are. */
  readonly suggested: string | null;
  /** The column of an index that values are looked up by: texts by their digests, being too long for one; null: none. */
  readonly key: "digest" | "value" | null;
}

// An erasure leaves empty texts in place of what only the erased person had.
const ANY = "value <> ''";

function texts(suggested: string | null, from = "terms v"): ValueSource {
  return { from, value: "v.term", suggested, key: "digest" };
}

const ids = (kind: "u" | "a"): ValueSource => ({
  from: `(SELECT * FROM identities WHERE kind = '${kind}') v`,
  value: "v.value",
  suggested: null,
  key: "value",
});

const PATHS = texts("starts_with(value, '/')");
/** Fields whose values are in a column of `contexts` or `traffic`. */
const COLUMNS = [
  ...["host", "country", "region", "city", "browser", "os", "device"] as const,
  ...["source", "medium", "campaign", "term", "content", "channel"] as const,
];

/** Referrers are named by their host, or with a slash by their whole address. */
const REFERRERS: ValueSource = {
  from: `(SELECT project_id, host AS value FROM referrers
    UNION ALL SELECT project_id, address FROM referrers WHERE address LIKE '%/%') v`,
  value: "v.value",
  suggested: `${ANY} AND value NOT LIKE '%/%'`,
  key: null,
};

/** By field. Properties have none: no table lists their values, or all of their keys. */
const SOURCES: Readonly<Record<string, ValueSource>> = {
  name: texts(ANY, "(SELECT * FROM terms WHERE is_name) v"),
  path: PATHS,
  entryPath: PATHS,
  exitPath: PATHS,
  title: texts(null),
  referrer: REFERRERS,
  ...Object.fromEntries(COLUMNS.map((field): [string, ValueSource] => {
    const { table, text } = dictionaryOf(field);
    return [field, { from: `${table} v`, value: text, suggested: ANY, key: null }];
  })),
  userId: ids("u"),
  anonymousId: ids("a"),
};

/** Whether a dictionary lists the values of a field that a project has had. */
export function hasKnownValues(field: Field): boolean {
  return Object.hasOwn(SOURCES, field);
}

/** Returns SQL with a row for each of these values that the field has had. */
function knownSql(
  params: SqlParams,
  project: string,
  field: string,
  values: readonly string[],
): string {
  const { from, value, key } = SOURCES[field]!;
  const keys = key === "digest" ? params.uuids(termDigests(values)) : params.texts(values);
  const rows = key === null
    ? `${from} WHERE v.project_id = ${project} AND ${isOneOf(value, keys)}`
    : keyedRows(from, `v.${key} = wanted.key`, project, keys);
  return `SELECT DISTINCT '${field}' AS field, ${value} AS value FROM ${rows}`;
}

/** Returns the values of each field. */
export function valuesByField(
  listed: readonly { readonly field: string; readonly value: string }[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const ofFields = Map.groupBy(listed, ({ field }) => field);
  return new Map(
    [...ofFields].map(([field, some]) => [field, new Set(some.map((one) => one.value))]),
  );
}

/**
 * Returns the wanted values that the project has had, by field. One statement looks them up in all
 * dictionaries. A path counts as known if it was a title, and the other way round: `terms` marks names only.
 */
export async function knownValues(
  sql: Sql,
  projectId: number,
  wanted: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const params = new SqlParams();
  const project = params.int(projectId);
  const parts = [...wanted].map(([field, values]) => knownSql(params, project, field, [...values]));
  const rows = await sql.query<{ field: string; value: string }>(
    parts.join(" UNION ALL "),
    params.values,
  );
  return valuesByField(rows);
}

/**
 * Returns values of a field that the project has had, as candidates for suggestions: from only the first
 * rows of a large dictionary; none for titles, of which there are too many, or for ids of people.
 */
export async function candidateValues(
  sql: Sql,
  projectId: number,
  field: string,
): Promise<readonly string[]> {
  const { from, value, suggested } = SOURCES[field]!;
  if (suggested === null) return [];
  const rows = await sql.query<{ value: string }>(
    `SELECT DISTINCT value FROM (
      SELECT ${value} AS value FROM ${from} WHERE v.project_id = $1::int LIMIT ${SUGGESTION_ROWS_MAX}
    ) AS first WHERE ${suggested} LIMIT ${SUGGESTION_CANDIDATES_MAX}`,
    [projectId],
  );
  const reserved = field === "name" ? RESERVED_NAMES : [];
  return [...new Set([...reserved, ...rows.map(({ value }) => value)])];
}
