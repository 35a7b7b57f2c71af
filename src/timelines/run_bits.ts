import { placeFrom } from "./ascending.ts";
import type { IntegerColumn } from "../store/integer_codec.ts";

/** Set if one of the run's events is a bot's. */
export const BOT_BIT = 1;

/** Returns the bit of a name in `runBits`, which other names share. */
export function nameBit(name: number): number {
  return 2 << name % 15;
}

/** Returns the bit of a path in `runBits`, which other paths share; path 0 is no path. */
export function pathBit(path: number): number {
  return 0x1_0000 << path % 16;
}

/** Returns the bits of the ids with 1 at their place; null: all bits. */
export function bitsOfPassing(passes: Uint8Array | null, bitOf: (id: number) => number): number {
  return passes?.reduce((bits, one, id) => one === 1 ? bits | bitOf(id) : bits, 0) ?? -1;
}

/** What the bits of runs are made from: see `SegmentColumns`. */
interface RunColumns {
  readonly starts: Uint32Array;
  readonly runBits: Int32Array;
  readonly names: IntegerColumn;
  readonly paths: IntegerColumn;
  readonly contexts: IntegerColumn;
}

/** Adds the bits of the events from `first` to before `end` to those of their runs. */
export function addRunBits(
  { runBits, names, paths, contexts, starts }: RunColumns,
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
    if (isWhole) runBits[run] = bits;
    // Another thread may add the rest of the run.
    else Atomics.or(runBits, run, bits);
  }
}
