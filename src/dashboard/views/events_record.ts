import type { Size } from "../../event_file/exported_event.ts";
import { dates } from "../number_format.ts";

/** Width and height as text; null: neither is known. */
export function sizeText(size: Size | null): string | null {
  return size === null ? null : `${size.width ?? "?"} × ${size.height ?? "?"}`;
}

const INDENTED_LEVELS_MAX = 40;

function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => nestsDeeper(member, levels - 1));
}

/**
 * A value as JSON with indentation. One that nests deep is written without: 64 KiB of list items
 * in 1,000 levels would be 62 MB, since each line repeats its depth as blanks.
 */
export function readableJson(value: unknown): string {
  return JSON.stringify(value, null, nestsDeeper(value, INDENTED_LEVELS_MAX) ? 0 : 2);
}

/** Members of nested objects by their path, such as `plan.name`; lists stay whole, as JSON. */
export function flattened(
  value: Readonly<Record<string, unknown>>,
  prefix = "",
): readonly (readonly [string, string | number | boolean | null])[] {
  return Object.entries(value).flatMap(([key, member]) => {
    const name = prefix + key;
    if (member === null || ["string", "number", "boolean"].includes(typeof member)) {
      return [[name, member as string | number | boolean | null] as const];
    }
    const isObject = !Array.isArray(member) && Object.keys(member as object).length > 0;
    return isObject
      ? flattened(member as Record<string, unknown>, `${name}.`)
      : [[name, JSON.stringify(member)] as const];
  });
}

function formatted(
  instant: string | number,
  timezone: string | null,
  options: Intl.DateTimeFormatOptions,
): string {
  const zone = timezone === null ? {} : { timeZone: timezone };
  return dates({ ...options, ...zone }).format(new Date(instant));
}

/** The time of an event to the second. */
export function clockLabel(instant: string, timezone: string | null): string {
  return formatted(instant, timezone, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
}

/** The date of an event, with the year unless it is the present one. */
function dateLabel(instant: string, timezone: string | null, nowMs: number): string {
  const yearOf = (at: string | number) => formatted(at, timezone, { year: "numeric" });
  const isOfThisYear = yearOf(instant) === yearOf(nowMs);
  return formatted(instant, timezone, {
    day: "numeric",
    month: "short",
    ...isOfThisYear ? {} : { year: "numeric" },
  });
}

/** Date and time of an event to the second. */
export function timeLabel(instant: string, timezone: string | null, nowMs: number): string {
  return `${dateLabel(instant, timezone, nowMs)}, ${clockLabel(instant, timezone)}`;
}

/** Date and time to the minute. */
export function minuteLabel(instant: string, timezone: string | null, nowMs: number): string {
  const time = formatted(instant, timezone, { hour: "2-digit", minute: "2-digit" });
  return `${dateLabel(instant, timezone, nowMs)}, ${time}`;
}
