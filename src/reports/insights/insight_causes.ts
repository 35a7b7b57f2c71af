import {
  INSIGHT_CAUSE_SHARE,
  INSIGHT_CAUSES_MAX,
  INSIGHT_CHANGE_MIN,
  INSIGHT_COUNT_CHANGE_MIN,
  INSIGHT_FALSE_DISCOVERIES,
  INSIGHT_RATE_CHANGE_MIN,
} from "../../limits.ts";
import { rate } from "../answer/report.ts";
import { Change, type Sums } from "./insight_change.ts";
import type { Finding, Metric } from "./insight_findings.ts";
import {
  adjustedPValues,
  countDeviation,
  shareChange,
  studentTwoSided,
} from "./insight_statistics.ts";
import type { JointCells } from "./joint_cells.ts";

/** Findings with one cause: the one that tells it best, and the others. */
export interface Cause {
  readonly finding: Finding;
  /** By score. */
  readonly evidence: readonly Finding[];
}

/** Rates last: they follow from who came. */
const ORDER: readonly Metric[] = [
  "visitors",
  "sessions",
  "pageviews",
  "events",
  "conversions",
  "bounceRate",
];
/** Among slices alike the first is told: the most specific one. */
const NARROWEST: readonly (string | null)[] = [
  "campaign",
  "source",
  "entryPath",
  "channel",
  "country",
  "browser",
  "device",
  null,
];
const FREE = -1;

/** Work that yields now and then, so that others have their turn. */
export type Search<T> = Generator<void, T, void>;

/** The test that what is `hits` of `trials` moved otherwise than the rest, in standard errors, and its p-value. */
interface Contrast {
  readonly t: number;
  readonly pValue: number;
}

/**
 * Findings with one cause, as one. What is known of this: Bhagwan et al., Adtributor (NSDI 2014), take
 * the values that explain most of a change (explanatory power) and whose part of the whole changed
 * most (surprise); Sun et al., HotSpot (IEEE Access 2018), and Li et al., Squeeze (ISSRE 2019), hold
 * that what a cause moves it moves in proportion (ripple effect), so that what follows from a cause is
 * told from a cause of its own; scan statistics take the clearest one out and look again at what is
 * left (Zhang, Assunção and Kulldorff, 2010). Here:
 *
 * 1. Causes are found one by one, of visitors first. The next one is the value that moved most beyond
 *    all else that no cause holds yet, by the test of two shares; where none did, everything.
 * 2. A change is explained where two thirds of its excess lie in causes: of what lies in a broader
 *    cause as much as moved in proportion with it counts, of what lies in a narrower one all; and where
 *    a third does and the rest would be no finding. Each cell belongs to the narrowest cause that holds it.
 * 3. What is explained is evidence of the cause that explains most of it. A cause that the others
 *    explain is none.
 */
class CauseSearch {
  readonly #changes: readonly Change[];
  /** Chance may bring one in twenty of searches a cause too many. */
  readonly #pValueMax: number;
  #causes: Change[] = [];
  /** Of each cell the place of the narrowest cause that holds it, for counts and for rates. */
  #owners: { readonly ofCounts: Int32Array; readonly ofRates: Int32Array };
  /** Of each cause what it comes to at the cells that it owns. */
  #owned: readonly Sums[] = [];
  readonly #cells: number;
  readonly #tested: number;

  constructor(changes: readonly Change[], cells: number, tested: number) {
    this.#changes = changes;
    this.#cells = cells;
    this.#tested = tested;
    this.#pValueMax = INSIGHT_FALSE_DISCOVERIES / Math.max(1, changes.length);
    this.#owners = this.#ownership();
  }

  *run(): Search<Cause[]> {
    while (this.#causes.length < INSIGHT_CAUSES_MAX) {
      const left = yield* this.#left();
      if (left.length === 0) break;
      this.#take([...this.#causes, yield* this.#next(left)]);
    }
    yield* this.#prune();
    return yield* this.#told();
  }

  /** What no cause explains yet. */
  *#left(): Search<Change[]> {
    const left: Change[] = [];
    for (const change of this.#changes) {
      yield;
      if (this.#explainedBy(change) === null) left.push(change);
    }
    return left;
  }

