import { EXPORTS_MAX, EXPORTS_PER_PROJECT_MAX, EXPORTS_RETRY_AFTER_S } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { Seats } from "../../turns/seats.ts";

function refused(detail: string): Problem {
  return new Problem("overloaded", `${detail} Try again when one of them has ended.`, {
    headers: { "Retry-After": String(EXPORTS_RETRY_AFTER_S) },
  });
}

/** Limits the exports under way: each holds a window of lines for as long as its reader takes. */
export class ExportSeats {
  readonly #projects = new Seats<number>();
  #taken = 0;

  /** The number of exports under way. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * Yields the lines of an export, which holds a seat from its first line until it ends or `gone` aborts.
   * Throws Problem `overloaded` before the first line if no seat is free.
   */
  async *seated<Lines>(
    projectId: number,
    lines: AsyncGenerator<Lines, void>,
    gone: AbortSignal,
  ): AsyncGenerator<Lines, void> {
    const leave = this.#take(projectId);
    gone.addEventListener("abort", leave);
    try {
      yield* lines;
    } finally {
      gone.removeEventListener("abort", leave);
      leave();
    }
  }

  /** Takes a seat, and returns a function that gives it back once. Throws Problem `overloaded`. */
  #take(projectId: number): () => void {
    if (this.#projects.of(projectId) >= EXPORTS_PER_PROJECT_MAX) {
      throw refused(`${EXPORTS_PER_PROJECT_MAX} exports of this project are under way.`);
    }
    if (this.#taken >= EXPORTS_MAX) throw refused(`${EXPORTS_MAX} exports are under way.`);
    this.#taken++;
    this.#projects.take(projectId);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#taken--;
      this.#projects.give(projectId);
    };
  }
}
