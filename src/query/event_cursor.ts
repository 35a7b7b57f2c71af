import { CURSOR_LENGTH_MAX, TAIL_CURSOR_AGE_MS_MAX, TIMESTAMP_MS_MIN } from "../limits.ts";
import { Problem } from "../problem.ts";
import { givenText, invalidCursor, invalidParameter } from "./parameters.ts";

/** Where a page ended. */
export interface PageCursor {
  /** The time of its last event; for a page of a tail, when the poll's first page was read. */
  readonly at: string;
  /** Its last event. */
  readonly eventId: string;
  /** Null: the page is not one of a tail. */
  readonly tail: TailPage | null;
}

/** Where a page of a tail ended. */
export interface TailPage {
  /** The snapshot in which the poll's first page was read. */
  readonly snapshot: string;
  /** The row of the journal that holds the page's last event. */
  readonly journalId: number;
  readonly eventId: string;
}

/** What a live tail has seen: everything visible in `snapshot`, a PostgreSQL snapshot taken at `at`. */
export interface TailCursor {
  readonly at: string;
  /** Null where the caller named a time instead: everything received since. */
  readonly snapshot: string | null;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const JOURNAL_ID = /^\d{1,15}$/;
/** `xmin:xmax:xip,…` as pg_snapshot prints it; its numbers fit 63 bits. */
const SNAPSHOT = /^(\d{1,18}):(\d{1,18}):(\d{1,18}(?:,\d{1,18})*)?$/;

function encode(parts: readonly string[]): string {
  return btoa(parts.join("|")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

function decode(text: string): string[] | null {
  if (text.length > CURSOR_LENGTH_MAX || !/^[\w-]+$/.test(text)) return null;
  try {
    return atob(text.replace(/-/g, "+").replace(/_/g, "/")).split("|");
  } catch {
    return null;
  }
}

/** Whether PostgreSQL accepts a snapshot: `0 < xmin <= xip < xmax` (or `xmin = xmax`), each xip above the last. */
function isSnapshot(text: string): boolean {
  const parts = SNAPSHOT.exec(text);
  if (parts === null) return false;
  const xmin = BigInt(parts[1]!);
  const xmax = BigInt(parts[2]!);
  if (xmin < 1n || xmin > xmax) return false;
  let last = xmin - 1n;
  for (const running of parts[3]?.split(",") ?? []) {
    const id = BigInt(running);
    if (id <= last || id >= xmax) return false;
    last = id;
  }
  return true;
}

/** Returns an instant in ISO form, UTC; null: the text is not one, or of a year before 0001 or after 9999. */
function instant(text: string | undefined): string | null {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text)) return null;
  try {
    // Not parsed by Date, which turns the 30th of February into the 2nd of March.
    const date = new Date(Temporal.Instant.from(text).epochMilliseconds);
    return date.getTime() >= TIMESTAMP_MS_MIN ? date.toISOString() : null;
  } catch {
    return null;
  }
}

export function encodePageCursor({ at, eventId, tail }: PageCursor): string {
  const ofTail = tail === null ? [] : [tail.snapshot, String(tail.journalId)];
  return encode(["p", at, eventId, ...ofTail]);
}

export function encodeTailCursor({ at, snapshot }: TailCursor): string {
  return encode(["t", at, snapshot ?? ""]);
}

/** Reads `cursor`; null where it is not given. */
export function readPageCursor(query: URLSearchParams): PageCursor | null {
  const value = givenText(query, "cursor");
  if (value === null) return null;
  const [kind, time, eventId = "", snapshot = null, row = "0"] = decode(value) ?? [];
  const at = instant(time);
  const sane = snapshot === null || isSnapshot(snapshot) && JOURNAL_ID.test(row);
  if (kind !== "p" || at === null || !UUID.test(eventId) || !sane) throw invalidCursor();
  const tail = snapshot === null ? null : { snapshot, journalId: Number(row), eventId };
  return { at, eventId, tail };
}

/** Makes the Problem of an `after` that is older than the journal's oldest events. */
export function cursorExpired(): Problem {
  const message = "This is more than 48 hours ago: " +
    "read the list, and go on with the `tailCursor` of its reply.";
  const errors = [{ field: "after", code: "cursor_expired", message }];
  return new Problem("cursor_expired", `after: ${message}`, { errors });
}

/**
 * Reads `after`: a `tailCursor`, or an instant.
 * @throws Problem `invalid_parameter`; `cursor_expired` for a cursor too long before `asOfMs`
 */
export function readTailCursor(query: URLSearchParams, asOfMs: number): TailCursor | null {
  const value = givenText(query, "after");
  if (value === null) return null;
  const named = instant(value);
  if (named !== null) return { at: named, snapshot: null };
  const [kind, time, snapshot = ""] = decode(value) ?? [];
  const at = instant(time);
  if (kind !== "t" || at === null || !isSnapshot(snapshot)) {
    const usage = "Use a `tailCursor`, or an instant such as 2026-01-31T12:00:00Z.";
    throw invalidParameter("after", usage);
  }
  if (Date.parse(at) < asOfMs - TAIL_CURSOR_AGE_MS_MAX) throw cursorExpired();
  return { at, snapshot };
}
