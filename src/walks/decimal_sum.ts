/** A JSON number: sign and digits, those behind the point, and the power of ten. */
const NUMBER = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Numbers of the same power of ten, summed as whole numbers. */
interface Digits {
  small: number;
  /** What no longer fits a double exactly. */
  large: bigint;
}

/** An exact sum of decimal numbers: 0.1 + 0.2 is 0.3. */
export class DecimalSum {
  readonly #digits = new Map<number, Digits>();

  /** Adds a number, as JSON writes it, so many times. Throws RangeError for what is none. */
  add(number: string, times: number): void {
    const [, whole, fraction = "", power = "0"] = NUMBER.exec(number) ?? [];
    if (whole === undefined) throw new RangeError(`${number} is no number of JSON`);
    const exponent = Number(power) - fraction.length;
    let digits = this.#digits.get(exponent);
    if (digits === undefined) this.#digits.set(exponent, digits = { small: 0, large: 0n });
    const added = Number(whole + fraction) * times;
    const small = digits.small + added;
    // Whole numbers within this bound are exact, and so were the factors of those that are.
    if (Number.isSafeInteger(added) && Number.isSafeInteger(small)) digits.small = small;
    else digits.large += BigInt(whole + fraction) * BigInt(times);
  }

  /** The double next to the sum; null where nothing was added. */
  get value(): number | null {
    if (this.#digits.size === 0) return null;
    const least = Math.min(...this.#digits.keys());
    let sum = 0n;
    for (const [exponent, { small, large }] of this.#digits) {
      sum += (BigInt(small) + large) * 10n ** BigInt(exponent - least);
    }
    return Number(`${sum}e${least}`);
  }
}
