import type { IntegerColumn } from "../store/integer_codec.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { type Take, zeros } from "../timelines/shared_memory.ts";

/** Where the ids of a field's values are: in a column of all reads, the actors' ids, or a lazy column's name. */
export type IdSource = "name" | "path" | "context" | "actor" | (string & Record<never, never>);

/** Stands for a missing value: no event, session or user has this id. */
export const NO_ID = 0;
/** The lazy column of ids that the read itself writes. */
export const MADE_IDS = "made ids";

/** Returns the id of each event of a segment; null: the ids are those of the actors. */
export type IdsOf = (segment: LoadedSegment) => IntegerColumn | null;

/** Makes a column of zeros, as wide as ids up to `idMax` need. */
export function emptyIds(take: Take, idMax: number, events: number): IntegerColumn {
  if (idMax <= 0xff) return zeros(take, Uint8Array, events);
  if (idMax <= 0xffff) return zeros(take, Uint16Array, events);
  return zeros(take, Int32Array, events);
}

/** Returns how to get the ids of a segment's events. */
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
  // Visitors mostly ask for the same segment again.
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
