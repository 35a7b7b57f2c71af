import type { TextColumn } from "./text_codec.ts";

/** Texts are compared where at most so many of the events have one of their own. */
const DISTINCT_SHARE_MAX = 0.9;
/** A character a byte: what is equal here is equal there. */
const BYTES = new TextDecoder("latin1");

function renumber(codes: Int32Array, numbers: Int32Array, into: Int32Array): void {
  for (let i = 0; i < into.length; i++) into[i] = numbers[codes[i]!]!;
}

/** Puts texts of several columns into one, each once where that is worth the comparison. */
export class TextGatherer {
  /** Of each event of all columns, one behind the other, which text it has: see `TextColumn`. */
  readonly #codes: Int32Array;
  readonly #bytes: readonly Uint8Array[];
  /** Of each text where it lies, by its code: in the bytes of which column, from where to where. */
  readonly #columns: Int32Array;
  readonly #from: Uint32Array;
  readonly #to: Uint32Array;
  /** Of each text the number that it has in the block that is gathered: see `#block`. */
  readonly #numbers: Int32Array;
  readonly #blocks: Int32Array;
  #block = 0;

  constructor(columns: readonly TextColumn[]) {
    const sum = (lengthOf: (column: TextColumn) => number) =>
      columns.reduce((total, column) => total + lengthOf(column), 0);
    const values = sum(({ ends }) => ends.length);
    const events = sum(({ codes }) => codes.length);
    this.#codes = new Int32Array(events);
    this.#bytes = columns.map(({ bytes }) => bytes);
    this.#columns = new Int32Array(values + 1);
    this.#from = new Uint32Array(values + 1);
    this.#to = new Uint32Array(values + 1);
    this.#numbers = new Int32Array(values + 1);
    this.#blocks = new Int32Array(values + 1);
    // Those of one column are different already, or hardly worth another look.
    const isCompared = columns.length > 1 && values <= DISTINCT_SHARE_MAX * events;
    const known = isCompared ? new Map<string, number>() : null;
    let [code, event] = [0, 0];
    for (const [column, { codes, ends, bytes }] of columns.entries()) {
      // Those that hold nothing have nothing to look through.
      if (ends.length === 0) {
        event += codes.length;
        continue;
      }
      const all = known === null ? "" : BYTES.decode(bytes);
      const own = new Int32Array(ends.length + 1);
      for (let value = 0, from = 0; value < ends.length; value++) {
        const to = ends[value]!;
        const text = all.slice(from, to);
        const same = known?.get(text);
        own[value + 1] = same ?? ++code;
        if (same === undefined) {
          known?.set(text, code);
          this.#columns[code] = column;
          this.#from[code] = from;
          this.#to[code] = to;
        }
        from = to;
      }
      renumber(codes, own, this.#codes.subarray(event, event += codes.length));
    }
  }

  /** The texts of the events of these places. */
  gather(places: Uint32Array): TextColumn {
    const block = ++this.#block;
    const [all, blocks, numbers] = [this.#codes, this.#blocks, this.#numbers];
    const codes = new Int32Array(places.length);
    const values: number[] = [];
    let length = 0;
    for (let i = 0; i < places.length; i++) {
      const text = all[places[i]!]!;
      if (text === 0) continue;
      if (blocks[text] !== block) {
        blocks[text] = block;
        numbers[text] = values.push(text);
        length += this.#to[text]! - this.#from[text]!;
      }
      codes[i] = numbers[text]!;
    }
    const bytes = new Uint8Array(length);
    const ends = new Uint32Array(values.length);
    let end = 0;
    for (const [i, text] of values.entries()) {
      bytes.set(
        this.#bytes[this.#columns[text]!]!.subarray(this.#from[text]!, this.#to[text]!),
        end,
      );
      ends[i] = end += this.#to[text]! - this.#from[text]!;
    }
    return { codes, ends, bytes };
  }
}
