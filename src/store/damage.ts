import { DatabaseUnavailable } from "../db/sql.ts";
import { UnreadableBlock } from "./journal_block.ts";
import { SegmentUnreadable } from "./segment_head.ts";

/** How `refusal` reports data_corrupted and index_corrupted: the database's own pages are damaged. */
const DATABASE_DAMAGED = /\(XX00[12]\)$/;

/** The advice that people see when stored bytes cannot be read. */
export const DAMAGE_ADVICE =
  "The bytes read are not those that were written: check the disk and the memory of the machine, and " +
  "try again.";

/** Explains why stored bytes cannot be read; null: `error` has another cause. */
export function damageOf(error: unknown): string | null {
  if (error instanceof SegmentUnreadable || error instanceof UnreadableBlock) return error.message;
  return error instanceof DatabaseUnavailable && DATABASE_DAMAGED.test(error.message)
    ? "The database reports that a page of its own is damaged"
    : null;
}
