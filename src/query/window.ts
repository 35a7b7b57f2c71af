import { FUNNEL_WINDOW_MS_MAX } from "../limits.ts";
import { invalidParameter } from "./parameters.ts";

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
export const WINDOW_USAGE =
  "Use a number and s, m, h or d, such as 30m or 7d, of at most 366 days.";

/** Returns the milliseconds of a window such as `7d` (a day has 24 hours); null: the text is not one. */
export function windowMs(window: string): number | null {
  const [, count, unit] = /^([1-9]\d{0,8})([smhd])$/.exec(window) ?? [];
  const ms = Number(count) * (UNITS_MS[unit ?? ""] ?? NaN);
  return ms <= FUNNEL_WINDOW_MS_MAX ? ms : null;
}

/** Reads the parameter `window`. Throws `invalid_parameter`. */
export function readWindow(query: URLSearchParams, otherwise: string): string {
  const window = query.get("window") || otherwise;
  if (windowMs(window) === null) throw invalidParameter("window", WINDOW_USAGE);
  return window;
}
