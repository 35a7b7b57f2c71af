/** Counts the seats that each holder has taken. Holders without a seat use no memory. */
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
