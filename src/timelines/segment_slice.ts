import type { Blocks } from "../store/segment_head.ts";
import type { IntegerColumn } from "../store/integer_codec.ts";
import type { StoredHead } from "../store/stored_segments.ts";
import type { SegmentColumns } from "./hot_columns.ts";
import { PropertyColumn } from "./property_columns.ts";

/** Some events of a segment: those of some of its blocks, and of them those of some identities. */
export interface SegmentSlice {
  readonly stored: StoredHead;
  readonly blocks: Blocks;
  /** The place in the segment of the blocks' first event. */
  readonly firstPlace: number;
  /** Which events of the blocks these are, ascending. */
  readonly picked: Uint32Array;
}

function pickedIntegers<C extends IntegerColumn | Uint32Array>(column: C, picked: Uint32Array): C {
  const Column = column.constructor as { new (length: number): C };
  const own = new Column(picked.length);
  for (let i = 0; i < picked.length; i++) own[i] = column[picked[i]!]!;
  return own;
}

/** A lazy column of the events that were picked. */
export function pickedLazy(column: object, picked: Uint32Array): object {
  if (column instanceof PropertyColumn) return column.picked(picked);
  const values = column as IntegerColumn;
  if (values.length === 0 || picked.length === 0) return values.subarray(0, 0);
  return pickedIntegers(values, picked);
}

/** Ids of 16 bytes of the events that were picked. */
export function pickedIds(ids: Uint8Array, picked: Uint32Array): Uint8Array {
  const own = new Uint8Array(16 * picked.length);
  for (let i = 0; i < picked.length; i++) {
    own.set(ids.subarray(16 * picked[i]!, 16 * picked[i]! + 16), 16 * i);
  }
  return own;
}

/** Which events are of identities that are kept. */
export function pickedOf(
  { identities, starts }: Pick<SegmentColumns, "identities" | "starts">,
  keeps: (identity: number) => boolean,
): Uint32Array {
  let length = 0;
  const kept = new Uint8Array(identities.length);
  for (let run = 0; run < kept.length; run++) {
    if (!keeps(identities[run]!)) continue;
    kept[run] = 1;
    length += starts[run + 1]! - starts[run]!;
  }
  const picked = new Uint32Array(length);
  let i = 0;
  for (let run = 0; run < kept.length; run++) {
    if (kept[run] === 0) continue;
    for (let at = starts[run]!; at < starts[run + 1]!; at++) picked[i++] = at;
  }
  return picked;
}

function pickedRuns(
  { identities, starts }: SegmentColumns,
  picked: Uint32Array,
): Pick<SegmentColumns, "identities" | "starts"> {
  const ownIdentities: number[] = [];
  const ownStarts: number[] = [];
  for (let i = 0, run = 0; i < picked.length; run++) {
    if (picked[i] !== starts[run]) continue;
    ownIdentities.push(identities[run]!);
    ownStarts.push(i);
    i += starts[run + 1]! - starts[run]!;
  }
  ownStarts.push(picked.length);
  return { identities: Int32Array.from(ownIdentities), starts: Uint32Array.from(ownStarts) };
}

/** The columns of the events that were picked, of identities as wholes. */
export function pickedColumns(columns: SegmentColumns, picked: Uint32Array): SegmentColumns {
  const { fromMs, toMs, times, names, paths, contexts, traffics, passives } = columns;
  return {
    fromMs,
    toMs,
    ...pickedRuns(columns, picked),
    times: pickedIntegers(times, picked),
    names: pickedIntegers(names, picked),
    paths: pickedIntegers(paths, picked),
    contexts: pickedIntegers(contexts, picked),
    traffics: pickedIntegers(traffics, picked),
    passives: passives.length === 0 ? passives : pickedIntegers(passives, picked),
  };
}
