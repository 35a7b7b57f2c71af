import { UsageMistake } from "./command.ts";

/** A hundred years: a date can be computed for every end. */
const DURATION_S_MAX = 36_500 * 86_400;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Parses a duration such as `90s`, `15m`, `12h` or `30d` and returns its seconds. Throws UsageMistake. */
export function durationSeconds(text: string, option: string): number {
  const found = /^([1-9]\d{0,9})([smhd])$/.exec(text);
  const unit = UNIT_SECONDS[found?.[2] ?? ""];
  if (found === null || unit === undefined) {
    throw new UsageMistake(`--${option} must be a duration such as 15m, 12h or 30d, not ${text}.`);
  }
  const seconds = Number(found[1]) * unit;
  if (seconds > DURATION_S_MAX) {
    throw new UsageMistake(`--${option} must be 36500d at most, not ${text}.`);
  }
  return seconds;
}
