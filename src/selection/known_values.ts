/** Which values of a field a project has had: told by its dictionaries, never by its events. */
import { createHash } from "node:crypto";
import type { Sql } from "../db/sql.ts";
import { SUGGESTION_CANDIDATES_MAX, SUGGESTION_ROWS_MAX } from "../limits.ts";
import { deviceOf } from "./field_values.ts";
import type { Field } from "./filters.ts";
import { SqlParams } from "./sql_params.ts";
import { RESERVED_NAMES, RESERVED_TERM_MAX } from "./terms.ts";

/** Where the values of a field stand: in a column of a dictionary, or among the project's texts. */
type Source =
  | { readonly kind: "column"; readonly from: string; readonly value: string }
  | { readonly kind: "text" }
  | { readonly kind: "name" };

const contexts = (value: string): Source => ({ kind: "column", from: "contexts d", value });
const traffic = (field: string): Source => ({
  kind: "column",
  from: "traffic d",
  value: `d.${field}`,
});
const TEXT: Source = { kind: "text" };

/** Fields whose values a dictionary holds. A referrer is one thing by its host, another by its address. */
const SOURCES: Readonly<Record<string, Source>> = {
  name: { kind: "name" },
  path: TEXT,
  entryPath: TEXT,
  exitPath: TEXT,
  title: TEXT,
  host: contexts("d.host"),
  country: contexts("d.country"),
  region: contexts("d.region"),
  city: contexts("d.city"),
  browser: contexts("d.browser"),
  os: contexts("d.os"),
  device: contexts(deviceOf("d")),
  source: traffic("source"),
  medium: traffic("medium"),
  campaign: traffic("campaign"),
  term: traffic("term"),
  content: traffic("content"),
  channel: traffic("channel"),
  userId: {
    kind: "column",
    from: "(SELECT * FROM identities WHERE kind = 'u') d",
    value: "d.value",
  },
};

/** Whether it can be told cheaply which values a project has had. */
export function hasKnownValues(field: Field): boolean {
  return Object.hasOwn(SOURCES, field);
}

function digestsOf(texts: readonly string[]): string[] {
  return texts.map((text) => createHash("sha256").update(text).digest("hex").slice(0, 32));
}

/** One fact of a custom event's name is looked up by its index, however many there are. */
const HAS_NAME = (project: string, term: string) =>
  `CROSS JOIN LATERAL (SELECT FROM facts f WHERE f.project_id = ${project}
    AND f.name_id > ${RESERVED_TERM_MAX} AND f.name_id = ${term} LIMIT 1) seen`;

function knownNames(params: SqlParams, project: string, values: readonly string[]): string[] {
  const reserved = values.map((name) => RESERVED_NAMES.indexOf(name)).filter((i) => i >= 0);
  const digests = params.uuids(digestsOf(values));
  return [
    `SELECT 'name' AS field, t.term AS value FROM terms t ${HAS_NAME(project, "t.term_id")}
    WHERE t.project_id = ${project} AND t.digest = ANY(${digests})`,
    // The ids of these names are literals, so that their partial indexes are found.
    ...reserved.map((i) =>
      `SELECT 'name', '${RESERVED_NAMES[i]}' WHERE EXISTS (
        SELECT FROM facts f WHERE f.project_id = ${project} AND f.name_id = ${i + 1})`
    ),
  ];
}

function knownOf(
  params: SqlParams,
  project: string,
  field: string,
  values: readonly string[],
): string[] {
  const source = SOURCES[field]!;
  switch (source.kind) {
    case "name":
      return knownNames(params, project, values);
    case "text":
      return [
        `SELECT '${field}' AS field, t.term AS value FROM terms t
        WHERE t.project_id = ${project} AND t.digest = ANY(${params.uuids(digestsOf(values))})`,
      ];
    case "column":
      return [
        `SELECT DISTINCT '${field}' AS field, ${source.value} AS value FROM ${source.from}
        WHERE d.project_id = ${project} AND ${source.value} = ANY(${params.texts(values)})`,
      ];
  }
}

/**
 * Those of the values that the project has had, by field. One look at each dictionary, which a filter
 * on the field takes too. Names, paths and titles are told apart by names alone.
 */
export async function knownValues(
  sql: Sql,
  projectId: number,
  wanted: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const params = new SqlParams();
  const project = params.int(projectId);
  const parts = [...wanted].flatMap(([field, values]) =>
    knownOf(params, project, field, [...values])
  );
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

/** Names one after the other by their index: as many look-ups as there are names. */
const NAMES = (project: string) => `
WITH RECURSIVE named (name_id) AS (
  (SELECT f.name_id FROM facts f
   WHERE f.project_id = ${project} AND f.name_id > ${RESERVED_TERM_MAX} ORDER BY f.name_id LIMIT 1)
  UNION ALL
  SELECT (SELECT f.name_id FROM facts f
    WHERE f.project_id = ${project} AND f.name_id > ${RESERVED_TERM_MAX} AND f.name_id > n.name_id
    ORDER BY f.name_id LIMIT 1)
  FROM named n WHERE n.name_id IS NOT NULL
)
SELECT t.term AS value FROM (SELECT name_id FROM named LIMIT ${SUGGESTION_CANDIDATES_MAX}) n
JOIN terms t ON t.project_id = ${project} AND t.term_id = n.name_id`;

function candidateSql(project: string, field: string): string | null {
  const source = SOURCES[field]!;
  if (field === "title" || field === "userId") return null;
  if (source.kind === "name") return NAMES(project);
  const [value, from] = source.kind === "text"
    ? ["d.term", "terms d"]
    : [source.value, source.from];
  const known = `SELECT ${value} AS value FROM ${from} WHERE d.project_id = ${project}
    LIMIT ${SUGGESTION_ROWS_MAX}`;
  const shown = source.kind === "text" ? "starts_with(value, '/')" : "value IS NOT NULL";
  return `SELECT DISTINCT value FROM (${known}) first WHERE ${shown} LIMIT ${SUGGESTION_CANDIDATES_MAX}`;
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
  const params = new SqlParams();
  const text = candidateSql(params.int(projectId), field);
  if (text === null) return [];
  const rows = await sql.query<{ value: string }>(text, params.values);
  const reserved = field === "name" ? RESERVED_NAMES : [];
  return [...reserved, ...rows.map(({ value }) => value)];
}
