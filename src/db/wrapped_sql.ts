import type { Sql } from "./sql.ts";

/** Runs a statement, or throws instead. */
type Run = <T>(statement: () => Promise<T>) => Promise<T>;

/** Returns `sql` with every statement run by `run`, those of inner transactions too. */
export function statementsRunBy(sql: Sql, run: Run): Sql {
  return {
    query: (text, params) => run(() => sql.query(text, params)),
    binary: (text, params) => run(() => sql.binary(text, params)),
    script: (text) => run(() => sql.script(text)),
    transaction: (work) => sql.transaction((inner) => work(statementsRunBy(inner, run))),
  };
}
