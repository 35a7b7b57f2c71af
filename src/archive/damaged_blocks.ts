import { DAMAGE_ADVICE } from "../store/damage.ts";

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
    super(`${damagedPlace(damaged)} ${DAMAGE_ADVICE} \`${command}\` writes everything else.`);
  }
}

/** Told of each block that cannot be read: throws, or leaves it out. */
export type Damaged = (damaged: DamagedBlock) => void;

/** Leaves nothing out. Throws DamagedEvents. */
export function refuseDamage(damaged: DamagedBlock): never {
  throw new DamagedEvents(damaged);
}
