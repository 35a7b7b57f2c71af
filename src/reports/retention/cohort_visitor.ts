import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { EventMasks } from "../../scans/event_masks.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { SpanFinder } from "../../scans/span_finder.ts";
import {
  addColumns,
  followRuns,
  joinColumns,
  type Visitor,
  type VisitorKind,
} from "../../scans/visitor.ts";
import { type Behind, BehindTally } from "../behind/behind_tally.ts";

/** Which cohorts an actor is in, and which returns count. */
export interface CohortRules {
  /** Whether an actor is in the cohort of the first start event ever only, or in that of each start event. */
  readonly cohort: "first" | "recurring";
  readonly criterion: "on" | "on_or_after";
  /** Cells of a cohort, period 0 included. */
  readonly cellCount: number;
  readonly cohortCount: number;
  /** Events from this moment on do not count. */
  readonly returnsToMs: number;
}

/** The cohorts of a question, with names and filters as ids. */
export interface CohortInputs extends CohortRules {
  readonly scope: EventPasses;
  readonly start: EventPasses;
  readonly back: EventPasses;
  /** Whole periods without gaps: those of the cohorts, then those of cells only. */
  readonly periods: readonly Span[];
  /** The cohort or cell whose members are listed; null: none. */
  readonly listed: ListedCohort | null;
  /** The cohorts that are also counted as one; null: none. */
  readonly united: UnitedCohorts | null;
}

/** Cohorts that are counted as one: an actor of several of them is one of its actors. */
export interface UnitedCohorts {
  /** By cohort: 1 if it is one of them. */
  readonly isUnited: Uint8Array;
  /** Cells in later periods do not count. */
  readonly periodCount: number;
}

/** A cell of a cohort, both counted from 0; period null: the whole cohort. */
interface ListedCohort {
  readonly cohort: number;
  readonly period: number | null;
}

export interface CohortCounts {
  /** By the cohort's period. */
  readonly sizes: Int32Array;
  /** The cells of all cohorts, one after the other. */
  readonly cells: Int32Array;
  /** The listed members, each at the first start event in the cohort's period. */
  readonly members: Behind;
  /** The actors of the united cohorts; by cell those whose cell counts, then those who returned in it. */
  readonly united: Int32Array;
}

/** Bits of an event: whether it is a start event, and a return. */
const START = 1;
const RETURN = 2;

/** Finds which of these bits events have. */
class CohortMasks extends EventMasks {
  constructor(scope: EventTest, readonly start: EventTest, readonly back: EventTest) {
    super(scope, [{ bit: START, test: start }, { bit: RETURN, test: back }]);
  }

  /** Asks the two tests one by one: a loop over them takes a tenth of the scan's time. */
  override narrow(
    wanted: number,
    _name: number,
    path: number,
    context: number,
    actor: number,
    eventBits: number,
  ): number {
    if (!this.scope.passesBeyondName(path, context, actor, eventBits)) return 0;
    let mask = wanted;
    if ((mask & START) !== 0 && !this.start.passesBeyondName(path, context, actor, eventBits)) {
      mask &= ~START;
    }
    if ((mask & RETURN) !== 0 && !this.back.passesBeyondName(path, context, actor, eventBits)) {
      mask &= ~RETURN;
    }
    return mask;
  }
}

/** Follows one actor after the other, keeping only the periods with a start event and with a return. */
class CohortVisitor implements Visitor<CohortCounts> {
  readonly #masks: CohortMasks;
  readonly #periods: SpanFinder;
  readonly #sizes: Int32Array;
  /** The cells of all cohorts, one after the other. */
  readonly #cells: Int32Array;
  readonly #members = new BehindTally();
  readonly #united: Int32Array;
  /** By period: whether the actor returned in it. */
  readonly #isReturn: Uint8Array;

  /** The actor's periods with a start event, and with a return, in order. */
  readonly #starts: Int32Array;
  /** The time of the first start event in each period of `#starts`. */
  readonly #startsMs: Float64Array;
  readonly #returns: Int32Array;
  #startCount = 0;
  #returnCount = 0;
  /** The current period; -1: before the first. */
  #period = -1;
  /** When `#wanted` changes next. */
  #endMs = 0;
  /** The bits that matter in the current period and have not occurred in it. */
  #wanted = 0;

  constructor(private readonly inputs: CohortInputs, words: readonly Int32Array[]) {
    const { periods, cohortCount, cellCount } = inputs;
    const [scope, start, back] = [inputs.scope, inputs.start, inputs.back]
      .map((passes) => new EventTest(passes, words));
    this.#masks = new CohortMasks(scope!, start!, back!);
    this.#periods = new SpanFinder(periods);
    this.#sizes = new Int32Array(cohortCount);
    this.#cells = new Int32Array(cohortCount * cellCount);
    this.#starts = new Int32Array(cohortCount);
    this.#startsMs = new Float64Array(cohortCount);
    this.#returns = new Int32Array(periods.length + 1);
    this.#united = new Int32Array(inputs.united === null ? 0 : 1 + 2 * cellCount);
    this.#isReturn = new Uint8Array(inputs.united === null ? 0 : periods.length);
  }

