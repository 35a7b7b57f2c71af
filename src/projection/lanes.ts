/** A project that waits for its turn. */
interface Waiter {
  isUrgent: boolean;
  readonly enter: () => void;
}

/**
 * Schedules the projects that one server projects: a fixed number at once, in the order in which they asked,
 * so that none blocks another. Every second turn goes to a project that a read waits for, if there is one, in the
 * order in which reads began to wait.
 */
export class Lanes {
  #free: number;
  readonly #waiting = new Map<number, Waiter>();
  /** Those that reads wait for, in the order in which reads began to. Thousands may wait, so none is searched for. */
  readonly #urgent = new Set<number>();
  #isUrgentsTurn = true;
  #restsUntilMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(lanes: number) {
    this.#free = lanes;
  }

  /** Resolves when the project's turn begins; `leave` ends it. A project must not wait twice at once. */
  enter(projectId: number, isUrgent: boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(projectId, { isUrgent, enter: resolve });
    if (isUrgent) this.#urgent.add(projectId);
    this.#next();
    return promise;
  }

  /** Makes a waiting project urgent: a read waits for it now. */
  hurry(projectId: number): void {
    const waiter = this.#waiting.get(projectId);
    if (waiter === undefined || waiter.isUrgent) return;
    waiter.isUrgent = true;
    this.#urgent.add(projectId);
    this.#next();
  }

  /** Ends a turn. For `restMs` only urgent turns begin. */
  leave(restMs: number): void {
    this.#free++;
    this.#restsUntilMs = Math.max(this.#restsUntilMs, performance.now() + restMs);
    this.#next();
  }

  /** Ends the rest early. */
  wake(): void {
    this.#restsUntilMs = -Infinity;
    this.#next();
  }

  #choose(): [number, Waiter] | undefined {
    const [oldest] = this.#waiting;
    const [urgentId] = this.#urgent;
    const urgent: [number, Waiter] | undefined = urgentId === undefined
      ? undefined
      : [urgentId, this.#waiting.get(urgentId)!];
    const restMs = this.#restsUntilMs - performance.now();
    if (restMs <= 0) return (this.#isUrgentsTurn ? urgent : undefined) ?? oldest;
    if (urgent === undefined && oldest !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#next(), Math.ceil(restMs));
    }
    return urgent;
  }

  #next(): void {
    while (this.#free > 0) {
      const chosen = this.#choose();
      if (chosen === undefined) return;
      const [projectId, { isUrgent, enter }] = chosen;
      this.#waiting.delete(projectId);
      this.#urgent.delete(projectId);
      this.#isUrgentsTurn = !isUrgent;
      this.#free--;
      enter();
    }
  }
}
