import { arrayLiteral, type Row, type Sql } from "../db/sql.ts";
import {
  FIGURES,
  IMPORTED_SOURCES,
  type ImportedDimension,
  type ImportedSource,
} from "./imported_sums.ts";

/** A day, the source that tells of it, and what it is split by. */
export interface CoveredDay {
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly source: ImportedSource;
  readonly dimensions: readonly ImportedDimension[];
}

/** Which days in `[fromDay, toDay)` are told, each by one source, in order. */
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
 * Sums over days; null: no day tells it. A rate is of the days that tell both of its parts, so that
 * the visits of which bounces, seconds and page views are known are counted by themselves.
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

/** Of bounces and seconds without visits nothing can be made. */
const VALUES = `unnest(d.value_texts, ${FIGURES.map((figure) => `d.${figure}`).join(", ")})
      AS u (value, ${FIGURES.join(", ")})`;

/** The days as the SQL below takes them: $1 the project, $2 the days, $3 their sources. */
function keysOf(projectId: number, days: readonly CoveredDay[]) {
  return [
    projectId,
    arrayLiteral(days.map(({ day }) => day)),
    arrayLiteral(days.map(({ source }) => source)),
  ];
}

const DAYS = `unnest($2::text::int[], $3::text::text[]) AS k (day, source)
    JOIN imported_days d ON d.project_id = $1::int AND d.day = k.day AND d.source = k.source`;

/** What each day comes to, as its source tells it unsplit. */
export async function sumsByDay(
  sql: Sql,
  projectId: number,
  days: readonly CoveredDay[],
): Promise<(ImportedSums & { readonly day: number })[]> {
  if (days.length === 0) return [];
  return await sql.query<ImportedSums & { readonly day: number } & Row>(
    `SELECT d.day,
      ${SUMS}
    FROM ${DAYS} AND d.dimension = 'all'
    CROSS JOIN LATERAL ${VALUES}
    GROUP BY d.day ORDER BY d.day`,
    keysOf(projectId, days),
  );
}

/** What all days come to together; of a day that is told split alone, the sum of its values. */
export async function sumsOfAll(
  sql: Sql,
  projectId: number,
  days: readonly CoveredDay[],
  dimension: ImportedDimension,
): Promise<ImportedSums> {
  const places = days.map(({ dimensions }) => dimensions.includes("all") ? "all" : dimension);
  const [row] = await sql.query<ImportedSums & Row>(
    `SELECT ${SUMS}
    FROM unnest($2::text::int[], $3::text::text[], $4::text::text[]) AS k (day, source, dimension)
    JOIN imported_days d ON d.project_id = $1::int AND d.day = k.day AND d.source = k.source
      AND d.dimension = k.dimension
    CROSS JOIN LATERAL ${VALUES}`,
    [...keysOf(projectId, days), arrayLiteral(places)],
  );
  return row!;
}

/** What each value comes to over all days together. */
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
    FROM ${DAYS} AND d.dimension = $4::text
    CROSS JOIN LATERAL ${VALUES}
    GROUP BY u.value`,
    [...keysOf(projectId, days), dimension],
  );
}
