import type { Database, Param, Sql } from "../../../src/db/sql.ts";
import type { Filter } from "../../../src/query/filters.ts";
import type { BotChoice } from "../../../src/query/selection.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import type { Read } from "../../../src/scans/read.ts";
import { STORED_ROW } from "../../../src/store/stored_journal.ts";
import type { KeptBlock } from "../../../src/store/rows_by_place.ts";
import type { StoredHead } from "../../../src/store/stored_segments.ts";
import { WeighedCache } from "../../../src/timelines/weighed_cache.ts";
import { withMembers } from "../../support/fake_sql.ts";
import { timelinesOf } from "../../support/read_timelines.ts";

const BLOCK_BYTES = 20_000;
/** The place of a block in `STORED_ROW`. */
const BLOCK_AT = 4;
type Source = Pick<Read, "sql" | "scope" | "timelines" | "rowCache">;

export function sourceOf(
  database: Database,
  filters: readonly Filter[] = [],
  bots: BotChoice = "exclude",
): Source {
  const scope = { projectId: 1, siteHost: null, bots, filters };
  // Few blocks fit, and lists of different filters read the same ones.
  const blocks = new WeighedCache<string, KeptBlock>(BLOCK_BYTES, ({ bytes }) => bytes);
  const heads = new WeighedCache<number, StoredHead>(1, () => 1);
  return { sql: database, scope, timelines: timelinesOf(database), rowCache: { blocks, heads } };
}

export const newestFirst = (rows: readonly EventRow[]): string[] =>
  rows.toSorted((a, b) =>
    Date.parse(b.occurred_at) - Date.parse(a.occurred_at) || (a.event_id < b.event_id ? 1 : -1)
  ).map(({ event_id }) => event_id);

/** Counts the blocks of the journal whose bytes are looked at. */
export function countingBlocks(sql: Sql): { readonly sql: Sql; decoded: number } {
  class CountedBlock extends Uint8Array {
    static get [Symbol.species]() {
      return Uint8Array;
    }
    override get buffer() {
      counted.decoded++;
      return super.buffer;
    }
  }
  const counted = {
    decoded: 0,
    sql: withMembers(sql, {
      async binary(text: string, params?: readonly Param[]) {
        const rows = await sql.binary(text, params);
        return text.includes(STORED_ROW)
          ? rows.map((row) => row.with(BLOCK_AT, new CountedBlock(row[BLOCK_AT]!)))
          : rows;
      },
    }),
  };
  return counted;
}
