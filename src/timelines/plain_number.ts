const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** Up to these, a number is exactly the quotient of two doubles, and JavaScript writes it without an exponent. */
const DIGITS_MAX = 15;
const DECIMALS_MAX = 6;
const POWERS_OF_TEN = Array.from({ length: DECIMALS_MAX + 1 }, (_, decimals) => 10 ** decimals);

/**
 * Reads a JSON number from its bytes, without decoding them as text. NaN: they are not a number, or not one as
 * JavaScript writes it (`1.50`), or one with too many digits to be exact.
 */
export function plainNumber(bytes: Uint8Array, from: number, to: number): number {
  const isNegative = bytes[from] === MINUS;
  const start = isNegative ? from + 1 : from;
  if (to - start > DIGITS_MAX + 1 || to === start) return NaN;
  let whole = 0;
  let point = -1;
  for (let at = start; at < to; at++) {
    const byte = bytes[at]!;
    if (byte === POINT && point < 0) point = at;
    else if (byte >= ZERO && byte <= NINE) whole = 10 * whole + byte - ZERO;
    else return NaN;
  }
  const digits = to - start - (point < 0 ? 0 : 1);
  const decimals = point < 0 ? 0 : to - point - 1;
  const isPlain = digits <= DIGITS_MAX && decimals <= DECIMALS_MAX &&
    (point < 0 || bytes[to - 1] !== ZERO) && !(isNegative && whole === 0);
  if (!isPlain) return NaN;
  const number = whole / POWERS_OF_TEN[decimals]!;
  return isNegative ? -number : number;
}
