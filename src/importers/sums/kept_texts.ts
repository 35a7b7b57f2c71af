import { GrowingColumn } from "./growing_column.ts";
import { PlaceIndex, spread } from "./place_index.ts";

/** Bytes of one piece; a longer text has a piece of its own. */
const PIECE_BYTES = 1024 * 1024;
/** The most bytes that a UTF-16 unit takes in UTF-8. */
const BYTES_OF_UNIT_MAX = 3;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return spread(hash);
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * Numbers distinct texts. Their bytes are stored one after the other: a text takes its length and about twenty
 * bytes. A string that was cut from a row would keep the whole row in memory.
 */
export class KeptTexts {
  #scratch = new Uint8Array(BYTES_OF_UNIT_MAX * 2_048);
  readonly #pieces: Uint8Array[] = [];
  #used = 0;
  readonly #piece = new GrowingColumn(Int32Array);
  readonly #from = new GrowingColumn(Int32Array);
  readonly #length = new GrowingColumn(Int32Array);
  readonly #index = new PlaceIndex((number) => hashOf(this.#bytesOf(number)));
  #count = 0;

  #bytesOf(number: number): Uint8Array {
    const from = this.#from.at(number);
    return this.#pieces[this.#piece.at(number)]!.subarray(from, from + this.#length.at(number));
  }

  /** Returns the number of a text, which gets one when it first occurs. */
  numberOf(text: string): number {
    const bytesMax = BYTES_OF_UNIT_MAX * text.length;
    if (bytesMax > this.#scratch.length) this.#scratch = new Uint8Array(bytesMax);
    const bytes = this.#scratch.subarray(0, encoder.encodeInto(text, this.#scratch).written);
    const isSame = (number: number) => areEqual(this.#bytesOf(number), bytes);
    const number = this.#index.placeOf(hashOf(bytes), isSame, this.#count);
    if (number === this.#count) this.#keep(bytes);
    return number;
  }

  #keep(bytes: Uint8Array): void {
    if (this.#pieces.length === 0 || this.#used + bytes.length > PIECE_BYTES) {
      this.#pieces.push(new Uint8Array(Math.max(PIECE_BYTES, bytes.length)));
      this.#used = 0;
    }
    const piece = this.#pieces.length - 1;
    this.#pieces[piece]!.set(bytes, this.#used);
    this.#piece.set(this.#count, piece);
    this.#from.set(this.#count, this.#used);
    this.#length.set(this.#count, bytes.length);
    this.#used += bytes.length;
    this.#count++;
  }

  textOf(number: number): string {
    return decoder.decode(this.#bytesOf(number));
  }
}
