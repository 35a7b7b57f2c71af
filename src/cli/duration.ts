import { UsageMistake } from "./command.ts";

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Parses a duration such as `90s`, `15m`, `12h` or `30d` and returns its seconds. Throws UsageMistake. */
export function durationSeconds(text: string, option: string): number {
  const found = /^([1-9]\d{0,9})([smhd])$/.exec(text);
  const unit = UNIT_SECONDS[found?.[2] ?? ""];
  if (found === null || unit === undefined) {
    throw new UsageMistake(`--${option} must be a duration such as 15m, 12h or 30d, not ${text}.`);
  }
  return Number(found[1]) * unit;
}
