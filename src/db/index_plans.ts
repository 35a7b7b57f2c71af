import type { Sql } from "./sql.ts";

/**
 * Has the planner read tables by their indexes, in the order of these, until the transaction ends. For statements that
 * read little of a large table: without statistics it would take a third of the rows to be before any time.
 */
export async function planByIndex(tx: Sql): Promise<void> {
  await tx.query(
    "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)",
  );
}
