import type { TextColumn } from "./text_codec.ts";
import { TextMap } from "./text_map.ts";

/** Equal texts are searched for only if the columns hold at most this many texts per event. */
const DISTINCT_SHARE_MAX = 0.9;
/** One character per byte, so that texts are equal exactly if their bytes are. */
const BYTES = new TextDecoder("latin1");

function renumber(codes: Int32Array, codeOf: Int32Array, into: Int32Array): void {
  for (let i = 0; i < into.length; i++) into[i] = codeOf[codes[i]!]!;
}

/** Merges several text columns into one; equal texts become one if comparing them is worth it. */
export class TextGatherer {
  /** The codes of all columns' events, one column after the other: see `TextColumn`. */
  readonly #codes: Int32Array;
  readonly #bytes: readonly Uint8Array[];
  /** By code, the location of the text: its column, and its start and end in the bytes. */
  readonly #columns: Int32Array;
  readonly #from: Uint32Array;
  readonly #to: Uint32Array;
  /** By code, the last block that the text was gathered for, and its code there: see `#block`. */
  readonly #blocks: Int32Array;
  readonly #numbers: Int32Array;
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
    // The texts of a single column are distinct already, or hardly worth comparing.
    const isCompared = columns.length > 1 && values <= DISTINCT_SHARE_MAX * events;
    const known = isCompared ? new TextMap<number>() : null;
    let [code, event] = [0, 0];
    for (const [column, { codes, ends, bytes }] of columns.entries()) {
      if (ends.length === 0) {
        event += codes.length;
        continue;
      }
      const columnText = known === null ? "" : BYTES.decode(bytes);
      const codeOf = new Int32Array(ends.length + 1);
      for (let value = 0, from = 0; value < ends.length; value++) {
        const to = ends[value]!;
        const text = columnText.slice(from, to);
        const same = known?.get(text);
        codeOf[value + 1] = same ?? ++code;
        if (same === undefined) {
          known?.set(text, code);
          this.#columns[code] = column;
          this.#from[code] = from;
          this.#to[code] = to;
        }
        from = to;
      }
      renumber(codes, codeOf, this.#codes.subarray(event, event += codes.length));
    }
  }

  /** Returns the texts of the events at these places as one column. */
  gather(places: Uint32Array): TextColumn {
    const block = ++this.#block;
    const [allCodes, blocks, numbers] = [this.#codes, this.#blocks, this.#numbers];
    const codes = new Int32Array(places.length);
    const values: number[] = [];
    let length = 0;
    for (let i = 0; i < places.length; i++) {
      const text = allCodes[places[i]!]!;
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
