import { DatabaseUnavailable } from "../db/sql.ts";
import { UnreadableBlock } from "../store/journal_block.ts";
import { SegmentUnreadable } from "../store/segment_head.ts";

/** Stored events that cannot be read any more. */
export interface DamagedBlock {
  /** The id of the project. */
  readonly project: string;
  /** Where they stand, such as `block 3 of segment 41`. */
  readonly place: string;
  /** How many they were. */
  readonly events: number;
  readonly why: string;
}

/** data_corrupted and index_corrupted, as `refusal` tells them: the database's own pages are damaged. */
const DATABASE_DAMAGED = /\(XX00[12]\)$/;

/** Why stored bytes cannot be read, in words for people; null: `error` says something else. */
export function damageOf(error: unknown): string | null {
  if (error instanceof SegmentUnreadable || error instanceof UnreadableBlock) return error.message;
  return error instanceof DatabaseUnavailable && DATABASE_DAMAGED.test(error.message)
    ? "The database says that its own page is damaged"
    : null;
}

/** The same as the beginning of a sentence, for people. */
export function damagedPlace({ project, place, events, why }: DamagedBlock): string {
  const begin = place[0]!.toUpperCase() + place.slice(1);
  return `${begin} of ${project} cannot be read (${events} event${
    events === 1 ? "" : "s"
  }): ${why}.`;
}

/** Events that are to be read whole cannot be. The message names the block, and says what to do. */
export class DamagedEvents extends Error {
  override readonly name = "DamagedEvents";
  /** @param command what does without them */
  constructor(damaged: DamagedBlock, command = "footfall archive FILE --skip-damaged") {
    super(
      `${
        damagedPlace(damaged)
      } What was written there is not what is read: check the disk and the ` +
        `memory of the machine, and try again. \`${command}\` writes everything else.`,
    );
  }
}

/** Told of each block that cannot be read: throws, or leaves it out. */
export type Damaged = (damaged: DamagedBlock) => void;

/** Leaves nothing out. Throws DamagedEvents. */
export function refuseDamage(damaged: DamagedBlock): never {
  throw new DamagedEvents(damaged);
}