  #take(causes: Change[]): void {
    this.#causes = causes;
    this.#owners = this.#ownership();
    this.#owned = causes.map((cause, i) => this.#partsOf(cause)[i - FREE]!);
  }

  #ownership() {
    const order = this.#causes.map((cause, i) => ({ cause, i }))
      .sort((a, b) => b.cause.mass(b.cause.all) - a.cause.mass(a.cause.all));
    const ownersOf = (owns: (cause: Change) => boolean) => {
      const owners = new Int32Array(this.#cells).fill(FREE);
      for (const { cause, i } of order) {
        if (!owns(cause)) continue;
        cause.holds.forEach((one, cell) => {
          if (one === 1) owners[cell] = i;
        });
      }
      return owners;
    };
    return {
      ofCounts: ownersOf(({ isRate }) => !isRate),
      // That everything grew moves no rate.
      ofRates: ownersOf(({ isRate, isWhole }) => isRate || !isWhole),
    };
  }

  #ownersFor({ isRate }: Change): Int32Array {
    return isRate ? this.#owners.ofRates : this.#owners.ofCounts;
  }

  /** The cause to look into next: the clearest of the first metric that has a change left. */
  *#next(left: readonly Change[]): Search<Change> {
    const metric = ORDER.find((one) => left.some(({ finding }) => finding.metric === one))!;
    const some = left.filter(({ finding }) => finding.metric === metric);
    const narrow = some.filter(({ isWhole }) => !isWhole);
    const clear = new Map<Change, number>();
    for (const one of narrow) {
      yield;
      const { t, pValue } = this.#contrastToRest(one);
      const isClear = Math.sign(t) === one.direction && pValue <= this.#pValueMax;
      if (isClear) clear.set(one, rankOf(one, t));
    }
    if (clear.size > 0) return largest([...clear.keys()], (one) => clear.get(one)!);
    return some.find(({ isWhole }) => isWhole) ?? largest(narrow, (one) => this.#strength(one));
  }

  /** What moved against all else that has the same owner as most of it. */
  #contrastToRest(change: Change): Contrast {
    const owners = this.#ownersFor(change);
    const parts = this.#partsOf(change);
    const masses = parts.map((part) => change.mass(part));
    const main = masses.indexOf(Math.max(...masses));
    return contrast(change, parts[main]!, change.rest(owners, main + FREE));
  }

  /** What a change comes to where nobody owns it, then at the cells of each cause. */
  #partsOf(change: Change): Sums[] {
    return change.sumsByOwner(this.#ownersFor(change), this.#causes.length);
  }

  #strength(change: Change): number {
    const [free] = this.#partsOf(change) as [Sums];
    return change.excess(free) ** 2 / Math.max(1, change.mass(free)) / change.finding.clusters;
  }

  /** The place of the cause that explains most of a change; null where it is not explained. */
  #explainedBy(change: Change): number | null {
    const same = this.#causes.findIndex((cause) => cause === change || isOneWith(change, cause));
    if (same >= 0) return same;
    const [free, ...parts] = this.#partsOf(change) as [Sums, ...Sums[]];
    const total = change.excess(change.all) * change.direction;
    let own = 0;
    let best: number | null = null;
    let most = 0;
    for (const [i, part] of parts.entries()) {
      if (change.mass(part) === 0) continue;
      const ofItself = this.#ofItself(change, part, i);
      own += ofItself * change.direction;
      const explained = (change.excess(part) - ofItself) * change.direction;
      if (explained > most) [best, most] = [i, explained];
    }
    const unexplained = own + change.excess(free) * change.direction;
    if (unexplained <= (1 - INSIGHT_CAUSE_SHARE) * total) return best;
    const isEnough = unexplained <= INSIGHT_CAUSE_SHARE * total && own === 0;
    return isEnough && !isFinding(change, free, this.#pValueMax) ? best : null;
  }

  /** How much of a change within a cause is not in proportion to it, beyond chance. */
  #ofItself(change: Change, part: Sums, place: number): number {
    const cause = this.#causes[place]!;
    if (!change.isMostlyIn(cause)) return 0;
    if (change.isRate !== cause.isRate) return 0;
    const whole = this.#owned[place]!;
    if (change.isRate) return ratesApart(change, part, whole, this.#pValueMax);
    if (whole.before === 0) return 0;
    if ((whole.now - whole.before) * change.direction <= 0) return change.excess(part);
    const ofItself = part.now - part.before * whole.now / whole.before;
    if (ofItself * change.direction <= 0) return 0;
    return contrast(change, part, whole).pValue <= this.#pValueMax ? ofItself : 0;
  }

  /** Takes causes away that the others explain, without which nothing else is left unexplained. */
  *#prune(): Search<void> {
    const broadFirst = this.#causes.toSorted((a, b) => b.mass(b.all) - a.mass(a.all));
    for (const one of broadFirst) {
      const before = this.#causes;
      const leftBefore = yield* this.#left();
      this.#take(before.filter((other) => other !== one));
      const left = yield* this.#left();
      if (left.length > leftBefore.length) this.#take(before);
    }
  }

  /** Of causes, too, one in twenty may be chance: what they moved besides counts for nothing here. */
  *#told(): Search<Cause[]> {
    const evidence: Finding[][] = this.#causes.map(() => []);
    for (const change of this.#changes) {
      yield;
      const place = this.#explainedBy(change);
      // What is beyond the last cause that is looked for is not told.
      if (place !== null && this.#causes[place] !== change) evidence[place]!.push(change.finding);
    }
    const causes = this.#causes.map(({ finding }, i) => ({ finding, evidence: evidence[i]! }));
    return unlikely(causes, this.#tested).sort((a, b) => b.finding.score - a.finding.score);
  }
}

/**
 * Those that are still told where each counts once, however many changes it brought: by Benjamini and
 * Hochberg over all that was tested, each by the surest of its changes.
 */
