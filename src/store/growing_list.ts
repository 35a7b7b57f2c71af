type Growing = Uint8Array | Int32Array | Uint32Array | Float64Array;

/** Copies a list into one twice as long, but not longer than `most`. */
export function lengthened<T extends Growing>(list: T, most = Infinity): T {
  const Longer = list.constructor as { new (length: number): T };
  const longer = new Longer(Math.min(Math.max(1, 2 * list.length), most));
  longer.set(list);
  return longer;
}

/** A typed array that grows. */
export class GrowingList<T extends Growing> {
  #list: T;
  length = 0;

  /**
   * @param room the array to begin with, whose content is overwritten
   * @param most the numbers that may be added, if that is known: no room is made for more
   */
  constructor(room: T, private readonly most = Infinity) {
    this.#list = room;
  }

  add(number: number): void {
    if (this.length === this.#list.length) this.#list = lengthened(this.#list, this.most);
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
