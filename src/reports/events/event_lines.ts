import { EXPORT_CHUNK_ROWS } from "../../limits.ts";
import type { EventRow } from "../../store/event_row.ts";
import { shownEvent } from "../shown_event.ts";

/** The line of an event. */
export const lineOf = (row: EventRow): string => `${JSON.stringify(shownEvent(row))}\n`;

/** The lines of a page, a chunk at a time. */
export function* chunked(rows: readonly EventRow[]): Generator<string> {
  for (let from = 0; from < rows.length; from += EXPORT_CHUNK_ROWS) {
    yield rows.slice(from, from + EXPORT_CHUNK_ROWS).map(lineOf).join("");
  }
}
