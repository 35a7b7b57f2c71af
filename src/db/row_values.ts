import { parseJson } from "../json_text.ts";

/**
 * Parses a value from the server's text format. Both engines use the table below, by the type's OID, so that
 * rows of both are equal. A type that is not listed stays text.
 */
export type ValueParser = (text: string) => unknown;

const asText: ValueParser = (text) => text;
const asNumber: ValueParser = (text) => Number(text);
const asBoolean: ValueParser = (text) => text === "t";
const asJson: ValueParser = parseJson;

/** `bytea_output = hex`: `\x` and two digits a byte. */
function asBytes(text: string): Uint8Array {
  return Uint8Array.fromHex(text.slice(2));
}

/**
 * `DateStyle = ISO` and `TimeZone = UTC`: `2026-11-21 04:00:00.123456+00`, years past 9999 with more
 * digits, years before 1 with ` BC`. Digits past the millisecond are cut. `infinity` is an invalid Date.
 */
function asInstant(text: string): Date {
  const space = text.indexOf(" ");
  const offset = text.indexOf("+", space);
  const day = text.slice(0, space);
  const time = text.slice(space + 1, offset);
  if (space === 10 && !text.endsWith("BC")) return new Date(`${day}T${time}Z`);
  const year = Number(day.slice(0, -6));
  const astronomical = text.endsWith("BC") ? 1 - year : year;
  const sign = astronomical < 0 ? "-" : "+";
  const digits = String(Math.abs(astronomical)).padStart(6, "0");
  return new Date(`${sign}${digits}${day.slice(-6)}T${time}Z`);
}

/** An array of any depth: `{a,"b c",NULL,{…}}`. */
function asArrayOf(parse: ValueParser): ValueParser {
  return (text) => {
    let at = text.indexOf("{");

    function quoted(): string {
      let value = "";
      for (at++; text[at] !== '"'; at++) {
        if (text[at] === "\\") at++;
        value += text[at];
      }
      at++;
      return value;
    }

    function bare(): string {
      const start = at;
      while (text[at] !== "," && text[at] !== "}") at++;
      return text.slice(start, at);
    }

    function members(): unknown[] {
      const values: unknown[] = [];
      at++;
      while (text[at] !== "}") {
        if (text[at] === ",") at++;
        if (text[at] === "{") values.push(members());
        else if (text[at] === '"') values.push(parse(quoted()));
        else {
          const word = bare();
          values.push(word === "NULL" ? null : parse(word));
        }
      }
      at++;
      return values;
    }

    return members();
  };
}

/** [OID of the type, OID of its array, parser]: the OIDs are fixed in PostgreSQL's pg_type.dat. */
const TYPES: readonly (readonly [number, number, ValueParser])[] = [
  [16, 1000, asBoolean], // bool
  [17, 1001, asBytes], // bytea
  [18, 1002, asText], // "char"
  [19, 1003, asText], // name
  [20, 1016, asNumber], // int8
  [21, 1005, asNumber], // int2
  [23, 1007, asNumber], // int4
  [25, 1009, asText], // text
  [26, 1028, asNumber], // oid
  [114, 199, asJson], // json
  [700, 1021, asNumber], // float4
  [701, 1022, asNumber], // float8
  [869, 1041, asText], // inet
  [1043, 1015, asText], // varchar
  [1082, 1182, asText], // date
  [1114, 1115, asText], // timestamp
  [1184, 1185, asInstant], // timestamptz
  [1700, 1231, asNumber], // numeric
  [2950, 2951, asText], // uuid
  [3802, 3807, asJson], // jsonb
];

export const VALUE_PARSERS: ReadonlyMap<number, ValueParser> = new Map(
  TYPES.flatMap(([oid, arrayOid, parse]) => [[oid, parse], [arrayOid, asArrayOf(parse)]] as const),
);

/** The settings of the session that the parsers above rely on. */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  TimeZone: "UTC",
  DateStyle: "ISO, YMD",
  bytea_output: "hex",
  extra_float_digits: "1",
};

/**
 * Overrides other settings that a role may have: for null in array parameters, backslashes in our statements, and
 * whether a transaction sees what others have committed meanwhile. It is a statement, since poolers refuse connections
 * with startup settings that they do not know.
 */
export const ROLE_SETTINGS = "SET array_nulls = on; SET standard_conforming_strings = on;" +
  "SET default_transaction_isolation = 'read committed'";
