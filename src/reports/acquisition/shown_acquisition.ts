import type { Read } from "../../scans/read.ts";
import { rolledSpan } from "../rollups/rolled_span.ts";
import { smallPlaces } from "../answer/small_groups.ts";
import { type AcquisitionQuestion, scanAcquisition } from "./acquisition_scan.ts";
import { type AcquisitionTally, WHOLE } from "./acquisition_tally.ts";
import { readRolledAcquisition } from "./rolled_acquisition.ts";

export interface ShownTally {
  readonly tally: AcquisitionTally;
  /** The place of `$other`, the sum of all values with too few visitors for a share; null: there are none. */
  readonly other: number | null;
}

/** Counts from the rollups if whole days of all visitors without a goal are asked for, else in a scan. */
async function tallyOf(read: Read, question: AcquisitionQuestion): Promise<AcquisitionTally> {
  const { project: { timezone }, range } = read;
  const rolled = question.goal === null ? rolledSpan(question.scope, { timezone }, range) : null;
  return rolled !== null && rolled.tail === null
    ? await readRolledAcquisition(read.sql, rolled, question.by)
    : await scanAcquisition(read, question);
}

/**
 * Counts all values. For a share a second scan counts the values of too few visitors as one, because their
 * counts do not say how many visitors two values have in common.
 */
export async function shownAcquisition(
  read: Read,
  question: AcquisitionQuestion,
): Promise<ShownTally> {
  if (read.visitorsMin === 1) return { tally: await tallyOf(read, question), other: null };
  const single = await scanAcquisition(read, question);
  const visitors = new Map<number, number>();
  for (const [place, sessions] of single.sums.sessions.entries()) {
    if (place !== WHOLE && sessions > 0) visitors.set(place, single.sums.visitors[place]!);
  }
  const folded = smallPlaces(visitors, read.visitorsMin);
  const [other = null] = folded;
  return { tally: other === null ? single : await scanAcquisition(read, question, folded), other };
}
