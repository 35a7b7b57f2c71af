import { PAGE_VIEW } from "../../query/terms.ts";

/** What a step is told by: the path of a page view, the name of an event, or both. */
export type StepsBy = "path" | "name" | "both";

/** Which end of the way is given: it is followed from its start, or back from its end. */
export type Direction = "forward" | "backward";

/** The codes of values: of a path an even number, of a name an odd one. */
export const pathCode = (path: number): number => 2 * path;
export const nameCode = (name: number): number => 2 * name + 1;
export const isNameCode = (code: number): boolean => code % 2 === 1;

/** The code of an event's value; -1: it is no step. */
export function codeOf(by: StepsBy, name: number, path: number): number {
  if (name === PAGE_VIEW && by !== "name") return pathCode(path);
  return by === "path" ? -1 : nameCode(name);
}

export interface StepRules {
  readonly direction: Direction;
  /** Whether a start must be found, and an end. */
  readonly hasStart: boolean;
  readonly hasEnd: boolean;
  /** How many are kept. */
  readonly steps: number;
  /** How far from where it is followed from a step may lie; Infinity: as far as its session goes. */
  readonly windowMs: number;
}

/** One way of one session or actor, put together event by event in the order of time. */
export class JourneySteps {
  readonly #rules: StepRules;
  /** The values so far, equal ones in a row once; of a way back the last few, from `#first` on. */
  readonly #codes: number[] = [];
  /** When each of them was there last. */
  readonly #lastMs: number[] = [];
  #startMs = Infinity;
  #hasBegun = false;
  #isFound = false;
  #isOver = false;

  constructor(rules: StepRules) {
    this.#rules = rules;
  }

  /** Whether no later event changes it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether it has a step yet. */
  get hasStep(): boolean {
    return this.#codes.length > 0;
  }

  begin(): void {
    this.#codes.length = 0;
    this.#lastMs.length = 0;
    this.#startMs = Infinity;
    this.#hasBegun = !this.#rules.hasStart;
    this.#isFound = !this.#rules.hasEnd;
    this.#isOver = false;
  }

  /**
   * The next event.
   * @param code its value; -1: it has none
   * @param anchor its value where it is the start or the end, which is a step in any case
   */
  add(code: number, anchor: number, ms: number, isStart: boolean, isEnd: boolean): void {
    const { steps, direction, hasEnd, windowMs } = this.#rules;
    if (!this.#hasBegun) {
      if (isStart) {
        this.#hasBegun = true;
        this.#startMs = ms;
        this.#push(anchor, ms);
        this.#isOver = !hasEnd && steps === 1;
      }
      return;
    }
    if (ms - this.#startMs > windowMs) {
      this.#isOver = true;
      return;
    }
    if (hasEnd && isEnd) {
      this.#push(anchor, ms);
      this.#isFound = true;
      this.#isOver = true;
      if (direction === "backward") this.#keepLast(ms);
      return;
    }
    if (code < 0) return;
    if (this.#startMs === Infinity && direction === "forward") this.#startMs = ms;
    this.#push(code, ms);
    if (!hasEnd && this.#codes.length > steps) this.#isOver = true;
  }

  /** When the step was from which the way is followed. */
  get anchorMs(): number {
    return this.#rules.direction === "forward" ? this.#startMs : this.#lastMs.at(-1)!;
  }

  /** The steps in the order in which they are followed, at most so many; null: there is no such way. */
  get found(): readonly number[] | null {
    if (!this.#hasBegun || !this.#isFound || this.#codes.length === 0) return null;
    const { direction, steps } = this.#rules;
    return direction === "forward"
      ? this.#codes.slice(0, steps)
      : this.#codes.toReversed().slice(0, steps);
  }

  #push(code: number, ms: number): void {
    const last = this.#codes.length - 1;
    if (this.#codes[last] === code) {
      this.#lastMs[last] = ms;
      return;
    }
    this.#codes.push(code);
    this.#lastMs.push(ms);
    // What is not asked for is left out now and then, so that the way stays short while it waits for its end.
    const { direction, steps } = this.#rules;
    if (this.#codes.length < 4 * steps) return;
    if (direction === "backward") this.#drop(2 * steps);
    else this.#codes.length = this.#lastMs.length = 2 * steps;
  }

  #drop(count: number): void {
    this.#codes.splice(0, count);
    this.#lastMs.splice(0, count);
  }

  /** Leaves out what lies longer than the window before the end. */
  #keepLast(endMs: number): void {
    const first = this.#lastMs.findIndex((ms) => endMs - ms <= this.#rules.windowMs);
    this.#drop(first);
  }
}
