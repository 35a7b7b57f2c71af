import { placeFrom } from "./ascending.ts";
import type { IntegerColumn } from "../store/integer_codec.ts";

/** Set where one of a run's events is a bot's. */
export const BOT_BIT = 1;

/** What stands for a name in `nameBits`: several names share a bit. */
export function nameBit(name: number): number {
  return 2 << name % 15;
}

/** What stands for a path there, 0 (none) among them: several share a bit. */
export function pathBit(path: number): number {
  return 0x1_0000 << path % 16;
}

/** What runs' bits are made of: see `SegmentColumns`. */
interface RunColumns {
  readonly starts: Uint32Array;
  readonly nameBits: Int32Array;
  readonly names: IntegerColumn;
  readonly paths: IntegerColumn;
  readonly contexts: IntegerColumn;
}

/** Adds the bits of the events from `first` to before `end` to those of their runs. */
export function addRunBits(
  { nameBits, names, paths, contexts, starts }: RunColumns,
  first: number,
  end: number,
): void {
  for (let run = placeFrom(starts, first + 1) - 1, at = first; at < end; run++) {
    const runEnd = Math.min(starts[run + 1]!, end);
    const isWhole = starts[run]! === at && runEnd === starts[run + 1]!;
    let bits = 0;
    for (; at < runEnd; at++) {
      bits |= nameBit(names[at]!) | pathBit(paths[at]!) | Number(contexts[at]! < 0);
    }
    if (isWhole) nameBits[run] = bits;
    // Another thread may have the rest of the run.
    else Atomics.or(nameBits, run, bits);
  }
}
