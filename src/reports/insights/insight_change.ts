import { INSIGHT_CAUSE_SHARE } from "../../limits.ts";
import { type Counts, figureOf, sliceKey } from "./insight_candidates.ts";
import type { Finding } from "./insight_findings.ts";

/** A figure at each cell, in the range and in the period before. */
export interface CellFigure {
  readonly now: Int32Array;
  readonly before: Int32Array;
}

export type CellFigures = Readonly<Record<keyof Counts, CellFigure>>;

/**
 * The figures of the range and of the period before, by cell: events of exactly the same slices share a cell.
 */
export interface JointCells {
  readonly count: number;
  /** By the key of a slice: 1 at each cell of the slice. */
  readonly holds: ReadonlyMap<string, Uint8Array>;
  /** By the slug of a goal: the figures of its events; by null: those of all selected events. */
  readonly matches: ReadonlyMap<string | null, CellFigures>;
}

/** Sums of a change's figure over some cells; for a rate, of its hits, and of its trials. */
export type Sums = Readonly<ReturnType<typeof nothing>>;

const nothing = () => ({ now: 0, before: 0, trialsNow: 0, trialsBefore: 0 });

/** A finding with its figure at each cell. */
export class Change {
  readonly isRate: boolean;
  readonly isWhole: boolean;
  /** 1: the figure rose, -1: it fell. */
  readonly direction: number;
  /** 1 at each cell of its slice. */
  readonly holds: Uint8Array;
  /** The sums over all cells of its slice. */
  readonly all: Sums;
  /** The sessions of its slice in both periods: the size by which slices of different metrics are compared. */
  readonly sessions: number;
  readonly #figure: CellFigure;
  readonly #trials: CellFigure;
  readonly #cells: Int32Array;
  /** Results of `isMostlyIn`, by the cells of the other change. */
  readonly #isMostlyIn = new Map<Uint8Array, boolean>();

  /** The slice and the match of `finding` must be among those of the cells. */
  constructor(readonly finding: Finding, { holds, matches, count }: JointCells) {
    const { metric, goal, dimension, current, previous } = finding;
    const figures = matches.get(goal === null ? null : goal.slug)!;
    this.isRate = metric === "bounceRate";
    this.isWhole = dimension === null;
    this.direction = Math.sign(current - previous);
    this.holds = holds.get(sliceKey(finding))!;
    this.#trials = figures.sessions;
    this.#figure = figures[this.isRate ? "bounces" : figureOf(metric)];
    const isOwn = (cell: number) => this.holds[cell] === 1 && this.#massAt(cell) > 0;
    this.#cells = Int32Array.from({ length: count }, (_, cell) => cell).filter(isOwn);
    const all = nothing();
    for (const cell of this.#cells) this.#add(all, cell);
    this.all = all;
    // The first match for all changes, as the sessions of goals differ.
    const [{ sessions } = figures] = matches.values();
    this.sessions = this.holds.reduce(
      (sum, held, cell) => sum + held * (sessions.now[cell]! + sessions.before[cell]!),
      0,
    );
  }

  /** Returns the sums at the cells of each owner; those of owner i are at index i + 1. */
  sumsByOwner(owners: Int32Array, count: number): Sums[] {
    const sums = Array.from({ length: count + 1 }, nothing);
    for (const cell of this.#cells) this.#add(sums[owners[cell]! + 1]!, cell);
    return sums;
  }

  /** Returns the sums of its figure at the cells of an owner outside its slice. */
  rest(owners: Int32Array, owner: number): Sums {
    const sums = nothing();
    for (let cell = 0; cell < owners.length; cell++) {
      if (owners[cell] === owner && this.holds[cell] === 0) this.#add(sums, cell);
    }
    return sums;
  }

  /**
   * Returns how much more there is now than before; for a rate, how many more hits than at the rate before.
   * The excesses of disjoint sets of cells can be added.
   */
  excess({ now, before, trialsNow, trialsBefore }: Sums): number {
    if (!this.isRate) return now - before;
    const { before: hits, trialsBefore: trials } = this.all;
    const share = trials === 0 ? 0 : hits / trials;
    return now - share * trialsNow - (before - share * trialsBefore);
  }

  /** Returns the figure of both periods together; for a rate, its trials. */
  mass({ now, before, trialsNow, trialsBefore }: Sums): number {
    return this.isRate ? trialsNow + trialsBefore : now + before;
  }

  /** Tells whether most of its mass is in the slice of another change. */
  isMostlyIn(other: Change): boolean {
    if (other.isWhole) return true;
    return this.#isMostlyIn.getOrInsertComputed(other.holds, () => {
      const inside = nothing();
      for (const cell of this.#cells) if (other.holds[cell] === 1) this.#add(inside, cell);
      return this.mass(inside) >= INSIGHT_CAUSE_SHARE * this.mass(this.all);
    });
  }

  #add(sums: ReturnType<typeof nothing>, cell: number): void {
    sums.now += this.#figure.now[cell]!;
    sums.before += this.#figure.before[cell]!;
    sums.trialsNow += this.#trials.now[cell]!;
    sums.trialsBefore += this.#trials.before[cell]!;
  }

  #massAt(cell: number): number {
    const { now, before } = this.isRate ? this.#trials : this.#figure;
    return now[cell]! + before[cell]!;
  }
}
