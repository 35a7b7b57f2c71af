import type { Behind } from "../behind/behind_tally.ts";
import { joinColumns, joined } from "../../scans/visitor.ts";
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
  readonly outcomes: Uint8Array;
  /** By attempt: the id of the value at its entry; empty without `by`. */
  readonly values: Int32Array;
  /**
   * For each step after the first: how long the attempts that reached it took from the step before, in the order of the
   * attempts.
   */
  readonly stepsMs: readonly Float64Array[];
}

/** Gathers attempts into columns. */
export class Attempts {
  readonly #outcomes = new GrowingList(new Uint8Array(1_024));
  readonly #values = new GrowingList(new Int32Array(0));
  readonly #stepsMs: readonly GrowingList<Float64Array>[];

  constructor(stepCount: number) {
    this.#stepsMs = Array.from(
      { length: stepCount - 1 },
      () => new GrowingList(new Float64Array(1_024)),
    );
  }

  all(): AttemptColumns {
    return {
      outcomes: this.#outcomes.all(),
      values: this.#values.all(),
      stepsMs: this.#stepsMs.map((times) => times.all()),
    };
  }

  /** Adds an attempt with the id of the value at its entry, null without `by`; `late`: see `LATE`. */
  add(
    { ms, depth, died }: Pick<AttemptSearch, "ms" | "depth" | "died">,
    value: number | null,
    late: boolean,
  ): void {
    for (let step = 1; step < depth; step++) {
      this.#stepsMs[step - 1]!.add(ms[step]! - ms[step - 1]!);
    }
    this.#outcomes.add(depth | (died ? DIED : 0) | (late ? LATE : 0));
    if (value !== null) this.#values.add(value);
  }
}

/** Appends attempts to others. */
export function joinAttempts(
  { stepsMs, ...columns }: CountedAttempts,
  { stepsMs: moreMs, ...more }: CountedAttempts,
): CountedAttempts {
  return {
    ...joinColumns(columns, more),
    stepsMs: stepsMs.map((times, i) => joined(times, moreMs[i]!)),
  };
}

/**
 * Visits attempts in their order.
 * @param visit with the place of each attempt, and by step the place of its time in `stepsMs`, if it reached the step
 */
export function forEachAttempt(
  { outcomes, stepsMs }: AttemptColumns,
  visit: (attempt: number, places: Int32Array) => void,
): void {
  const places = new Int32Array(stepsMs.length);
  for (let attempt = 0; attempt < outcomes.length; attempt++) {
    visit(attempt, places);
    for (let i = (outcomes[attempt]! & DEPTH) - 2; i >= 0; i--) places[i]!++;
  }
}
