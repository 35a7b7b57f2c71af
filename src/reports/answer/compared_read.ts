import { z } from "zod";
import type { Read } from "../../scans/read.ts";
import { SegmentShown } from "../saved/segment_definitions.ts";

/**
 * Returns the read to compare with: the same question for another range or another segment; null: nothing is
 * compared. For another range, the actors of a segment are chosen anew.
 */
export function comparedRead(read: Read): Read | null {
  const { comparison } = read;
  if (comparison === null) return null;
  return read.compared ?? { ...read, range: comparison, comparison: null };
}

/** Members of a reply that describe what it is compared with. */
export const COMPARED_SHOWN = {
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  segment: SegmentShown.optional().meta({ description: "If segments are compared" }),
};

/** Returns the range that a read is compared with, and the segment if `compare` names one. */
export function comparedSaid(read: Read, compared: Read) {
  const { range: { from, to }, segment } = compared;
  const named = read.comparedBy === "segment" && segment !== undefined ? { segment } : {};
  return { from: from.toISOString(), to: to.toISOString(), ...named };
}

/** Figures of the read compared with, and how those of the read changed against them. */
interface Comparison {
  readonly previous: Readonly<Record<string, unknown>>;
  readonly change: unknown;
}

/**
 * Returns `previous` and `change` of a reply; neither if nothing is compared.
 * @param compare returns null if there is nothing to show of the read compared with
 */
export async function comparisonOf(
  read: Read,
  compare: (compared: Read) => Promise<Comparison | null>,
): Promise<Partial<Comparison>> {
  const compared = comparedRead(read);
  const found = compared && await compare(compared);
  if (compared === null || found === null) return {};
  const { previous, change } = found;
  return { previous: { ...comparedSaid(read, compared), ...previous }, change };
}
