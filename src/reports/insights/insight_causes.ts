import {
  INSIGHT_CAUSE_SHARE,
  INSIGHT_CAUSES_MAX,
  INSIGHT_CHANGE_MIN,
  INSIGHT_COUNT_CHANGE_MIN,
  INSIGHT_FALSE_DISCOVERIES,
  INSIGHT_RATE_CHANGE_MIN,
} from "../../limits.ts";
import { rate } from "../answer/report.ts";
import { Change, type JointCells, type Sums } from "./insight_change.ts";
import type { Finding, Metric } from "./insight_findings.ts";
import {
  adjustedPValues,
  countDeviation,
  shareChange,
  studentTwoSided,
} from "./insight_statistics.ts";

/** Findings with one cause. */
export interface Cause {
  /** The one that names the cause best. */
  readonly finding: Finding;
  /** The others, by score. */
  readonly evidence: readonly Finding[];
}

/** The order in which causes are searched. Rates are last, because they depend on who visits. */
const ORDER: readonly Metric[] = [
  "visitors",
  "sessions",
  "pageviews",
  "events",
  "conversions",
  "bounceRate",
];
/** Of equal slices the first in this order is chosen: the most specific one. */
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
/** The owner of a cell that no cause owns. */
const FREE = -1;

/** A computation that pauses at each `yield`, so that the event loop can serve other requests. */
export type Search<T> = Generator<void, T, void>;

/** How differently a part moved than the rest: the distance in standard errors, and its p-value. */
interface Contrast {
  readonly t: number;
  readonly pValue: number;
}

/**
 * Groups findings by their causes. Known methods: Bhagwan et al., Adtributor (NSDI 2014), take the
 * values that explain most of a change (explanatory power) and whose part of the total changed most
 * (surprise). Sun et al., HotSpot (IEEE Access 2018), and Li et al., Squeeze (ISSRE 2019), assume that
 * a cause moves all its parts in proportion (ripple effect), which distinguishes a consequence from a
 * cause of its own. Scan statistics remove the clearest cause and search the rest again (Zhang, Assunção
 * and Kulldorff, 2010). Here:
 *
 * 1. Causes are found one by one, those of visitors first. The next cause is the value that moved most
 *    against everything else outside the causes so far, by the two-proportion test; if none did, the total.
 * 2. A change is explained if two thirds of its excess are in causes. In a narrower cause all of the
 *    excess counts, in a broader one only what moved in proportion with it. It is also explained if one
 *    third is in causes and the rest alone would not be a finding. Each cell belongs to the narrowest
 *    cause that contains it.
 * 3. An explained change is evidence of the cause that explains most of it. A cause that the other
 *    causes explain is dropped.
 */
class CauseSearch {
  readonly #changes: readonly Change[];
  /** Bonferroni's bound: by chance alone, a change passes it in one search of twenty. */
  readonly #pValueMax: number;
  #causes: Change[] = [];
  /** By cell: the index of the narrowest cause that contains it, for counts and for rates; or `FREE`. */
  #owners: { readonly ofCounts: Int32Array; readonly ofRates: Int32Array };
  /** By cause: the sums of its figure at the cells that it owns. */
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
    return yield* this.#withEvidence();
  }

  /** Returns the changes that no cause explains yet. */
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
      .sort((a, b) => b.cause.sessions - a.cause.sessions);
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
      // A change in the total of a count does not move rates.
      ofRates: ownersOf(({ isRate, isWhole }) => isRate || !isWhole),
    };
  }

  #ownersFor({ isRate }: Change): Int32Array {
    return isRate ? this.#owners.ofRates : this.#owners.ofCounts;
  }

  /** Returns the next cause: the clearest change of the first metric that has changes left. */
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

  /** Tests the largest part of a change against the other cells of that part's owner. */
  #contrastToRest(change: Change): Contrast {
    const owners = this.#ownersFor(change);
    const parts = this.#partsOf(change);
    const masses = parts.map((part) => change.mass(part));
    const main = masses.indexOf(Math.max(...masses));
    return contrast(change, parts[main]!, change.rest(owners, main + FREE));
  }

  /** Returns the sums of a change at the free cells, then at the cells that each cause owns. */
  #partsOf(change: Change): Sums[] {
    return change.sumsByOwner(this.#ownersFor(change), this.#causes.length);
  }

  #strength(change: Change): number {
    const [free] = this.#partsOf(change) as [Sums];
    return change.excess(free) ** 2 / Math.max(1, change.mass(free)) / change.finding.clusters;
  }

  /** Returns the index of the cause that explains most of a change; null: it is not explained. */
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

  /** Returns how much of a change within a cause did not move in proportion to it; 0 if that may be chance. */
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

  /** Drops causes that the others explain, unless another change would lose its explanation. */
  *#prune(): Search<void> {
    const broadFirst = this.#causes.toSorted((a, b) => b.sessions - a.sessions);
    for (const one of broadFirst) {
      const before = this.#causes;
      const leftBefore = yield* this.#left();
      this.#take(before.filter((other) => other !== one));
      const left = yield* this.#left();
      if (left.length > leftBefore.length) this.#take(before);
    }
  }

  /** Returns the causes with their evidence, by score. */
  *#withEvidence(): Search<Cause[]> {
    const evidence: Finding[][] = this.#causes.map(() => []);
    for (const change of this.#changes) {
      yield;
      const place = this.#explainedBy(change);
      // Changes that no cause explains are not shown: there are some if the limit of causes is reached.
      if (place !== null && this.#causes[place] !== change) evidence[place]!.push(change.finding);
    }
    const causes = this.#causes.map(({ finding }, i) => ({ finding, evidence: evidence[i]! }));
    return unlikely(causes, this.#tested).sort((a, b) => b.finding.score - a.finding.score);
  }
}

