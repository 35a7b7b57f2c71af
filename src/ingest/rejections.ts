import { IDENTIFIER_LENGTH_MAX } from "../limits.ts";
import type { EventRow } from "../store/event_row.ts";
import type { Members } from "../json_text.ts";
import type { Rejection } from "./event_schema.ts";

/** Returns the rejection of the event at `index` of a request, for what `error` tells. */
export function rejectionAt<Code extends string>(
  index: number,
  event: unknown,
  { code, field, message }: {
    readonly code: Code;
    readonly field: string;
    readonly message: string;
  },
) {
  const named = (event as Members | null | undefined)?.eventId;
  const isShown = typeof named === "string" && named.length <= IDENTIFIER_LENGTH_MAX;
  return {
    index,
    eventId: isShown ? named.toWellFormed() : null,
    code,
    field,
    message,
  };
}

/** The events of a request: rows to store, and rejections. */
export interface ReadBatch<R> {
  readonly rows: EventRow[];
  /** The index in the request of each row. */
  readonly indexes: number[];
  readonly rejected: R[];
}

/** Returns all rejections, the database's included, in the order of the request. */
export function withRefused<R extends { readonly index: number }>(
  { rows, indexes, rejected }: ReadBatch<R>,
  refused: ReadonlySet<string>,
): (R | Rejection)[] {
  if (refused.size === 0) return rejected;
  const message = "The database cannot hold this event.";
  const late = rows.flatMap(({ event_id }, i): Rejection[] =>
    refused.has(event_id)
      ? [{ index: indexes[i]!, eventId: event_id, code: "refused", field: "", message }]
      : []
  );
  return [...rejected, ...late].sort((a, b) => a.index - b.index);
}
