import { isOneOf, type Row, type Sql } from "../db/sql.ts";
import { parseJson } from "../json_text.ts";
import { termDigests } from "../query/filter_conditions.ts";
import { knownReferrerHost } from "../query/field_values.ts";
import type { Field } from "../query/filters.ts";
import { keyedRows } from "../db/keyed_rows.ts";
import { type Dictionary, dictionaryOf, type Scope } from "../query/selection.ts";
import { SqlParams } from "../query/sql_params.ts";

/** The texts of ids; an id without one stands for a missing value. */
export type ValueTexts = ReadonlyMap<number, string>;

/**
 * The dictionary of a field: user ids, hosts of referrers except the site's own, else that of `dictionaryOf`.
 */
function fieldDictionary(field: Field, params: SqlParams, siteHost: string | null): Dictionary {
  if (field === "userId") {
    const text = "CASE WHEN v.kind = 'u' THEN v.value END";
    return { table: "identities", id: "identity_id", text };
  }
  if (field === "referrer") {
    const text = knownReferrerHost("v", params.text(siteHost));
    return { table: "referrers", id: "referrer_id", text };
  }
  return dictionaryOf(field as Parameters<typeof dictionaryOf>[0]);
}

interface TextRow extends Row {
  readonly id: number;
  readonly text: string;
}

/**
 * Reads the texts of ids of a field that is not a property, from its dictionary.
 * @param most how many are read, the first by byte order; absent: all
 */
export async function readTexts(
  sql: Sql,
  { projectId, siteHost }: Pick<Scope, "projectId" | "siteHost">,
  field: Field,
  ids: readonly number[],
  most?: number,
): Promise<ValueTexts> {
  const params = new SqlParams();
  const { table, id, text } = fieldDictionary(field, params, siteHost);
  const rows = await sql.query<TextRow>(
    `SELECT id, text FROM (
      SELECT v.${id} AS id, ${text} AS text FROM ${table} v
      WHERE v.project_id = (SELECT ${params.int(projectId)}) AND ${
      isOneOf(`v.${id}`, params.ints(ids))
    }
    ) AS told WHERE text IS NOT NULL
    ${most === undefined ? "" : `ORDER BY text COLLATE "C" LIMIT ${params.int(most)}`}`,
    params.values,
  );
  return new Map(rows.map((row) => [row.id, row.text]));
}

/** Finds the ids of texts in a field with one id per text: a field of terms, or `userId`. */
export async function readIds(
  sql: Sql,
  { projectId, siteHost }: Pick<Scope, "projectId" | "siteHost">,
  field: Field,
  texts: readonly string[],
): Promise<ValueTexts> {
  const params = new SqlParams();
  const { table, id, text } = fieldDictionary(field, params, siteHost);
  const project = params.int(projectId);
  const found = table === "terms"
    ? keyedRows("terms v", "v.digest = wanted.key", project, params.uuids(termDigests(texts)))
    : keyedRows(
      "identities v",
      "v.kind = 'u' AND v.value = wanted.key",
      project,
      params.texts(texts),
    );
  const rows = await sql.query<TextRow>(
    `SELECT v.${id} AS id, ${text} AS text FROM ${found}`,
    params.values,
  );
  return new Map(rows.map((row) => [row.id, row.text]));
}

const shorterFirst = ([a]: [string, unknown], [b]: [string, unknown]): number =>
  new TextEncoder().encode(a).length - new TextEncoder().encode(b).length || compareBytes(a, b);

/** A number that JavaScript writes with a power of ten: from 1e+21 on, and below 1e-6. */
const WITH_POWER = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/;

/** Writes a number with all of its digits. */
function decimalText(number: number): string {
  const text = String(number);
  const [, sign, whole, fraction = "", power] = WITH_POWER.exec(text) ?? [];
  if (whole === undefined) return text;
  const [digits, places] = [whole + fraction, Number(power)];
  return places > 0
    ? `${sign}${digits.padEnd(places + 1, "0")}`
    : `${sign}0.${"0".repeat(-places - 1)}${digits}`;
}

/**
 * Writes an array or an object as the database does: members in its key order, with spaces, numbers as
 * decimals.
 */
function holderText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(holderText).join(", ")}]`;
  if (typeof value === "number") return decimalText(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(shorterFirst)
    .map(([key, member]) => `${JSON.stringify(key)}: ${holderText(member)}`);
  return `{${members.join(", ")}}`;
}

/** Returns the text of a property's JSON value; null: missing. Different values may have the same text. */
export function propertyText(json: string): string | null {
  switch (json[0]) {
    case '"':
      return JSON.parse(json);
    case "n":
      return null;
    case "t":
    case "f":
      return json;
    case "{":
    case "[":
      return holderText(parseJson(json));
    default:
      return String(Number(json));
  }
}

/** Maps UTF-16 units to the order of UTF-8: units from 0xe000 on come before surrogates there. */
const inBytes = (unit: number): number =>
  unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit;

/** Compares texts by their UTF-8 bytes, like the database's `COLLATE "C"`; null (missing) is last. */
export function compareBytes(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (left !== right) return inBytes(left) - inBytes(right);
  }
  return a.length - b.length;
}
