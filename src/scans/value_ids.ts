import type { IntegerColumn } from "../store/integer_codec.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";

/** Where the ids of a field's values stand: in a column of all reads, with the actor, or in a lazy column. */
export type IdSource = "name" | "path" | "context" | "actor" | (string & Record<never, never>);

/** No event, session or user has it, so its value is missing. */
export const NO_ID = 0;
/** A column of ids that the read made itself. */
export const MADE_IDS = "made ids";

/** The id of each event of a segment; null: it is that of the event's actor. */
export type IdsOf = (segment: LoadedSegment) => IntegerColumn | null;

/** A column that is empty yet, as wide as ids up to `idMax` need. */
export function emptyIds(idMax: number, events: number): IntegerColumn {
  if (idMax <= 0xff) return new Uint8Array(events);
  return idMax <= 0xffff ? new Uint16Array(events) : new Int32Array(events);
}

/** Where the ids of segments stand. */
export function idsFrom(source: IdSource): IdsOf {
  switch (source) {
    case "name":
      return ({ names }) => names;
    case "path":
      return ({ paths }) => paths;
    case "context":
      return ({ contexts }) => contexts;
    case "actor":
      return () => null;
  }
  // Mostly the same segment is asked for again.
  let last: LoadedSegment | null = null;
  let ids: IntegerColumn | null = null;
  return (segment) => {
    if (segment !== last) {
      last = segment;
      ids = segment.column(source) as IntegerColumn;
    }
    return ids;
  };
}
