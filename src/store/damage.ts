import { DatabaseUnavailable } from "../db/sql.ts";
import { UnreadableBlock } from "./journal_block.ts";
import { SegmentUnreadable } from "./segment_head.ts";

/** How `refusal` reports data_corrupted and index_corrupted: the database's own pages are damaged. */
const DATABASE_DAMAGED = /\(XX00[12]\)$/;

/** The advice shown to people where stored bytes cannot be read. */
export const DAMAGE_ADVICE =
  "What was written there is not what is read: check the disk and the memory of the machine, and " +
  "try again.";

/** Explains to people why stored bytes cannot be read; null where `error` has another cause. */
export function damageOf(error: unknown): string | null {
  if (error instanceof SegmentUnreadable || error instanceof UnreadableBlock) return error.message;
  return error instanceof DatabaseUnavailable && DATABASE_DAMAGED.test(error.message)
    ? "The database says that its own page is damaged"
    : null;
}
