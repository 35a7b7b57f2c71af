import { isMembers } from "../json_text.ts";
import type { Members } from "./json_rows.ts";

/** Returns a text that is not empty, or a number as text; else null. */
export function textOf(value: unknown): string | null {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}

/** Returns a finite number, which may be given as text; else null. */
export function numberOf(value: unknown): number | null {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

/** Returns an object, which may be given as JSON; else an empty one. */
export function membersOf(value: unknown): Members {
  if (typeof value === "string" && value.startsWith("{")) {
    try {
      return membersOf(JSON.parse(value));
    } catch {
      return {};
    }
  }
  return isMembers(value) ? value : {};
}

/** Returns the members that are not null, undefined or "". */
export function present(members: Members): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) =>
      value !== null && value !== undefined && value !== ""
    ),
  );
}

/** Returns the members whose names `kept` accepts. */
export function picked(members: Members, kept: (name: string) => boolean): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => kept(name)));
}

/** `2026-09-21 10:00:00.123`: a time without a zone. Exports write such times in UTC. */
const WITHOUT_ZONE = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)$/;
/** `2026-09-21 10:00:00+00`, as PostgreSQL and ClickHouse write it. */
const WITH_ZONE = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d)(:?\d\d)?$/;

/** Returns a time of an export as ISO 8601; other text unchanged, which is refused later. */
export function timeOf(value: unknown): string | null {
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? null : value.toISOString();
  }
  const text = textOf(value);
  if (text === null) return null;
  const [, day, time] = WITHOUT_ZONE.exec(text) ?? [];
  if (day !== undefined) return `${day}T${time}Z`;
  const [, date, clock, hours, minutes] = WITH_ZONE.exec(text) ?? [];
  if (date === undefined) return text;
  return `${date}T${clock}${hours}:${minutes?.replace(":", "") ?? "00"}`;
}

const SIZE = /^(\d{1,6})(?:\.\d+)?[x,](\d{1,6})/;

/** Parses a size such as `1440x900`. */
export function sizeOf(value: unknown): { width: number; height: number } | null {
  const [, width, height] = SIZE.exec(textOf(value) ?? "") ?? [];
  return width === undefined || (width === "0" && height === "0")
    ? null
    : { width: Number(width), height: Number(height) };
}

/** Joins host, path and query into an address; without a host it begins with a slash. */
export function addressOf(
  host: string | null,
  path: string | null,
  query: string | null,
): string | null {
  if (host === null && path === null) return null;
  const rest = path === null || path.startsWith("/") ? path ?? "/" : `/${path}`;
  const search = query === null ? "" : query.startsWith("?") ? query : `?${query}`;
  const hashAt = rest.indexOf("#");
  // The query comes before a fragment.
  const address = hashAt < 0 || search === ""
    ? `${rest}${search}`
    : `${rest.slice(0, hashAt)}${search}${rest.slice(hashAt)}`;
  return host === null ? address : `https://${host}${address}`;
}
