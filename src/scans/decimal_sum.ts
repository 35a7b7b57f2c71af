/** A JSON number: sign and digits, the digits after the point, and the power of ten. */
const NUMBER = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A number as it is summed: a whole number times a power of ten. */
export interface Decimal {
  readonly number: number;
  /** Its digits as a number; exact only where that is a safe integer. */
  readonly whole: number;
  /** The digits if `whole` is not exact; else null. */
  readonly digits: string | null;
  readonly exponent: number;
}

/** Parses a JSON number; null: the text is not one. */
export function decimalOf(json: string): Decimal | null {
  const [, whole, fraction = "", power = "0"] = NUMBER.exec(json) ?? [];
  if (whole === undefined) return null;
  const digits = whole + fraction;
  const all = Number(digits);
  return {
    number: Number(json),
    whole: all,
    digits: isExact(all) ? null : digits,
    exponent: Number(power) - fraction.length,
  };
}

/** The most decimals that `decimalOfNumber` looks for by arithmetic. */
const DECIMALS_MAX = 6;
/** Below this, two different numbers with that many decimals are never the same double. */
const SCALED_MAX = 2 ** 50;

/**
 * Returns the decimal that JSON writes for a number. Most numbers have few decimals, which arithmetic
 * finds: the quotient of two whole numbers is rounded to the nearest double, so it equals the number
 * exactly where the decimals are right.
 */
export function decimalOfNumber(number: number): Decimal | null {
  for (let decimals = 0, scale = 1; decimals <= DECIMALS_MAX; decimals++, scale *= 10) {
    const whole = Math.round(number * scale);
    if (Math.abs(whole) >= SCALED_MAX) break;
    if (whole / scale === number) return { number, whole, digits: null, exponent: 0 - decimals };
  }
  return decimalOf(String(number));
}

const isExact = (whole: number): boolean =>
  whole <= Number.MAX_SAFE_INTEGER && whole >= Number.MIN_SAFE_INTEGER;

/** The sum of numbers with the same power of ten, as whole numbers: `small` + `large`. */
interface Wholes {
  small: number;
  /** The part that a double cannot hold exactly. */
  large: bigint;
}

/** A sum as plain data: one entry for each power of ten. */
export type PlainSum = readonly (Readonly<Wholes> & { readonly exponent: number })[];

/** An exact sum of decimal numbers: 0.1 + 0.2 is 0.3. */
export class DecimalSum {
  readonly #wholes = new Map<number, Wholes>();
  /** The entry used last: most numbers have as many decimals as the one before. */
  #last: Wholes = { small: 0, large: 0n };
  #lastExponent = NaN;

  /** Adds a number `times` times. */
  add({ digits, whole, exponent }: Decimal, times = 1): void {
    const wholes = exponent === this.#lastExponent ? this.#last : this.#wholesOf(exponent);
    const added = whole * times;
    const small = wholes.small + added;
    // A product within the bound of safe integers is exact, and its factors were within it too.
    if (isExact(added) && isExact(small)) wholes.small = small;
    else wholes.large += BigInt(digits ?? whole) * BigInt(times);
  }

  addSum(sum: PlainSum): void {
    for (const { exponent, small, large } of sum) {
      const wholes = this.#wholesOf(exponent);
      wholes.large += large;
      if (isExact(wholes.small + small)) wholes.small += small;
      else wholes.large += BigInt(small);
    }
  }

  plain(): PlainSum {
    return [...this.#wholes].map(([exponent, wholes]) => ({ exponent, ...wholes }));
  }

  #wholesOf(exponent: number): Wholes {
    let wholes = this.#wholes.get(exponent);
    if (wholes === undefined) this.#wholes.set(exponent, wholes = { small: 0, large: 0n });
    this.#lastExponent = exponent;
    return this.#last = wholes;
  }

  /** The double nearest to the sum; 0 where nothing was added. */
  get value(): number {
    return this.#valueOver(1n);
  }

  /** Returns the mean of `count` numbers, also where a double does not hold their sum. */
  mean(count: number): number {
    const { value } = this;
    return Number.isFinite(value) ? value / count : this.#valueOver(BigInt(count));
  }

  /**
   * Returns the sum divided by a number. A large sum loses its fraction, which a double could not hold
   * anyway.
   */
  #valueOver(divisor: bigint): number {
    const least = Math.min(0, ...this.#wholes.keys());
    let sum = 0n;
    for (const [exponent, { small, large }] of this.#wholes) {
      sum += (BigInt(small) + large) * 10n ** BigInt(exponent - least);
    }
    return Number(`${sum / divisor}e${least}`);
  }
}
