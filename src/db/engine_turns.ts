/** What a turn does: it reads one snapshot, which may take long, or it does anything else. */
export type TurnKind = "snapshot" | "other";

/** A turn that has not begun. */
interface Waiting {
  /** Which one of all turns it is, in the order of the calls. */
  readonly number: number;
  readonly begin: () => void;
}

/**
 * Lets turns run one at a time, in the order of their calls, but that snapshots let the others pass: when one ends, the
 * others that wait by then go before the next one. So whatever else waits, such as a write, waits for one snapshot at
 * most, and a snapshot for what came before it, or before the end of the last one: neither holds up the other for ever.
 */
export class EngineTurns {
  readonly #waiting: Readonly<Record<TurnKind, Waiting[]>> = { snapshot: [], other: [] };
  #isTaken = false;
  #asked = 0;
  #over = 0;
  /** Others up to this number go before every snapshot. */
  #passing = 0;
  #settled: (() => void)[] = [];

  /** @param between runs between two turns; it never rejects */
  constructor(readonly between: () => Promise<void>) {}

  /** How many turns were asked for. */
  get asked(): number {
    return this.#asked;
  }

  /** How many of these are over. */
  get over(): number {
    return this.#over;
  }

  /** Runs `work` in a turn. */
  async take<T>(kind: TurnKind, work: () => Promise<T>): Promise<T> {
    const { promise, resolve: begin } = Promise.withResolvers<void>();
    this.#waiting[kind].push({ number: ++this.#asked, begin });
    this.#beginNext();
    await promise;
    try {
      return await work();
    } finally {
      this.#over++;
      void this.#leave(kind);
    }
  }

  /** Resolves once nothing runs and nothing waits. */
  async settled(): Promise<void> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#settled.push(resolve));
  }

  async #leave(kind: TurnKind): Promise<void> {
    await this.between();
    if (kind === "snapshot") this.#passing = this.#asked;
    this.#isTaken = false;
    this.#beginNext();
    if (!this.#isTaken) { for (const resolve of this.#settled.splice(0)) resolve(); }
  }

  #beginNext(): void {
    if (this.#isTaken) return;
    const { snapshot: [snapshot], other: [other] } = this.#waiting;
    const isOther = other !== undefined &&
      (snapshot === undefined || other.number < Math.max(snapshot.number, this.#passing + 1));
    const next = this.#waiting[isOther ? "other" : "snapshot"].shift();
    if (next === undefined) return;
    this.#isTaken = true;
    next.begin();
  }
}
