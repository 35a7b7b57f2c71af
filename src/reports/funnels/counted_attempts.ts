import type { Behind } from "../behind/behind_tally.ts";
import { GrowingList } from "../../store/growing_list.ts";
import type { AttemptSearch } from "./funnel_attempts.ts";

/** The bits of an outcome with the number of steps that were reached. */
export const DEPTH = 0xf;
/** The flag of an attempt that an excluded event ended. */
export const DIED = 1 << 4;
/** The flag of an attempt whose actor has an entry whose window is not over. */
export const LATE = 1 << 5;

/**
 * The attempts that count, in columns: objects would take ten times the memory. Their actors, and when they
 * began, are there only if they are wanted.
 */
export type CountedAttempts = AttemptColumns & Behind;

/** What is counted of attempts. */
export interface AttemptColumns {
  /** How many steps each attempt reached, at least one, and its flags. */
  readonly outcomes: Int32Array;
  /** By attempt: the id of the value at its entry. */
  readonly values: Int32Array;
  /** The times from step to step of all attempts, in the order of the attempts. */
  readonly stepsMs: Float64Array;
}

/** Gathers attempts into columns. */
export class Attempts {
  readonly #outcomes = new GrowingList(new Int32Array(1_024));
  readonly #values = new GrowingList(new Int32Array(1_024));
  readonly #stepsMs = new GrowingList(new Float64Array(1_024));

  all(): AttemptColumns {
    return {
      outcomes: this.#outcomes.all(),
      values: this.#values.all(),
      stepsMs: this.#stepsMs.all(),
    };
  }

  /** Adds an attempt with the id of the value at its entry; `late`: see `LATE`. */
  add(
    { ms, depth, died }: Pick<AttemptSearch, "ms" | "depth" | "died">,
    value: number,
    late: boolean,
  ): void {
    for (let step = 1; step < depth; step++) this.#stepsMs.add(ms[step]! - ms[step - 1]!);
    this.#outcomes.add(depth | (died ? DIED : 0) | (late ? LATE : 0));
    this.#values.add(value);
  }
}
