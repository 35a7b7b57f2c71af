import { lengthened } from "../../timelines/timeline.ts";

/** Numbers one behind the other, with room for more. */
export class GrowingList<T extends Int32Array | Float64Array> {
  #list: T;
  length = 0;

  /** `room`: where the first of them are put. */
  constructor(room: T) {
    this.#list = room;
  }

  add(number: number): void {
    if (this.length === this.#list.length) this.#list = lengthened(this.#list);
    this.#list[this.length++] = number;
  }

  /** A copy of all. */
  all(): T {
    return this.#list.slice(0, this.length) as T;
  }
}
