import { joined } from "../../scans/visitor.ts";
import { type Behind, joinBehind } from "../behind/behind_tally.ts";
import { GrowingList } from "../visitors/growing_list.ts";

/** Of an outcome, how many steps were reached. */
export const DEPTH = 0xf;
export const DIED = 1 << 4;
export const LATE = 1 << 5;

/** The attempts that count, in columns: as many objects would weigh ten times as much. */
export interface CountedAttempts {
  /** How many steps each reached, at least one, and flags. */
  readonly outcomes: Int32Array;
  /** The id that the value at each one's entry is looked up by. */
  readonly values: Int32Array;
  /** How long each took from step to step, one after the other. */
  readonly stepsMs: Float64Array;
  /** Whose each is, and when it began; null: it was not asked for. */
  readonly entries: Behind | null;
}

/** Attempts one behind the other. */
export function joinAttempts(some: CountedAttempts, more: CountedAttempts): CountedAttempts {
  return {
    outcomes: joined(some.outcomes, more.outcomes),
    values: joined(some.values, more.values),
    stepsMs: joined(some.stepsMs, more.stepsMs),
    entries: some.entries === null || more.entries === null
      ? null
      : joinBehind(some.entries, more.entries),
  };
}

/** Gathers attempts. */
export class Attempts {
  readonly #outcomes = new GrowingList(new Int32Array(1_024));
  readonly #values = new GrowingList(new Int32Array(1_024));
  readonly #stepsMs = new GrowingList(new Float64Array(1_024));

  all(): Omit<CountedAttempts, "entries"> {
    return {
      outcomes: this.#outcomes.all(),
      values: this.#values.all(),
      stepsMs: this.#stepsMs.all(),
    };
  }

  /**
   * Adds an attempt that reached `ms.length` steps, each at its moment, by `value` told apart.
   * `died`: an excluded event ended it; `late`: the window of one of the actor's attempts is not over.
   */
  add(ms: readonly number[], died: boolean, late: boolean, value: number): void {
    for (let step = 1; step < ms.length; step++) this.#stepsMs.add(ms[step]! - ms[step - 1]!);
    this.#add(ms.length | (died ? DIED : 0), late, value);
  }

  /** Adds an attempt that came no further than its entry, and did not die. */
  addEntry(late: boolean, value: number): void {
    this.#add(1, late, value);
  }

  #add(outcome: number, late: boolean, value: number): void {
    this.#outcomes.add(late ? outcome | LATE : outcome);
    this.#values.add(value);
  }
}
