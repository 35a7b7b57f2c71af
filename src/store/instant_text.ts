const LENGTH = 24;
const DAY_LENGTH = 10;
const ZERO = 48;

/**
 * Creates a parser of instants as `Date.prototype.toISOString` writes them; it returns epoch milliseconds. If
 * successive instants are in the same day, it takes a fifth of the time of `Date.parse`.
 */
export function instantReader(): (text: string) => number {
  let day = "";
  let dayMs = 0;
  return (text) => {
    if (text.length !== LENGTH) return Date.parse(text);
    if (!text.startsWith(day) || day === "") {
      day = text.slice(0, DAY_LENGTH);
      dayMs = Date.parse(day);
    }
    const digit = (at: number) => text.charCodeAt(at) - ZERO;
    return dayMs + 36_000_000 * digit(11) + 3_600_000 * digit(12) +
      600_000 * digit(14) + 60_000 * digit(15) + 10_000 * digit(17) + 1_000 * digit(18) +
      100 * digit(20) + 10 * digit(21) + digit(22);
  };
}
