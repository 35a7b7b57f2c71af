/** Samples side by side in memory: what one more takes when all room is used. */
const CHUNK_SAMPLES = 65_536;

/** Rounds after which what is left is sorted: chosen values could make each round narrow by little. */
const ROUNDS_MAX = 64;

function swap(values: Float64Array, a: number, b: number): void {
  const value = values[a]!;
  values[a] = values[b]!;
  values[b] = value;
}

/** The middle one of the first, the middle and the last value. */
function pivotOf(values: Float64Array, first: number, last: number): number {
  const low = values[first]!;
  const mid = values[first + ((last - first) >> 1)]!;
  const high = values[last]!;
  return Math.max(Math.min(low, mid), Math.min(Math.max(low, mid), high));
}

/**
 * Moves values between `from` and before `to` so that at `place` stands what would stand there if
 * they were in order, no larger one before it and no smaller one behind. None may be NaN.
 */
export function select(values: Float64Array, from: number, to: number, place: number): void {
  let first = from;
  let last = to - 1;
  for (let round = 0; first < last; round++) {
    if (round === ROUNDS_MAX) {
      values.subarray(first, last + 1).sort();
      return;
    }
    const pivot = pivotOf(values, first, last);
    let i = first;
    let j = last;
    while (i <= j) {
      while (values[i]! < pivot) i++;
      while (values[j]! > pivot) j--;
      if (i <= j) swap(values, i++, j--);
    }
    if (place <= j) last = j;
    else if (place >= i) first = i;
    else return;
  }
}

/**
 * The median of the values between `from` and before `to`, at least one, as `percentile_cont(0.5)`
 * has it: halfway between the two in the middle. Reorders them.
 */
function medianOf(values: Float64Array, from: number, to: number): number {
  const place = from + ((to - from - 1) >> 1);
  select(values, from, to, place);
  const low = values[place]!;
  if ((to - from) % 2 === 1) return low;
  let high = values[place + 1]!;
  for (let i = place + 2; i < to; i++) if (values[i]! < high) high = values[i]!;
  return low + 0.5 * (high - low);
}

/** Samples, of which the first `length` are there. */
class Chunk {
  length = 0;
  readonly keys = new Int32Array(CHUNK_SAMPLES);
  readonly values = new Float64Array(CHUNK_SAMPLES);
}

/** Many values, none of them NaN, each of a key: an id from 0 to `keyMax`. */
export class Samples {
  readonly #keyMax: number;
  readonly #full: Chunk[] = [];
  #chunk = new Chunk();

  constructor(keyMax: number) {
    this.#keyMax = keyMax;
  }

  add(key: number, value: number): void {
    let chunk = this.#chunk;
    if (chunk.length === CHUNK_SAMPLES) {
      this.#full.push(chunk);
      chunk = this.#chunk = new Chunk();
    }
    chunk.keys[chunk.length] = key;
    chunk.values[chunk.length++] = value;
  }

  /** The exact median of each of these keys, as `percentile_cont(0.5)` has it; of nothing there is none. */
  mediansOf(wanted: readonly number[]): Map<number, number> {
    const chunks = [...this.#full, this.#chunk];
    // Of each key, where the next of its values goes; those that nobody asked for go nowhere.
    const places = new Int32Array(this.#keyMax + 1).fill(-1);
    for (const key of wanted) places[key] = 0;
    for (const { keys, length } of chunks) {
      for (let i = 0; i < length; i++) if (places[keys[i]!]! >= 0) places[keys[i]!]!++;
    }
    let total = 0;
    const starts = wanted.map((key) => {
      const start = total;
      total += places[key]!;
      places[key] = start;
      return start;
    });
    const gathered = new Float64Array(total);
    for (const { keys, values, length } of chunks) {
      for (let i = 0; i < length; i++) {
        const place = places[keys[i]!]!;
        if (place < 0) continue;
        gathered[place] = values[i]!;
        places[keys[i]!] = place + 1;
      }
    }
    const medians = new Map<number, number>();
    for (const [i, key] of wanted.entries()) {
      const [start, end] = [starts[i]!, places[key]!];
      if (start < end) medians.set(key, medianOf(gathered, start, end));
    }
    return medians;
  }
}
