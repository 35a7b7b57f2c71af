import { lengthened } from "../../timelines/timeline.ts";
import { joined } from "../../scans/visitor.ts";
import { type Behind, joinBehind } from "../behind_tally.ts";

/** Of an outcome, how many steps were reached. */
export const DEPTH = 0xf;
export const DIED = 1 << 4;
export const LATE = 1 << 5;

/** Times in a row, with room for more. */
export class Times {
  #list = new Float64Array(64);
  length = 0;

  add(ms: number): void {
    if (this.length === this.#list.length) this.#list = lengthened(this.#list);
    this.#list[this.length++] = ms;
  }

  /** A copy, to be put in order. */
  all(): Float64Array {
    return this.#list.slice(0, this.length);
  }
}

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
  #count = 0;
  #outcomes = new Int32Array(1_024);
  #values = new Int32Array(1_024);
  readonly #stepsMs = new Times();

  all(): Omit<CountedAttempts, "entries"> {
    return {
      outcomes: this.#outcomes.slice(0, this.#count),
      values: this.#values.slice(0, this.#count),
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
    if (this.#count === this.#outcomes.length) {
      this.#outcomes = lengthened(this.#outcomes);
      this.#values = lengthened(this.#values);
    }
    this.#outcomes[this.#count] = late ? outcome | LATE : outcome;
    this.#values[this.#count++] = value;
  }
}
