/** Stops `performance.now`, which goes on by `advance` alone; timers go on as they do. */
export class StoppedClock implements Disposable {
  readonly #now = performance.now;
  #nowMs = performance.now();

  constructor() {
    performance.now = () => this.#nowMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }

  [Symbol.dispose](): void {
    performance.now = this.#now;
  }
}
