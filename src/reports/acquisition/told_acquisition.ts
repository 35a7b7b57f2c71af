import type { Read } from "../../scans/read.ts";
import { rolledSpan } from "../rollups/rolled_span.ts";
import { smallPlaces } from "../answer/small_groups.ts";
import { type Asked, scanAcquisition } from "./acquisition_scan.ts";
import { type AcquisitionTally, WHOLE } from "./acquisition_tally.ts";
import { readRolledAcquisition } from "./rolled_acquisition.ts";

export interface ToldTally {
  readonly tally: AcquisitionTally;
  /** The place at which all values stand that are too small to be told; null: there are none. */
  readonly other: number | null;
}

/** From the rollups, where whole days of all visitors are asked for and no conversions; else by a scan. */
async function tallyOf(read: Read, asked: Asked): Promise<AcquisitionTally> {
  const { project: { timezone }, range } = read;
  const rolled = asked.goal === null ? rolledSpan(asked.scope, { timezone }, range) : null;
  return rolled !== null && rolled.tail === null
    ? await readRolledAcquisition(read.sql, rolled, asked.by)
    : await scanAcquisition(read, asked);
}

/**
 * What the values come to. Where small groups are not told, a second scan counts them as one: whom
 * two values share does not follow from what each has.
 */
export async function toldAcquisition(read: Read, asked: Asked): Promise<ToldTally> {
  if (read.visitorsMin === 1) return { tally: await tallyOf(read, asked), other: null };
  const single = await scanAcquisition(read, asked);
  const visitors = new Map<number, number>();
  for (const [place, sessions] of single.sums.sessions.entries()) {
    if (place !== WHOLE && sessions > 0) visitors.set(place, single.sums.visitors[place]!);
  }
  const folded = smallPlaces(visitors, read.visitorsMin);
  const [other = null] = folded;
  return { tally: other === null ? single : await scanAcquisition(read, asked, folded), other };
}
