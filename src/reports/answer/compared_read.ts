import { z } from "zod";
import type { Read } from "../../scans/read.ts";
import { SegmentShown } from "../saved/segment_definitions.ts";

/** Members of a reply that describe what it is compared with. */
export const COMPARED_SHOWN = {
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  segment: SegmentShown.optional().describe("If segments are compared"),
};

/** Figures of the read compared with, and how those of the read changed against them. */
interface Comparison {
  readonly previous: Readonly<Record<string, unknown>>;
  readonly change: unknown;
}

/**
 * Returns `previous` and `change` of a reply; neither if nothing is compared.
 * @param compare gets the same question for another range or another segment; for another range, the actors of a
 * segment are chosen anew. Returns null if there is nothing to show of it
 */
export async function comparisonOf(
  read: Read,
  compare: (compared: Read) => Promise<Comparison | null>,
): Promise<Partial<Comparison>> {
  const { comparison, comparedBy } = read;
  if (comparison === null) return {};
  const compared = read.compared ?? { ...read, range: comparison, comparison: null };
  const found = await compare(compared);
  if (found === null) return {};
  const { range: { from, to }, segment } = compared;
  const named = comparedBy === "segment" && segment !== undefined ? { segment } : {};
  const said = { from: from.toISOString(), to: to.toISOString(), ...named };
  return { previous: { ...said, ...found.previous }, change: found.change };
}
