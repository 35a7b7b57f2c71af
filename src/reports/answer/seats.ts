/** Seats taken, by who took them: as many entries as there are takers at most. */
export class Seats<Who> {
  readonly #taken = new Map<Who, number>();

  of(who: Who): number {
    return this.#taken.get(who) ?? 0;
  }

  take(who: Who): void {
    this.#taken.set(who, this.of(who) + 1);
  }

  give(who: Who): void {
    const left = this.of(who) - 1;
    if (left > 0) this.#taken.set(who, left);
    else this.#taken.delete(who);
  }
}
