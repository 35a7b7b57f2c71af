/** Assigns notes to the buckets of a chart, by local times, as buckets are named. */
import type { Interval } from "./location_query.ts";

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;

/** Whether a note is about a whole day. */
export function isDay(at: string): boolean {
  return at.length === 10;
}

/** `2026-01-31 14:05` in a zone. */
function localMinute(ms: number, timezone: string | null): string {
  const parts = new Intl.DateTimeFormat("en-CA-u-hc-h23", {
    ...(timezone === null ? {} : { timeZone: timezone }),
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  }).formatToParts(ms);
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? "";
  return `${of("year")}-${of("month")}-${of("day")} ${of("hour")}:${of("minute")}`;
}

/** A note's local date, and its time unless it is about the whole day. */
export function localTime(
  at: string,
  timezone: string | null,
): { readonly date: string; readonly time: string } {
  if (isDay(at)) return { date: at, time: "" };
  const [date = "", time = ""] = localMinute(Date.parse(at), timezone).split(" ");
  return { date, time };
}

/** The instant of a local date and time; a time that a clock change skips is shifted past it. */
export function instantOf(date: string, time: string, timezone: string | null): string {
  const wantedMs = Date.parse(`${date}T${time}:00Z`);
  const offsetMs = (ms: number) =>
    Date.parse(`${localMinute(ms, timezone).replace(" ", "T")}:00Z`) -
    Math.floor(ms / 60_000) * 60_000;
  const guessMs = wantedMs - offsetMs(wantedMs);
  const foundMs = wantedMs - offsetMs(guessMs);
  const isSkipped = foundMs + offsetMs(foundMs) !== wantedMs;
  return new Date(isSkipped ? Math.max(guessMs, foundMs) : foundMs).toISOString();
}

/** The index of the last label up to a text; -1: none. */
function lastUpTo(labels: readonly string[], text: string): number {
  return labels.findLastIndex((label) => label <= text);
}

/** The index of a note's bucket, by the buckets' labels; null: none. */
export function bucketOfNote(
  labels: readonly string[],
  interval: Interval,
  at: string,
  timezone: string | null,
): number | null {
  const { date, time } = localTime(at, timezone);
  if (interval === "hour") {
    const first = labels.findIndex((label) => label.startsWith(date));
    if (first < 0 || time === "") return first < 0 ? null : first;
    return Math.max(first, lastUpTo(labels, `${date} ${time}`));
  }
  const text = interval === "month" ? date.slice(0, 7) : date;
  const index = lastUpTo(labels, text);
  const label = labels[index];
  if (label === undefined) return null;
  if (interval !== "week") return label === text ? index : null;
  return (Date.parse(date) - Date.parse(label)) / DAY_MS < WEEK_DAYS ? index : null;
}
