import { type Decimal, DecimalSum, type PlainSum } from "./decimal_sum.ts";

/** Exact sums of numbers by place; places without numbers have none. */
export class PlaceAmounts {
  readonly #sums = new Map<number, DecimalSum>();

  add(place: number, decimal: Decimal): void {
    this.#of(place).add(decimal);
  }

  /** Adds other sums as `plain` returns them. */
  addAll(sums: ReadonlyMap<number, PlainSum>): void {
    for (const [place, sum] of sums) this.#of(place).addSum(sum);
  }

  /** Returns the sum over all places. */
  total(): number {
    const all = new DecimalSum();
    for (const sum of this.#sums.values()) all.addSum(sum.plain());
    return all.value;
  }

  at(place: number): number {
    return this.#sums.get(place)?.value ?? 0;
  }

  plain(): ReadonlyMap<number, PlainSum> {
    return new Map([...this.#sums].map(([place, sum]) => [place, sum.plain()]));
  }

  #of(place: number): DecimalSum {
    return this.#sums.getOrInsertComputed(place, () => new DecimalSum());
  }
}
