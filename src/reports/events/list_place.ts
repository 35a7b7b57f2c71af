import type { PageCursor } from "../../query/event_cursor.ts";
import { type Range, spanOf } from "../../query/range.ts";
import type { Span } from "../../query/selection.ts";

/** A place in the list of events, which is newest first, ties by id, the greatest first. */
export interface ListPlace {
  readonly ms: number;
  /** Events of the millisecond with a smaller id come after the place; null: none do. */
  readonly id: string | null;
}

/** Returns the span of a list, and the place in it where a page begins. */
export function listedFrom(range: Range, cursor: PageCursor | null) {
  const span = spanOf(range);
  const isWithin = cursor !== null && Date.parse(cursor.at) < span.toMs;
  const place: ListPlace = isWithin
    ? { ms: Date.parse(cursor.at), id: cursor.eventId }
    : { ms: span.toMs, id: null };
  return { span, place };
}

/** Returns the part of a span that may have events after a place in the list. */
export function spanAfter({ fromMs }: Span, { ms, id }: ListPlace): Span {
  return { fromMs, toMs: id === null ? ms : ms + 1 };
}
