import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { EventTest } from "../../scans/event_test.ts";
import { numberAt } from "../../scans/number_columns.ts";
import type { ScannedSession } from "../../scans/session_scan.ts";
import type { AcquisitionTally } from "./acquisition_tally.ts";

/** Counts the events of a goal in sessions, and sums its property over them. */
export class ConversionWorth {
  readonly #test: EventTest;
  /** Null: each conversion is worth the same. */
  readonly #property: string | null;
  readonly #tally: AcquisitionTally;
  #actor = -1;
  #place = 0;
  #count = 0;
  readonly #visitSlice = (segment: LoadedSegment, start: number, end: number) =>
    this.#follow(segment, start, end);

  /** @param property its numbers must be prepared: see `prepareNumbers` */
  constructor(test: EventTest, property: string | null, tally: AcquisitionTally) {
    this.#test = test;
    this.#property = property;
    this.#tally = tally;
  }

  /** Adds the conversions of a session at a place. @returns whether there are any */
  add(session: ScannedSession, place: number): boolean {
    this.#actor = session.actor;
    this.#place = place;
    this.#count = 0;
    session.forEachSlice(this.#visitSlice);
    this.#tally.sums.totalConversions[place]! += this.#count;
    return this.#count > 0;
  }

  #follow(segment: LoadedSegment, start: number, end: number): void {
    const { names, paths, contexts, traffics, filterBits } = segment;
    for (let at = start; at < end; at++) {
      if (traffics[at] === 0) continue;
      if (!this.#test.passes(names[at]!, paths[at]!, contexts[at]!, this.#actor, filterBits[at]!)) {
        continue;
      }
      this.#count++;
      if (this.#property === null) continue;
      const number = numberAt(segment, this.#property, at);
      if (number !== null) this.#tally.amounts.add(this.#place, number);
    }
  }
}
