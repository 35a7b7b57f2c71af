import { z } from "zod";
import { arrayLiteral, type Sql } from "../db/sql.ts";
import { type ArchivedTable } from "./archived_tables.ts";
import { rowJson } from "./stored_rows.ts";

/**
 * The result of restoring rows. `same`: rows that were stored already, equal to the archive's; `left`: rows that were
 * not stored, each by its name, and why, worded for people.
 */
export const RestoredRows = z.object({
  added: z.int(),
  same: z.int(),
  left: z.array(z.object({ table: z.string(), row: z.string(), why: z.string() })),
});
export type RestoredRows = z.output<typeof RestoredRows>;

const COLUMNS = `
SELECT attname AS name FROM pg_attribute
WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`;

type Members = Readonly<Record<string, unknown>>;

/** The columns that name a row for people; none is a hash or a credential. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  projects: ["public_id"],
  api_keys: ["label", "hint"],
  people: ["email"],
  shares: ["title"],
  api_tokens: ["name"],
};

function nameOf({ name, key }: ArchivedTable, row: Members): string {
  const columns = NAMES[name] ?? key.filter((column) => !/hash|_id$/.test(column));
  const words = columns.map((column) => row[column]).filter((value) => value != null);
  return words.length === 0 ? "a row" : words.map(String).join(" ");
}

const WHY_OTHER: Readonly<Record<string, string>> = {
  people: "this e-mail address, or this person, is there already and stays as it is",
  api_keys: "this key is there already, and belongs where it is",
};
const OTHER = "what is there already under this name stays as it is";
const NEEDED = "what it belongs to was not restored";
const PAST = "it is past its time";

/** Returns the SQL that selects the rows as the table would store them, with their numbers. */
function wantedRows({ name }: ArchivedTable): string {
  return `SELECT r.number, r.row AS wanted, t.*
  FROM unnest($1::text::text[]) WITH ORDINALITY AS u (text, number)
  CROSS JOIN LATERAL (SELECT u.number, u.text::jsonb AS row) r
  CROSS JOIN LATERAL jsonb_populate_record(NULL::${name},
    r.row || jsonb_strip_nulls(jsonb_build_object('project_id', $2::int))) t`;
}

function insertText(table: ArchivedTable, columns: readonly string[]): string {
  const { name, needs = [], stored = "true" } = table;
  const list = columns.join(", ");
  const needed = needs.map(({ column, table: other }) => {
    const parent = column === "parent_id" ? "token_id" : column;
    return `AND (t.${column} IS NULL
      OR EXISTS (SELECT FROM ${other} o WHERE o.${parent} = t.${column}))`;
  });
  return `INSERT INTO ${name} (${list}) OVERRIDING SYSTEM VALUE
  SELECT ${columns.map((column) => `t.${column}`).join(", ")} FROM (${wantedRows(table)}) t
  WHERE ${stored} ${needed.join(" ")}
    AND NOT EXISTS (SELECT FROM ${name} o WHERE ${sameKey(table, "o", "t")})
  ORDER BY t.number
  ON CONFLICT DO NOTHING RETURNING 1 AS one`;
}

/** Returns the SQL condition that two rows have the same key. */
function sameKey({ of, key, name }: ArchivedTable, one: string, other: string): string {
  const own = name === "audit"
    ? [`${one}.project_id IS NOT DISTINCT FROM ${other}.project_id`]
    : of === "project" && name !== "projects"
    ? [`${one}.project_id = ${other}.project_id`]
    : [];
  return [...own, ...key.map((column) => `${one}.${column} = ${other}.${column}`)].join(" AND ");
}

/** Returns the SQL that reads whether each row is stored, and if not, why. */
function lookText(table: ArchivedTable): string {
  const { name, stored = "true" } = table;
  return `SELECT w.number::int AS number, ${stored.replaceAll("t.", "w.")} AS is_due,
    (SELECT (SELECT jsonb_object_agg(k, ${rowJson(table)} -> k) FROM jsonb_object_keys(w.wanted) k)
      = w.wanted FROM ${name} t WHERE ${sameKey(table, "t", "w")} LIMIT 1) AS is_same
  FROM (${wantedRows(table)}) w ORDER BY w.number`;
}

interface Look extends Record<string, unknown> {
  readonly number: number;
  readonly is_due: boolean;
  /** Null: no row with its key is stored. */
  readonly is_same: boolean | null;
}

/** The numbered columns of tables whose sequences must continue after the restored rows. */
const NUMBERED = new Map([["token_epochs", "epoch"], ["deliveries", "delivery_no"]]);

async function storeSome(
  tx: Sql,
  table: ArchivedTable,
  projectId: number | null,
  rows: readonly string[],
): Promise<RestoredRows> {
  const parsed = rows.map((row) => JSON.parse(row) as Members);
  const known = await tx.query<{ name: string }>(COLUMNS, [table.name]);
  const given = new Set(parsed.flatMap((row) => Object.keys(row)));
  const columns = known.map(({ name }) => name)
    .filter((name) => given.has(name) || name === "project_id" && projectId !== null);
  const params = [arrayLiteral(rows), projectId];
  const added = await tx.query(insertText(table, columns), params);
  const numbered = NUMBERED.get(table.name);
  if (numbered !== undefined) {
    await tx.query(`SELECT setval(pg_get_serial_sequence('${table.name}', '${numbered}'),
      (SELECT max(${numbered}) FROM ${table.name}))`);
  }
  const left: RestoredRows["left"] = [];
  let equal = 0;
  for (const { number, is_due, is_same } of await tx.query<Look>(lookText(table), params)) {
    const leave = (why: string) =>
      left.push({ table: table.name, row: nameOf(table, parsed[number - 1]!), why });
    if (is_same === true) equal++;
    else if (!is_due) leave(PAST);
    else if (is_same === null && (table.needs ?? []).length > 0) leave(NEEDED);
    else leave(WHY_OTHER[table.name] ?? OTHER);
  }
  return { added: added.length, same: equal - added.length, left };
}

/**
 * Stores rows of an archive unchanged, in one transaction. Rows that are stored already stay as they are;
 * `left` lists the rows that could not be stored because of them.
 * @param projectId the number that the rows' project has here; null: they belong to none
 */
export async function restoreRows(
  sql: Sql,
  table: ArchivedTable,
  projectId: number | null,
  rows: readonly string[],
): Promise<RestoredRows> {
  return await sql.transaction(async (tx) => {
    await tx.script("SET LOCAL timezone = 'UTC'");
    const size = table.oneByOne === true ? 1 : rows.length;
    let [added, same] = [0, 0];
    const left: RestoredRows["left"] = [];
    for (let from = 0; from < rows.length; from += size) {
      const done = await storeSome(tx, table, projectId, rows.slice(from, from + size));
      added += done.added;
      same += done.same;
      left.push(...done.left);
    }
    return { added, same, left };
  });
}