/**
 * Returns the causes that are unlikely to be chance, by Benjamini and Hochberg over all tested comparisons: of
 * them, as of findings, one in twenty may be chance. Each cause counts once, with its smallest p-value, however
 * many changes it explains.
 */
function unlikely(causes: readonly Cause[], tested: number): Cause[] {
  const pValues = causes.map(({ finding, evidence }) =>
    Math.min(...[finding, ...evidence].map(({ pValue }) => pValue))
  );
  const others = new Array<number>(Math.max(0, tested - causes.length)).fill(1);
  const adjusted = adjustedPValues([...pValues, ...others]);
  return causes.filter((_, i) => adjusted[i]! <= INSIGHT_FALSE_DISCOVERIES);
}

/** Returns the change with the largest figure; ties: of least mass, then the most specific, then the first. */
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

/** Returns |t| in standard errors of independent events, so that slices of one metric can be compared. */
function rankOf({ finding: { clusters, dispersion } }: Change, t: number): number {
  return Math.abs(t) * Math.sqrt(dispersion.factor / clusters);
}

/** Tells whether most sessions of both are the same. The total is excluded: it contains every session. */
function isOneWith(change: Change, cause: Change): boolean {
  if (change.isWhole || cause.isWhole || cause.isRate && !change.isRate) return false;
  if (change.isRate === cause.isRate && change.direction !== cause.direction) return false;
  return change.isMostlyIn(cause) && cause.isMostlyIn(change);
}

/** Tests whether a part moved differently than the others. */
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

/** Returns by how much the rate of some cells moved; null: a period has no rate. */
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

/** Returns how many more hits a part has than if its rate had moved with the cause's; 0 if that may be chance. */
function ratesApart(change: Change, part: Sums, whole: Sums, pValueMax: number): number {
  const [own, others] = [moved(part), moved(whole)];
  if (own === null || others === null) return 0;
  const ofItself = (own - others) * part.trialsNow;
  if (others * change.direction <= 0) return change.excess(part);
  if (ofItself * change.direction <= 0) return 0;
  return contrastOfRates(change, part, whole).pValue <= pValueMax ? ofItself : 0;
}

/** Tells whether these cells alone would be a finding: a change in the same direction, large, and not chance. */
function isFinding(change: Change, sums: Sums, pValueMax: number): boolean {
  const { direction, isRate, finding: { dispersion } } = change;
  const { now, before, trialsNow, trialsBefore } = sums;
  if (isRate) {
    const own = (moved(sums) ?? 0) * direction;
    const least = Math.max(INSIGHT_RATE_CHANGE_MIN, INSIGHT_CHANGE_MIN * (shareBefore(sums) ?? 0));
    if (own < least) return false;
    const ofNow = { hits: now, trials: trialsNow };
    const deviation = shareChange(ofNow, { hits: before, trials: trialsBefore }, dispersion);
    return studentTwoSided(deviation) <= pValueMax;
  }
  const own = (now - before) * direction;
  if (own < Math.max(INSIGHT_COUNT_CHANGE_MIN, INSIGHT_CHANGE_MIN * before)) return false;
  const deviation = countDeviation(now, { value: before, uncertainty: 1 }, dispersion);
  return studentTwoSided(deviation) <= pValueMax;
}

/**
 * Groups findings by their causes, in about n · c · m steps for n findings, c causes and m cells, each of which
 * has a limit.
 * @param findings sorted by score; their slices and matches are those of the cells
 * @param tested how many comparisons were made
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
