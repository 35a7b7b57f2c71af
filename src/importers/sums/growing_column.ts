/** Entries of one piece: a column allocates at most this many too many. */
const PIECE_ENTRIES = 65_536;

type Entries = Int32Array | Float64Array;

/**
 * A column of numbers that grows by pieces, so that growing copies nothing, and that has no objects for the
 * garbage collector to trace. Entries that were never set are 0.
 */
export class GrowingColumn {
  readonly #pieces: Entries[] = [];

  constructor(readonly type: new (length: number) => Entries) {}

  at(place: number): number {
    return this.#pieces[Math.floor(place / PIECE_ENTRIES)]?.[place % PIECE_ENTRIES] ?? 0;
  }

  set(place: number, value: number): void {
    const piece = Math.floor(place / PIECE_ENTRIES);
    while (this.#pieces.length <= piece) this.#pieces.push(new this.type(PIECE_ENTRIES));
    this.#pieces[piece]![place % PIECE_ENTRIES] = value;
  }
}
