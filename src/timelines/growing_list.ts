import { lengthened } from "./timeline.ts";

/** A typed array that grows. */
export class GrowingList<T extends Int32Array | Float64Array> {
  #list: T;
  length = 0;

  /** @param room the array to begin with, whose content is overwritten */
  constructor(room: T) {
    this.#list = room;
  }

  add(number: number): void {
    if (this.length === this.#list.length) this.#list = lengthened(this.#list);
    this.#list[this.length++] = number;
  }

  /** Returns a copy of all numbers. */
  all(): T {
    return this.#list.slice(0, this.length) as T;
  }

  /** Returns all numbers without a copy; none may be added after that. */
  taken(): T {
    return this.#list.subarray(0, this.length) as T;
  }
}
