/** The data of one engine, looked at past the program: how far the upgrade of its events is. */
import { join } from "node:path";
import { openDatabase } from "../../src/db/open.ts";
import { type Database, StatementRefused } from "../../src/db/sql.ts";
import { openBench } from "../configured_cluster.ts";
import type { Place } from "./program.ts";

/** The table has been dropped since it was looked for. */
const UNDEFINED_TABLE = "42P01";

/** Events that are still to be moved, and to be compared and dropped. */
export interface Left {
  /** Whether the earlier table is being emptied, and is not just as the earlier program left it. */
  readonly isBegun: boolean;
  readonly moving: number;
  readonly stored: number;
}

async function folderBytes(folder: string): Promise<number> {
  let bytes = 0;
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory ? await folderBytes(path) : (await Deno.stat(path)).size;
  }
  return bytes;
}

const disposable = (sql: Database) => ({
  sql,
  [Symbol.asyncDispose]: () => sql.close(),
});

// All of them are moved before the first is dropped, but for those of projects whose turn was earlier:
// the table, which takes a second to count at ten million, is counted only then.
const LEFT = `
WITH projects AS (SELECT coalesce(sum(remaining), 0)::int8 AS moving FROM earlier_projects)
SELECT true AS "isBegun", moving,
  CASE WHEN moving > 0 THEN $1::int8 ELSE (SELECT count(*) FROM earlier_events) END AS stored
FROM projects`;

export class UpgradeData {
  /** @param events how many the earlier program stored */
  constructor(readonly place: Place, readonly events: number) {}

  open(): Promise<Database> {
    const { databaseUrl, dataDir } = this.place;
    if (databaseUrl !== null) return Promise.resolve(openBench(databaseUrl));
    const options = { databaseUrl, dataDir, statementTimeoutMs: 60_000, connectionsMax: 2 };
    return openDatabase(options);
  }

  /** Null where the upgrade is done. The embedded database must not be in use. */
  async left(): Promise<Left | null> {
    await using database = disposable(await this.open());
    const { sql } = database;
    const [table] = await sql.query<{ done: boolean; begun: boolean }>(
      `SELECT to_regclass('earlier_events') IS NULL AND to_regclass('events') IS NULL AS done,
        to_regclass('earlier_events') IS NOT NULL AS begun`,
    );
    if (table!.done) return null;
    if (!table!.begun) return { isBegun: false, moving: this.events, stored: this.events };
    try {
      const [row] = await sql.query<Left & Record<string, unknown>>(LEFT, [this.events]);
      return row!;
    } catch (error) {
      if (error instanceof StatementRefused && error.sqlState === UNDEFINED_TABLE) return null;
      throw error;
    }
  }

  /** How far it is: 0 as long as nothing is moved, 1 where all is done. */
  shareDone(left: Left | null): number {
    return left === null ? 1 : 1 - (left.moving + left.stored) / (2 * this.events);
  }

  async bytes(): Promise<number> {
    if (this.place.databaseUrl === null) return await folderBytes(this.place.dataDir);
    await using database = disposable(await this.open());
    await database.sql.script("CHECKPOINT");
    const [row] = await database.sql.query<{ bytes: number }>(
      "SELECT pg_database_size(current_database())::int8 AS bytes",
    );
    return row!.bytes;
  }
}
