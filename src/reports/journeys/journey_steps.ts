import { PAGE_VIEW } from "../../reserved_terms.ts";

/** What a step is: the path of a page view, the name of an event, or either. */
export type StepsBy = "path" | "name" | "both";

/** What a node stands for: a path, a name, all values without a node of their own, or the end of the way. */
export const NODE_KINDS = ["path", "name", "other", "end"] as const;

/** The code of a value: even for a path, odd for a name. */
export const pathCode = (path: number): number => 2 * path;
export const nameCode = (name: number): number => 2 * name + 1;
/** Returns the term of a code: that of the path, or of the name. */
export const termOf = (code: number): number => code >> 1;
export const isNameCode = (code: number): boolean => code % 2 === 1;

/** Returns the code of an event's value; -1: the event is not a step. */
export function codeOf(by: StepsBy, name: number, path: number): number {
  if (name === PAGE_VIEW && by !== "name") return pathCode(path);
  return by === "path" ? -1 : nameCode(name);
}

export interface StepRules {
  /** Whether the way must have a given start. */
  readonly hasStart: boolean;
  /** Whether the way must have a given end. */
  readonly hasEnd: boolean;
  /** How many steps are kept. */
  readonly steps: number;
  /** How far a step may be from where the way is followed from; Infinity: anywhere in its session. */
  readonly windowMs: number;
}

/** Whether ways are followed back from their end, not from their start. */
export const isBackward = ({ hasStart, hasEnd }: StepRules): boolean => !hasStart && hasEnd;

/**
 * One way of one session or actor, built event by event in the order of time. It is reused for the next way
 * without allocating anything, as most of a scan's time is spent here.
 */
export class JourneySteps {
  readonly #steps: number;
  readonly #isBackward: boolean;
  readonly #hasStart: boolean;
  readonly #hasEnd: boolean;
  readonly #windowMs: number;
  /** The values so far, equal ones in a row once; backward only the last few. */
  readonly #codes: Int32Array;
  /** By value, the time of the last of the equal events. */
  readonly #lastMs: Float64Array;
  #length = 0;
  #startMs = Infinity;
  #isFound = false;
  /** Whether the start is found, or none is needed. */
  hasBegun = false;
  /** Whether no later event can change the way. */
  isOver = false;

  constructor(rules: StepRules) {
    const { hasStart, hasEnd, steps, windowMs } = rules;
    this.#steps = steps;
    this.#isBackward = isBackward(rules);
    this.#hasStart = hasStart;
    this.#hasEnd = hasEnd;
    this.#windowMs = windowMs;
    this.#codes = new Int32Array(4 * steps);
    this.#lastMs = new Float64Array(4 * steps);
  }

  /** Whether the way already has a step. */
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
   * Takes the next event.
   * @param code the event's value; -1: it has none
   * @param anchor the event's value if it is the start or the end, which are always steps
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

  /** The time of the step from which the way is followed: its first, or backward its last. */
  get anchorMs(): number {
    return this.#isBackward ? this.#lastMs[this.#length - 1]! : this.#startMs;
  }

  /** How many steps the way has, at most as many as are asked for; 0: there is no such way. */
  get stepCount(): number {
    return this.hasBegun && this.#isFound ? Math.min(this.#length, this.#steps) : 0;
  }

  /** Returns the value of a step, counted from 0 in the direction in which the way is followed. */
  codeAt(step: number): number {
    return this.#codes[this.#isBackward ? this.#length - 1 - step : step]!;
  }

  #push(code: number, ms: number): void {
    const last = this.#length - 1;
    if (last >= 0 && this.#codes[last] === code) {
      this.#lastMs[last] = ms;
      return;
    }
    // A way may become long before its end: values beyond the steps asked for are dropped now and then.
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

  /** Drops the values that are further before the end than the window. */
  #keepLast(endMs: number): void {
    let first = 0;
    while (endMs - this.#lastMs[first]! > this.#windowMs) first++;
    this.#drop(first);
  }
}
