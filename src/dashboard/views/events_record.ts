import type { Size } from "../../event_file/exported_event.ts";
import { currentLocale } from "../number_format.ts";

/** Width and height as people write them; null where neither is known. */
export function sizeText(size: Size | null): string | null {
  return size === null ? null : `${size.width ?? "?"} × ${size.height ?? "?"}`;
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

/** The time of an event: with the date where that is not today's. */
export function timeLabel(instant: string, timezone: string | null, nowMs: number): string {
  const format = (options: Intl.DateTimeFormatOptions, at: Date) =>
    new Intl.DateTimeFormat(currentLocale(), {
      ...options,
      ...(timezone === null ? {} : { timeZone: timezone }),
    }).format(at);
  const at = new Date(instant);
  const day: Intl.DateTimeFormatOptions = { day: "numeric", month: "short", year: "numeric" };
  const time = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" }, at);
  if (format(day, at) === format(day, new Date(nowMs))) return time;
  return `${format({ day: "numeric", month: "short" }, at)}, ${time}`;
}
