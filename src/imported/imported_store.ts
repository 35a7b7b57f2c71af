import { createHash } from "node:crypto";
import { z } from "zod";
import { arrayLiterals, type Row, type Sql } from "../db/sql.ts";
import { keyedRow } from "../db/keyed_rows.ts";
import { dateOfDay, dayNumber } from "../query/local_dates.ts";
import {
  FIGURES,
  IMPORTED_DIMENSIONS,
  IMPORTED_SOURCES,
  type ImportedDay,
  type ImportedDimension,
  type ImportedRow,
  type ImportedSource,
} from "./imported_sums.ts";

/** The result of storing days. */
export const ImportedDaysStored = z.object({
  added: z.int().meta({ description: "Days, each counted once for all that it is split by" }),
  replaced: z.int().meta({ description: "Those that stood there with other sums" }),
  unchanged: z.int(),
});

const byValue = (a: ImportedRow, b: ImportedRow): number =>
  a.value === null ? -1 : b.value === null ? 1 : a.value < b.value ? -1 : 1;

/** Returns the first half of a SHA-256 of the rows, as a UUID. */
function digestOf(rows: readonly ImportedRow[]): string {
  const values = rows.map((row) => [row.value, ...FIGURES.map((figure) => row[figure])]);
  const hex = createHash("sha256").update(JSON.stringify(values)).digest("hex");
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

interface Prepared {
  readonly day: number;
  readonly dimension: ImportedDimension;
  readonly rows: readonly ImportedRow[];
  readonly digest: string;
}

const OF_DAY = "v.source = $2::text AND v.day = k.day AND v.dimension = k.dimension";

const keyOf = (day: number, dimension: string) => `${day} ${dimension}`;

async function digestsOf(
  sql: Sql,
  projectId: number,
  source: ImportedSource,
  days: readonly Prepared[],
): Promise<Map<string, string>> {
  const rows = await sql.query<{ day: number; dimension: string; digest: string }>(
    `SELECT i.day, i.dimension, i.digest
    FROM unnest($3::text::int[], $4::text::text[]) AS k (day, dimension)
    CROSS JOIN ${keyedRow("imported_days v", OF_DAY, "$1::int")} AS i`,
    [projectId, source, ...arrayLiterals(["day", "dimension"], days)],
  );
  return new Map(rows.map(({ day, dimension, digest }) => [keyOf(day, dimension), digest]));
}

async function writeDays(
  sql: Sql,
  projectId: number,
  source: ImportedSource,
  days: readonly Prepared[],
): Promise<void> {
  const rows = days.flatMap(({ rows }, i) => rows.map((row) => ({ ...row, of: i + 1 })));
  const names = FIGURES.join(", ");
  const own = FIGURES.map((figure) => `array_agg(r.${figure} ORDER BY r.n) AS ${figure}`);
  await sql.query(
    `WITH days AS (
      SELECT * FROM unnest($3::text::int[], $4::text::text[], $5::text::uuid[])
        WITH ORDINALITY AS d (day, dimension, digest, i)
    ), sums AS (
      SELECT r.i, array_agg(r.value ORDER BY r.n) AS value_texts, ${own.join(", ")}
      FROM unnest($6::text::int[], $7::text::text[], $8::text::int[], $9::text::int[],
        $10::text::int[], $11::text::int[], $12::text::float8[], $13::text::int[])
        WITH ORDINALITY AS r (i, value, ${names}, n)
      GROUP BY r.i
    )
    INSERT INTO imported_days (project_id, source, day, dimension, digest, value_texts, ${names})
    SELECT $1::int, $2::text, d.day, d.dimension, d.digest, coalesce(s.value_texts, '{}'),
      ${FIGURES.map((figure) => `coalesce(s.${figure}, '{}')`).join(", ")}
    FROM days d LEFT JOIN sums s ON s.i = d.i
    ON CONFLICT (project_id, day, source, dimension) DO UPDATE
    SET digest = excluded.digest, imported_at = clock_timestamp(), value_texts = excluded.value_texts,
      ${FIGURES.map((figure) => `${figure} = excluded.${figure}`).join(", ")}`,
    [
      projectId,
      source,
      ...arrayLiterals(["day", "dimension", "digest"], days),
      ...arrayLiterals(["of", "value", ...FIGURES], rows),
    ],
  );
}

/**
 * Stores a source's sums of days, which replace its earlier sums of the same days. Equal sums change nothing.
 * @param isDryRun whether nothing is stored
 */
export async function storeImportedDays(
  sql: Sql,
  projectId: number,
  source: ImportedSource,
  days: readonly ImportedDay[],
  isDryRun = false,
): Promise<z.output<typeof ImportedDaysStored>> {
  const prepared = days.map((day): Prepared => {
    // Sorted, so that equal sums have equal digests.
    const rows = day.rows.toSorted(byValue);
    return { day: dayNumber(day.day), dimension: day.dimension, rows, digest: digestOf(rows) };
  });
  const known = await digestsOf(sql, projectId, source, prepared);
  const knownDigest = ({ day, dimension }: Prepared) => known.get(keyOf(day, dimension));
  const fresh = prepared.filter((one) => knownDigest(one) !== one.digest);
  const replaced = fresh.filter((one) => knownDigest(one) !== undefined).length;
  if (fresh.length > 0 && !isDryRun) await writeDays(sql, projectId, source, fresh);
  return { added: fresh.length - replaced, replaced, unchanged: days.length - fresh.length };
}

/** Deletes all imported days of a source. @returns how many days there were */
export async function removeImportedDays(
  sql: Sql,
  projectId: number,
  source: ImportedSource,
): Promise<number> {
  const [row] = await sql.query<{ days: number }>(
    `WITH gone AS (
      DELETE FROM imported_days WHERE project_id = $1::int AND source = $2::text RETURNING day
    ) SELECT count(DISTINCT day)::int AS days FROM gone`,
    [projectId, source],
  );
  return row!.days;
}

/** The extent of a source's imported days. */
export const ImportedExtent = z.object({
  source: z.enum(IMPORTED_SOURCES),
  from: z.iso.date(),
  to: z.iso.date(),
  days: z.int(),
  dimensions: z.array(z.enum(IMPORTED_DIMENSIONS)),
  importedAt: z.iso.datetime(),
});
type ImportedExtent = z.output<typeof ImportedExtent>;

interface ExtentRow extends Pick<ImportedExtent, "source" | "days" | "dimensions">, Row {
  readonly from: number;
  readonly to: number;
  readonly importedAt: Date;
}

/** Lists what a project has imported, by source. */
export async function listImportedDays(sql: Sql, projectId: number): Promise<ImportedExtent[]> {
  const rows = await sql.query<ExtentRow>(
    `SELECT source, min(day) AS "from", max(day) AS "to", count(DISTINCT day)::int AS days,
      array_agg(DISTINCT dimension) AS dimensions, max(imported_at) AS "importedAt"
    FROM imported_days WHERE project_id = $1::int GROUP BY source ORDER BY source`,
    [projectId],
  );
  return rows.map(({ from, to, importedAt, ...row }) => ({
    ...row,
    from: dateOfDay(from).toString(),
    to: dateOfDay(to).toString(),
    importedAt: importedAt.toISOString(),
  }));
}
