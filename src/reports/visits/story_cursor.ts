import { type PageCursor, readPageCursor } from "../../query/event_cursor.ts";
import { invalidCursor } from "../../query/parameters.ts";

/** `cursor` of a list of events that is no tail; null where it is not given. */
export function readStoryCursor(query: URLSearchParams): PageCursor | null {
  const cursor = readPageCursor(query);
  if (cursor === null || cursor.tail === null) return cursor;
  throw invalidCursor();
}
