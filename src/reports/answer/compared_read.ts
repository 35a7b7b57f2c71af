import { z } from "zod";
import { bucketsOf } from "../../query/buckets.ts";
import type { Read, SharedRead } from "../../scans/read.ts";
import { SegmentShown } from "../saved/segment_definitions.ts";

/**
 * The read that a read is compared with: the same question of another range, or of another segment;
 * null where nothing is compared. Who is of a segment is told anew for another range.
 */
export function comparedRead(read: Read): Read | null {
  const { comparison } = read;
  if (comparison === null) return null;
  return read.compared ?? { ...read, range: comparison, comparison: null };
}

/** Both ranges have a series. Throws `range_too_large`. */
export function refuseManyBuckets({ range, comparison, interval }: SharedRead): void {
  bucketsOf(range, interval);
  if (comparison !== null) bucketsOf(comparison, interval);
}

/** What a reply says beside the figures that it compares with. */
export const COMPARED_SHOWN = {
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  segment: SegmentShown.optional().meta({ description: "Where segments are compared" }),
};

/** The range of the figures that are compared with, and their segment where `compare` names one. */
export function comparedSaid(read: Read, compared: Read) {
  const { range: { from, to }, segment } = compared;
  const named = read.comparedBy === "segment" && segment !== undefined ? { segment } : {};
  return { from: from.toISOString(), to: to.toISOString(), ...named };
}
