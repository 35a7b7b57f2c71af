import { EXPORT_CHUNK_ROWS, EXPORT_HANDED_BYTES } from "../../limits.ts";
import type { EventRow } from "../../store/event_row.ts";
import { shownEvent } from "../shown/shown_event.ts";

/** Returns the NDJSON line of an event. */
export const lineOf = (row: EventRow): string => `${JSON.stringify(shownEvent(row))}\n`;

/** Yields the lines of a page, one chunk at a time. */
export function* chunked(rows: readonly EventRow[]): Generator<string> {
  let lines: string[] = [];
  let length = 0;
  for (const row of rows) {
    const line = lineOf(row);
    if (lines.length === EXPORT_CHUNK_ROWS || length + line.length > EXPORT_HANDED_BYTES) {
      if (lines.length > 0) yield lines.join("");
      lines = [];
      length = 0;
    }
    lines.push(line);
    length += line.length;
  }
  if (lines.length > 0) yield lines.join("");
}
