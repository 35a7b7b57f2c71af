import assert from "node:assert/strict";
import type { Database, Sql } from "../../src/db/sql.ts";

const failing = (name: keyof Sql) => () => assert.fail(`Nothing is to call ${name} here`);

/** Returns a database of these members alone: whoever calls another one fails. */
export function fakeSql(members: Partial<Sql>): Sql {
  return {
    query: failing("query"),
    binary: failing("binary"),
    script: failing("script"),
    transaction: failing("transaction"),
    ...members,
  };
}

/**
 * Returns a database that does as `sql` does, except for these members. What is inside a transaction is as
 * it was.
 */
export function withMembers<S extends Sql>(sql: S, members: Partial<S>): S {
  return new Proxy(members as S, {
    get(own, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value = Reflect.get(sql, name);
      return typeof value === "function" ? value.bind(sql) : value;
    },
  });
}

/** As `withMembers`, of what is inside transactions too: `membersOf` returns the members for each. */
export function withMembersInside<S extends Sql>(
  sql: S,
  membersOf: (sql: Sql) => Partial<Omit<Sql, "transaction">>,
): S {
  const outside: Pick<Database, "transaction"> = sql;
  const inside: Partial<Database> = {
    transaction: (work, ...others) =>
      outside.transaction((tx) => work(withMembersInside(tx, membersOf)), ...others),
  };
  return withMembers(sql, { ...inside, ...membersOf(sql) } as Partial<S>);
}

/** Returns a whole number as `binary` returns an `int8`. */
export function int8(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value));
  return bytes;
}