function unlikely(causes: readonly Cause[], tested: number): Cause[] {
  const pValues = causes.map(({ finding, evidence }) =>
    Math.min(...[finding, ...evidence].map(({ pValue }) => pValue))
  );
  const others = new Array<number>(Math.max(0, tested - causes.length)).fill(1);
  const adjusted = adjustedPValues([...pValues, ...others]);
  return causes.filter((_, i) => adjusted[i]! <= INSIGHT_FALSE_DISCOVERIES);
}

/** The one with the largest figure; among equals the smallest, then the most specific, then the first. */
function largest(changes: readonly Change[], of: (change: Change) => number): Change {
  const ranked = changes.map((change) => ({
    change,
    figure: of(change),
    mass: change.mass(change.all),
    place: NARROWEST.indexOf(change.finding.dimension),
  }));
  ranked.sort((a, b) => b.figure - a.figure || a.mass - b.mass || a.place - b.place);
  return ranked[0]!.change;
}

/** In standard errors of what comes one by one, so that slices of one metric can be compared. */
function rankOf({ finding: { clusters, dispersion } }: Change, t: number): number {
  return Math.abs(t) * Math.sqrt(dispersion.factor / clusters);
}

/** Whether both are of the same sessions, in most. Everything is what all is of: that says nothing. */
function isOneWith(change: Change, cause: Change): boolean {
  if (change.isWhole || cause.isWhole || cause.isRate && !change.isRate) return false;
  if (change.isRate === cause.isRate && change.direction !== cause.direction) return false;
  return change.isMostlyIn(cause) && cause.isMostlyIn(change);
}

/** How a part moved beside others. */
function contrast(change: Change, part: Sums, others: Sums): Contrast {
  const { dispersion } = change.finding;
  if (change.isRate) return contrastOfRates(change, part, others);
  const now = { hits: part.now, trials: part.now + others.now };
  const before = { hits: part.before, trials: part.before + others.before };
  const deviation = shareChange(now, before, dispersion);
  return { t: deviation.t, pValue: studentTwoSided(deviation) };
}

const shareBefore = ({ before, trialsBefore }: Sums) => rate(before, trialsBefore).value;
const shareNow = ({ now, trialsNow }: Sums) => rate(now, trialsNow).value;

/** By how much the rate of some cells moved; null where there is none to compare. */
function moved(sums: Sums): number | null {
  const [now, before] = [shareNow(sums), shareBefore(sums)];
  return now === null || before === null ? null : now - before;
}

function contrastOfRates({ finding: { dispersion } }: Change, part: Sums, others: Sums): Contrast {
  const own = moved(part);
  if (own === null || own === 0) return { t: 0, pValue: 1 };
  const now = { hits: part.now, trials: part.trialsNow };
  const before = { hits: part.before, trials: part.trialsBefore };
  const deviation = shareChange(now, before, dispersion);
  const t = deviation.t * (own - (moved(others) ?? 0)) / own;
  return { t, pValue: studentTwoSided({ ...deviation, t }) };
}

/** What more, or fewer, hits a part has than if its rate had moved as that of the cause, beyond chance. */
function ratesApart(change: Change, part: Sums, whole: Sums, pValueMax: number): number {
  const [own, others] = [moved(part), moved(whole)];
  if (own === null || others === null) return 0;
  const ofItself = (own - others) * part.trialsNow;
  if (others * change.direction <= 0) return change.excess(part);
  if (ofItself * change.direction <= 0) return 0;
  return contrastOfRates(change, part, whole).pValue <= pValueMax ? ofItself : 0;
}

/** Whether these cells alone would be told: they moved as the change did, by as much, and beyond chance. */
function isFinding(change: Change, sums: Sums, pValueMax: number): boolean {
  const { direction, isRate, finding: { dispersion } } = change;
  const { now, before, trialsNow, trialsBefore } = sums;
  if (isRate) {
    const own = (moved(sums) ?? 0) * direction;
    const least = Math.max(INSIGHT_RATE_CHANGE_MIN, INSIGHT_CHANGE_MIN * (shareBefore(sums) ?? 0));
    if (own < least) return false;
    const rates = [{ hits: now, trials: trialsNow }, {
      hits: before,
      trials: trialsBefore,
    }] as const;
    const deviation = shareChange(...rates, dispersion);
    return studentTwoSided(deviation) <= pValueMax;
  }
  const own = (now - before) * direction;
  if (own < Math.max(INSIGHT_COUNT_CHANGE_MIN, INSIGHT_CHANGE_MIN * before)) return false;
  const deviation = countDeviation(now, { value: before, uncertainty: 1 }, dispersion);
  return studentTwoSided(deviation) <= pValueMax;
}

/**
 * Puts findings that have one cause together, of so many comparisons that were tested. `findings` are of slices and matches of the cells, by score;
 * with n of them, c causes and m cells it takes some n · c · m steps, each bounded by a limit.
 */
export function* searchCauses(
  findings: readonly Finding[],
  cells: JointCells,
  tested: number,
): Search<Cause[]> {
  const changes: Change[] = [];
  for (const finding of findings) {
    yield;
    changes.push(new Change(finding, cells));
  }
  return yield* new CauseSearch(changes, cells.count, tested).run();
}
