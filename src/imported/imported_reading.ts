import { arrayLiteral, arrayLiterals, type Row, type Sql } from "../db/sql.ts";
import { keyedRow } from "../db/keyed_rows.ts";
import {
  FIGURES,
  IMPORTED_SOURCES,
  type ImportedDimension,
  type ImportedSource,
} from "./imported_sums.ts";

/** Returns the time of a project's first projected event, from which on nothing imported counts; null: there is none. */
export async function firstEventMs(sql: Sql, projectId: number): Promise<number | null> {
  const [row] = await sql.query<{ ms: number | null }>(
    "SELECT min(from_ms) AS ms FROM segments WHERE project_id = $1::int",
    [projectId],
  );
  return row!.ms;
}

/** A day, the source of its sums, and the dimensions that they are split by. */
export interface CoveredDay {
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly source: ImportedSource;
  readonly dimensions: readonly ImportedDimension[];
}

/** Returns the days in `[fromDay, toDay)` that have sums, in order, each with the first source that has them. */
export async function coveredDays(
  sql: Sql,
  projectId: number,
  fromDay: number,
  toDay: number,
): Promise<CoveredDay[]> {
  const rows = await sql.query<{
    day: number;
    source: ImportedSource;
    dimensions: ImportedDimension[];
  }>(
    `SELECT day, source, array_agg(dimension) AS dimensions FROM imported_days
    WHERE project_id = $1::int AND day >= $2::int AND day < $3::int
    GROUP BY day, source ORDER BY day, array_position($4::text::text[], source)`,
    [projectId, fromDay, toDay, arrayLiteral(IMPORTED_SOURCES)],
  );
  return rows.filter(({ day }, i) => rows[i - 1]?.day !== day);
}

/**
 * Sums over days; null: no day has this figure. A rate is computed over the days that have both of its
 * parts: for that, the visits of days with bounces, with seconds and with page views are summed separately.
 */
export interface ImportedSums {
  readonly visitors: number | null;
  readonly visits: number | null;
  readonly pageviews: number | null;
  readonly bounces: number | null;
  readonly seconds: number | null;
  readonly events: number | null;
  readonly visitsWithBounces: number;
  readonly visitsWithSeconds: number;
  readonly visitsWithPageviews: number;
  readonly pageviewsOfVisits: number;
}

const SUMS = [
  ...FIGURES.map((figure) => `sum(u.${figure})::float8 AS ${figure}`),
  ...["bounces", "seconds", "pageviews"].map((figure) => {
    const name = `visitsWith${figure[0]!.toUpperCase()}${figure.slice(1)}`;
    return `coalesce(sum(u.visits) FILTER (WHERE u.${figure} IS NOT NULL), 0)::float8 AS "${name}"`;
  }),
  `coalesce(sum(u.pageviews) FILTER (WHERE u.visits IS NOT NULL), 0)::float8 AS "pageviewsOfVisits"`,
].join(",\n      ");

const VALUES = `unnest(d.value_texts, ${FIGURES.map((figure) => `d.${figure}`).join(", ")})
      AS u (value, ${FIGURES.join(", ")})`;

/** Returns the parameters of the SQL below: $1 the project, $2 the days, $3 their sources. */
const keysOf = (projectId: number, days: readonly CoveredDay[]) => [
  projectId,
  ...arrayLiterals(["day", "source"], days),
];

/** Returns the days `d` of the keys `k` with a dimension: each is looked up by its key. */
const daysOf = (dimension: string): string =>
  `CROSS JOIN ${
    keyedRow(
      "imported_days v",
      `v.day = k.day AND v.source = k.source AND v.dimension = ${dimension}`,
      "$1::int",
    )
  } AS d`;
const KEYS = "unnest($2::text::int[], $3::text::text[]) AS k (day, source)";

/** Returns the unsplit sums of each day. */
export async function sumsByDay(
  sql: Sql,
  projectId: number,
  days: readonly CoveredDay[],
): Promise<(ImportedSums & { readonly day: number })[]> {
  if (days.length === 0) return [];
  return await sql.query<ImportedSums & { readonly day: number } & Row>(
    `SELECT d.day,
      ${SUMS}
    FROM ${KEYS} ${daysOf("'all'")}
    CROSS JOIN LATERAL ${VALUES}
    GROUP BY d.day ORDER BY d.day`,
    keysOf(projectId, days),
  );
}

/** Returns the sums of all days together. A day without unsplit sums counts as the sum of the dimension's values. */
export async function sumsOfAll(
  sql: Sql,
  projectId: number,
  days: readonly CoveredDay[],
  dimension: ImportedDimension,
): Promise<ImportedSums> {
  const summed = days.map(({ dimensions }) => dimensions.includes("all") ? "all" : dimension);
  const [row] = await sql.query<ImportedSums & Row>(
    `SELECT ${SUMS}
    FROM unnest($2::text::int[], $3::text::text[], $4::text::text[]) AS k (day, source, dimension)
    ${daysOf("k.dimension")}
    CROSS JOIN LATERAL ${VALUES}`,
    [...keysOf(projectId, days), arrayLiteral(summed)],
  );
  return row!;
}

/** Returns the sums of each value over all days together. */
export async function sumsByValue(
  sql: Sql,
  projectId: number,
  days: readonly CoveredDay[],
  dimension: ImportedDimension,
): Promise<(ImportedSums & { readonly value: string | null })[]> {
  if (days.length === 0) return [];
  return await sql.query<ImportedSums & { readonly value: string | null } & Row>(
    `SELECT u.value,
      ${SUMS}
    FROM ${KEYS} ${daysOf("$4::text")}
    CROSS JOIN LATERAL ${VALUES}
    GROUP BY u.value`,
    [...keysOf(projectId, days), dimension],
  );
}