  result(): CohortCounts {
    const members = this.#members.all();
    return { sizes: this.#sizes, cells: this.#cells, members, united: this.#united };
  }

  visit(actor: number, timeline: Timeline): void {
    const { cohort, returnsToMs } = this.inputs;
    this.#startCount = 0;
    this.#returnCount = 0;
    this.#period = -1;
    this.#endMs = Math.min(this.#periods.fromMs, returnsToMs);
    this.#wanted = cohort === "first" ? START : 0;
    followRuns(actor, timeline, this.#follow);
    if (this.#startCount === 0) return;
    this.#count();
    const { listed, united } = this.inputs;
    if (listed !== null) this.#list(actor, listed);
    if (united !== null) this.#unite(united);
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    let endTime = this.#endMs - fromMs;
    let wanted = this.#wanted;
    if (wanted === 0 && times[end - 1]! < endTime) return;
    const masks = this.#masks;
    const { possible, isNarrowed } = masks;
    const { contextMin, contextMax } = masks.scope;
    for (let at = start; at < end; at++) {
      const time = times[at]!;
      if (time >= endTime) {
        this.#enter(fromMs + time);
        endTime = this.#endMs - fromMs;
        wanted = this.#wanted;
      }
      const name = names[at]!;
      let found = possible[name]! & wanted;
      if (found === 0) continue;
      const context = contexts[at]!;
      if (context < contextMin || context > contextMax) continue;
      if (isNarrowed) {
        found = masks.narrow(found, name, paths[at]!, context, actor, filterBits[at]!);
      }
      if (found === 0) continue;
      this.#keep(found, fromMs + time);
      endTime = this.#endMs - fromMs;
      wanted = this.#wanted;
    }
  };

  #enter(ms: number): void {
    const { cohort, cohortCount, returnsToMs } = this.inputs;
    if (ms >= returnsToMs) return this.#leave();
    const period = this.#periods.at(ms);
    const isOfCohorts = period < cohortCount;
    if (!isOfCohorts && this.#startCount === 0) return this.#leave();
    this.#period = period;
    this.#endMs = Math.min(this.#periods.toMsOf(period), returnsToMs);
    const startsOnce = cohort === "first" && this.#startCount > 0;
    this.#wanted = isOfCohorts && !startsOnce ? START | RETURN : RETURN;
  }

  #keep(found: number, ms: number): void {
    if ((found & START) !== 0) {
      // The first start event ever was before the range: the actor is in no cohort.
      if (this.#period < 0) return this.#leave();
      this.#startsMs[this.#startCount] = ms;
      this.#starts[this.#startCount++] = this.#period;
    }
    if ((found & RETURN) !== 0) this.#returns[this.#returnCount++] = this.#period;
    this.#wanted &= ~found;
  }

  /** Ignores everything that the actor does from here on. */
  #leave(): void {
    this.#endMs = Infinity;
    this.#wanted = 0;
  }

  #count(): void {
    const { criterion, cellCount } = this.inputs;
    const returns = this.#returns;
    const returnCount = this.#returnCount;
    const cells = this.#cells;
    const last = returnCount === 0 ? -1 : returns[returnCount - 1]!;
    let next = 0;
    for (let i = 0; i < this.#startCount; i++) {
      const cohort = this.#starts[i]!;
      this.#sizes[cohort]!++;
      if (last < cohort) continue;
      const base = cohort * cellCount;
      if (criterion === "on_or_after") {
        cells[base + Math.min(last - cohort, cellCount - 1)]!++;
        continue;
      }
      while (returns[next]! < cohort) next++;
      for (let r = next; r < returnCount && returns[r]! - cohort < cellCount; r++) {
        cells[base + returns[r]! - cohort]!++;
      }
    }
  }

  /** Counts the actor once for all united cohorts that it is in. */
  #unite({ isUnited, periodCount }: UnitedCohorts): void {
    const { criterion, cellCount } = this.inputs;
    const starts = this.#starts.subarray(0, this.#startCount)
      .filter((cohort) => isUnited[cohort] === 1);
    if (starts.length === 0) return;
    const returns = this.#returns.subarray(0, this.#returnCount);
    const last = returns.at(-1) ?? -1;
    const isReturn = this.#isReturn.fill(0);
    for (const period of returns) isReturn[period] = 1;
    this.#united[0]!++;
    for (let k = 0; k < cellCount; k++) {
      const counting = starts.filter((cohort) => cohort + k < periodCount);
      if (counting.length === 0) return;
      this.#united[1 + k]!++;
      const isBack = criterion === "on"
        ? counting.some((cohort) => isReturn[cohort + k] === 1)
        : last >= counting[0]! + k;
      if (isBack) this.#united[1 + cellCount + k]!++;
    }
  }

  #list(actor: number, { cohort, period }: ListedCohort): void {
    const { criterion } = this.inputs;
    const start = this.#starts.subarray(0, this.#startCount).indexOf(cohort);
    if (start === -1) return;
    const returns = this.#returns.subarray(0, this.#returnCount);
    const isMember = period === null ||
      (criterion === "on"
        ? returns.includes(cohort + period)
        : (returns.at(-1) ?? -1) >= cohort + period);
    if (isMember) this.#members.add(actor, this.#startsMs[start]!);
  }
}

export const COHORT_COUNTS: VisitorKind<CohortInputs, CohortCounts> = {
  name: "cohorts",
  create: (inputs, words) => new CohortVisitor(inputs, words),
  merge: ({ members, ...counts }, { members: others, ...more }) => ({
    ...addColumns(counts, more),
    members: joinColumns(members, others),
  }),
};
