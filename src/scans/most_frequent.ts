import { yielding } from "../store/yielding.ts";
import { compareBytes, type ValueTexts } from "./value_texts.ts";

/**
 * Counts, and texts, between two checks of the clock. Texts are slower to compare: they may be long and
 * differ only at the end.
 */
const COUNTS_UNTIMED = 10_000;
const TEXTS_UNTIMED = 100;
/** Ids whose texts are looked up together. */
export const IDS_AT_ONCE = 10_000;
/** Ids of one list whose texts are looked up together with those of other lists. */
const FEW_IDS = 1_000;

/** A text (null: a missing one), how often it occurs, and the ids that stand for it. */
export interface CountedText {
  readonly text: string | null;
  readonly count: number;
  readonly ids: readonly number[];
}

function compare(a: CountedText, b: CountedText): number {
  return b.count - a.count || compareBytes(a.text, b.text) || a.ids[0]! - b.ids[0]!;
}

/** Keeps the most frequent of many texts; ties by text, the missing one last, then by id. */
export class Ranking<T extends CountedText = CountedText> {
  readonly #ranked: T[] = [];

  constructor(private readonly most: number) {}

  /** The most frequent so far, in their order. */
  get ranked(): readonly T[] {
    return this.#ranked;
  }

  offer(one: T): void {
    const ranked = this.#ranked;
    if (ranked.length === this.most) {
      if (compare(one, ranked[ranked.length - 1]!) >= 0) return;
      ranked.pop();
    }
    let at = ranked.length;
    while (at > 0 && compare(one, ranked[at - 1]!) < 0) at--;
    ranked.splice(at, 0, one);
  }

  /** Offers many, yielding to the event loop in between. */
  async offerAll(many: Iterable<T>): Promise<void> {
    const turn = yielding();
    let offered = 0;
    for (const one of many) {
      this.offer(one);
      if (++offered % TEXTS_UNTIMED === 0) await turn();
    }
  }
}

/** How often ids occur. */
export interface CountedIds {
  readonly counts: Int32Array | Float64Array;
  readonly idAt: (place: number) => number;
}

/**
 * Returns the texts of ids; with `most`, only that many, the first by byte order. An id without a text stands
 * for a missing value.
 */
export type TextsOf = (ids: readonly number[], most?: number) => Promise<ValueTexts>;

/** The smallest count that still ranks, and how many places are left for the ids that have it. */
interface Edge {
  readonly count: number;
  readonly left: number;
}

/** Returns the `most`th largest count; 0: there are fewer. */
async function edgeOf(counts: CountedIds["counts"], most: number): Promise<Edge> {
  const turn = yielding();
  // The largest so far, ascending.
  const largest = new Float64Array(most);
  for (let place = 0; place < counts.length; place++) {
    if (place % COUNTS_UNTIMED === 0) await turn();
    const count = counts[place]!;
    if (count <= largest[0]!) continue;
    let at = 0;
    for (; at + 1 < most && largest[at + 1]! < count; at++) largest[at] = largest[at + 1]!;
    largest[at] = count;
  }
  const count = largest[0]!;
  return { count, left: largest.filter((one) => one === count).length };
}

/** Yields the ids whose count is at least `least`, with their counts, in batches to be looked up together. */
export async function* frequentIds(
  { counts, idAt }: CountedIds,
  least = 1,
): AsyncGenerator<Map<number, number>> {
  const turn = yielding();
  let found = new Map<number, number>();
  for (let place = 0; place < counts.length; place++) {
    if (place % COUNTS_UNTIMED === 0) await turn();
    const count = counts[place]!;
    if (count < least) continue;
    found.set(idAt(place), count);
    if (found.size < IDS_AT_ONCE) continue;
    yield found;
    found = new Map();
  }
  if (found.size > 0) yield found;
}

/** Ids with their counts, of which the first are to be ranked. */
interface Candidates {
  readonly ranking: Ranking;
  readonly ids: ReadonlyMap<number, number>;
}

async function rank({ ranking, ids }: Candidates, texts: ValueTexts): Promise<void> {
  const named = ids.entries().map(([id, count]) => ({
    text: texts.get(id) ?? null,
    count,
    ids: [id],
  }));
  await ranking.offerAll(named);
}

/**
 * Ranks many ids, most of which tie at the edge; reads only as many of the tied ones as there are places
 * left.
 */
async function rankMany(
  { ranking, ids }: Candidates,
  { count: edge, left }: Edge,
  textsOf: TextsOf,
): Promise<void> {
  const above = new Map(ids.entries().filter(([, count]) => count > edge));
  if (above.size > 0) await rank({ ranking, ids: above }, await textsOf([...above.keys()]));
  const tied = new Map(ids.entries().filter(([, count]) => count === edge));
  const texts = await textsOf([...tied.keys()], left);
  // Ids without a text are last: they get a place only if texts leave some.
  const first = texts.size < left
    ? tied
    : new Map([...texts.keys()].map((id) => [id, edge] as const));
  await rank({ ranking, ids: first }, texts);
}

/**
 * Returns the `most` ids of each list with the largest counts above 0, in the order of a `Ranking`. However
 * many tie for the last places, only a bounded number of texts is in memory at once.
 */
export async function mostFrequentOfEach(
  lists: readonly CountedIds[],
  most: number,
  textsOf: TextsOf,
): Promise<(readonly CountedText[])[]> {
  const rankings = lists.map(() => new Ranking(most));
  const few: Candidates[] = [];
  for (const [i, list] of lists.entries()) {
    const edge = await edgeOf(list.counts, most);
    for await (const ids of frequentIds(list, Math.max(1, edge.count))) {
      const candidates = { ranking: rankings[i]!, ids };
      if (ids.size <= FEW_IDS) few.push(candidates);
      else await rankMany(candidates, edge, textsOf);
    }
  }
  // The ids of all short lists together.
  const ids = new Set(few.flatMap((one) => [...one.ids.keys()]));
  const texts = ids.size === 0 ? new Map() : await textsOf([...ids]);
  for (const one of few) await rank(one, texts);
  return rankings.map(({ ranked }) => ranked);
}

/** `mostFrequentOfEach` of one list. */
export async function mostFrequent(
  counted: CountedIds,
  most: number,
  textsOf: TextsOf,
): Promise<readonly CountedText[]> {
  const [found] = await mostFrequentOfEach([counted], most, textsOf);
  return found!;
}
