import { PAGE_VIEW } from "../../query/terms.ts";

/** What a step is told by: the path of a page view, the name of an event, or both. */
export type StepsBy = "path" | "name" | "both";

/** What a node stands for: a value, all values that are not told by themselves, or that the way is over. */
export const NODE_KINDS = ["path", "name", "other", "end"] as const;

/** Which end of the way is given: it is followed from its start, or back from its end. */
type Direction = "forward" | "backward";

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

/**
 * One way of one session or actor, put together event by event in the order of time. It is used again
 * for the next one, without making anything: most of a scan's time passes here.
 */
export class JourneySteps {
  readonly #steps: number;
  readonly #isBackward: boolean;
  readonly #hasStart: boolean;
  readonly #hasEnd: boolean;
  readonly #windowMs: number;
  /** The values so far, equal ones in a row once; of a way back the last few. */
  readonly #codes: Int32Array;
  /** Of a way back when each of them was there last. */
  readonly #lastMs: Float64Array;
  #length = 0;
  #startMs = Infinity;
  #isFound = false;
  /** Whether its start, if it needs one, is found. */
  hasBegun = false;
  /** Whether no later event changes it. */
  isOver = false;

  constructor({ direction, hasStart, hasEnd, steps, windowMs }: StepRules) {
    this.#steps = steps;
    this.#isBackward = direction === "backward";
    this.#hasStart = hasStart;
    this.#hasEnd = hasEnd;
    this.#windowMs = windowMs;
    this.#codes = new Int32Array(4 * steps);
    this.#lastMs = new Float64Array(4 * steps);
  }

  /** Whether it has a step yet. */
  get hasStep(): boolean {
    return this.#length > 0;
  }

  begin(): void {
    this.#length = 0;
    this.#startMs = Infinity;
    this.hasBegun = !this.#hasStart;
    this.#isFound = !this.#hasEnd;
    this.isOver = false;
  }

  /**
   * The next event.
   * @param code its value; -1: it has none
   * @param anchor its value where it is the start or the end, which is a step in any case
   */
  add(code: number, anchor: number, ms: number, isStart: boolean, isEnd: boolean): void {
    if (!this.hasBegun) {
      if (isStart) {
        this.hasBegun = true;
        this.#startMs = ms;
        this.#push(anchor, ms);
        this.isOver = !this.#hasEnd && this.#steps === 1;
      }
      return;
    }
    if (ms - this.#startMs > this.#windowMs) {
      this.isOver = true;
      return;
    }
    if (this.#hasEnd && isEnd) {
      this.#push(anchor, ms);
      this.#isFound = true;
      this.isOver = true;
      if (this.#isBackward) this.#keepLast(ms);
      return;
    }
    if (code < 0) return;
    if (this.#startMs === Infinity && !this.#isBackward) this.#startMs = ms;
    this.#push(code, ms);
    if (!this.#hasEnd && this.#length > this.#steps) this.isOver = true;
  }

  /** When the step was from which the way is followed. */
  get anchorMs(): number {
    return this.#isBackward ? this.#lastMs[this.#length - 1]! : this.#startMs;
  }

  /** How many steps the way has, at most as many as are asked for; 0: there is no such way. */
  get found(): number {
    return this.hasBegun && this.#isFound ? Math.min(this.#length, this.#steps) : 0;
  }

  /** The value of a step of it, in the order in which they are followed. */
  codeAt(step: number): number {
    return this.#codes[this.#isBackward ? this.#length - 1 - step : step]!;
  }

  #push(code: number, ms: number): void {
    const last = this.#length - 1;
    if (last >= 0 && this.#codes[last] === code) {
      this.#lastMs[last] = ms;
      return;
    }
    // What is not asked for is left out now and then: a way may be long until its end comes.
    if (this.#length === this.#codes.length) {
      if (this.#isBackward) this.#drop(2 * this.#steps);
      else this.#length = 2 * this.#steps;
    }
    this.#codes[this.#length] = code;
    this.#lastMs[this.#length++] = ms;
  }

  #drop(count: number): void {
    this.#codes.copyWithin(0, count, this.#length);
    this.#lastMs.copyWithin(0, count, this.#length);
    this.#length -= count;
  }

  /** Leaves out what lies longer than the window before the end. */
  #keepLast(endMs: number): void {
    let first = 0;
    while (endMs - this.#lastMs[first]! > this.#windowMs) first++;
    this.#drop(first);
  }
}
