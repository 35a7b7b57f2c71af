/** Which values of a field a project has had: told by its dictionaries, never by its events. */
import type { Sql } from "../db/sql.ts";
import { SUGGESTION_CANDIDATES_MAX, SUGGESTION_ROWS_MAX } from "../limits.ts";
import { deviceOf } from "./field_values.ts";
import { termDigests } from "./filter_conditions.ts";
import type { Field } from "./filters.ts";
import { SqlParams } from "./sql_params.ts";
import { RESERVED_NAMES } from "./terms.ts";

/** Where the values of a field stand: in a column of a dictionary (alias d). */
interface Source {
  readonly from: string;
  readonly value: string;
  /** Which of the values are suggested; null: none are. */
  readonly suggested: string | null;
  /** Texts are looked up by their digests, for they may be too long for an index. */
  readonly isText: boolean;
}

const ANY = "value IS NOT NULL";

function valuesOf(table: string, column: string): Source {
  return { from: `${table} d`, value: `d.${column}`, suggested: ANY, isText: false };
}

function texts(suggested: string | null, from = "terms d"): Source {
  return { from, value: "d.term", suggested, isText: true };
}

const PATHS = texts("starts_with(value, '/')");

/** Fields whose values a dictionary holds. A referrer is one thing by its host, another by its address. */
const SOURCES: Readonly<Record<string, Source>> = {
  name: texts(ANY, "(SELECT * FROM terms WHERE is_name) d"),
  path: PATHS,
  entryPath: PATHS,
  exitPath: PATHS,
  title: texts(null),
  host: valuesOf("contexts", "host"),
  country: valuesOf("contexts", "country"),
  region: valuesOf("contexts", "region"),
  city: valuesOf("contexts", "city"),
  browser: valuesOf("contexts", "browser"),
  os: valuesOf("contexts", "os"),
  device: { ...valuesOf("contexts", "device"), value: deviceOf("d") },
  source: valuesOf("traffic", "source"),
  medium: valuesOf("traffic", "medium"),
  campaign: valuesOf("traffic", "campaign"),
  term: valuesOf("traffic", "term"),
  content: valuesOf("traffic", "content"),
  channel: valuesOf("traffic", "channel"),
  userId: {
    ...valuesOf("(SELECT * FROM identities WHERE kind = 'u')", "value"),
    suggested: null,
  },
  anonymousId: {
    ...valuesOf("(SELECT * FROM identities WHERE kind = 'a')", "value"),
    suggested: null,
  },
};

/** Whether it can be told cheaply which values a project has had. */
export function hasKnownValues(field: Field): boolean {
  return Object.hasOwn(SOURCES, field);
}

/** A row for each of these values that a field has had. */
function knownSql(
  params: SqlParams,
  project: string,
  field: string,
  values: readonly string[],
): string {
  const { from, value, isText } = SOURCES[field]!;
  const isAsked = isText
    ? `d.digest = ANY(${params.uuids(termDigests(values))})`
    : `${value} = ANY(${params.texts(values)})`;
  return `SELECT DISTINCT '${field}' AS field, ${value} AS value FROM ${from}
    WHERE d.project_id = ${project} AND ${isAsked}`;
}

/**
 * Those of the values that the project has had, by field. One look at each dictionary, which a filter
 * on the field takes too. Of texts it is known which are names; paths and titles are not told apart.
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
  const known = new Map<string, Set<string>>();
  for (const { field, value } of rows) {
    if (!known.has(field)) known.set(field, new Set());
    known.get(field)!.add(value);
  }
  return known;
}

/**
 * Values of a field that the project has had, of which one may have been meant. Of a large dictionary
 * its first rows alone; none of titles, of which there are too many, nor of who is who.
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
      SELECT ${value} AS value FROM ${from} WHERE d.project_id = $1::int LIMIT ${SUGGESTION_ROWS_MAX}
    ) AS first WHERE ${suggested} LIMIT ${SUGGESTION_CANDIDATES_MAX}`,
    [projectId],
  );
  const reserved = field === "name" ? RESERVED_NAMES : [];
  return [...new Set([...reserved, ...rows.map(({ value }) => value)])];
}
