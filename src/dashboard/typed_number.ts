/** A number with groups of three digits before the decimal point. */
const GROUPED = /^[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/;
const PLAIN = /^[+-]?[\d.]+(?:e[+-]?\d+)?$/i;

/**
 * A number as people type it; null: it is not one. A comma groups thousands if it is placed as in `1,000`;
 * else it is the decimal point, as in `9,50`.
 */
export function typedNumber(text: string): number | null {
  const typed = text.trim();
  const plain = GROUPED.test(typed) ? typed.replaceAll(",", "") : typed.replace(",", ".");
  const number = PLAIN.test(plain) ? Number(plain) : NaN;
  return Number.isFinite(number) ? number : null;
}
