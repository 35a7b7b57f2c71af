import { counted } from "../number_words.ts";
import { DAMAGE_ADVICE } from "../store/damage.ts";

/** A block of stored events that cannot be read any more. */
export interface DamagedBlock {
  /** The id of the project. */
  readonly project: string;
  /** Their place, such as `block 3 of segment 41`. */
  readonly place: string;
  /** How many events they were. */
  readonly events: number;
  readonly why: string;
}

/** Describes a damaged block for people, in a sentence. */
export function damagedPlace({ project, place, events, why }: DamagedBlock): string {
  const begin = place[0]!.toUpperCase() + place.slice(1);
  return `${begin} of ${project} cannot be read (${counted(events, "event")}): ${why}.`;
}

/** Thrown if all events are needed and some cannot be read. The message names the block, and says what to do. */
export class DamagedEvents extends Error {
  override readonly name = "DamagedEvents";
  /** @param command a command that leaves them out */
  constructor(damaged: DamagedBlock, command = "footfall archive FILE --skip-damaged") {
    super(`${damagedPlace(damaged)} ${DAMAGE_ADVICE} \`${command}\` writes everything else.`);
  }
}

/** Called with each block that cannot be read: it throws, or returns to leave the block out. */
export type Damaged = (damaged: DamagedBlock) => void;

/** Throws DamagedEvents: no block may be left out. */
export function refuseDamage(damaged: DamagedBlock): never {
  throw new DamagedEvents(damaged);
}
