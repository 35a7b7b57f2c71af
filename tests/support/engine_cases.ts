import type { Database } from "../../src/db/sql.ts";

/**
 * The embedded engine takes about five times as long for a statement as PostgreSQL does, and both run the same
 * program and the same SQL. So where many cases look for a mistake of the program, PostgreSQL has all of them
 * and the embedded engine one in this many: enough to run every statement on it. What an engine itself could
 * do otherwise (kills, disks, upgrades, moves) is asked of both alike.
 */
const ONE_IN = 5;

/** Of how many drawn cases a property is tried on an engine. */
export function casesOn({ engine }: Pick<Database, "engine">, cases: number): number {
  return engine === "postgres" ? cases : Math.ceil(cases / ONE_IN);
}

/** Which of the listed cases are tried on an engine, the first among them. */
export function chosenOn<T>(
  { engine }: Pick<Database, "engine">,
  cases: readonly T[],
): readonly T[] {
  return engine === "postgres" ? cases : cases.filter((_, i) => i % ONE_IN === 0);
}
