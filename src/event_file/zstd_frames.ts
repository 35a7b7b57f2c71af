/**
 * Finds the frames of a zstd stream (RFC 8878, section 3), because the decompressor reads only the first one, and
 * does not report that a frame is cut off.
 */

const MAGIC_BYTES = 4;
const MAGIC = 0xfd2fb528;
/** The magic number of frames without content; its last four bits are free. */
const SKIPPABLE = 0x184d2a50;
const SKIPPABLE_SIZE_BYTES = 4;
const BLOCK_HEAD_BYTES = 3;
const CHECKSUM_BYTES = 4;
const RLE = 1;
const DICTIONARY_BYTES = [0, 1, 2, 4];
const SIZE_BYTES = [0, 2, 4, 8];

type Part = "magic" | "skippable" | "descriptor" | "block";

/** A piece of one frame. */
interface FramePiece {
  readonly bytes: Uint8Array;
  /** Whether the frame ends with this piece. */
  readonly isEnd: boolean;
}

/** Follows the frames of a stream as its bytes arrive. */
export class ZstdFrames {
  /** The part that is read next, and its bytes so far. */
  #part: Part = "magic";
  #read: number[] = [];
  /** How many bytes to skip before it. */
  #skip = 0;
  #hasChecksum = false;
  /** Whether the rest is not zstd: it is passed on, and the decompressor reports it. */
  #isForeign = false;

  /** Whether all bytes so far are whole frames. */
  get isWhole(): boolean {
    return this.#part === "magic" && this.#read.length === 0 && this.#skip === 0;
  }

  /** Cuts the next bytes at the ends of frames. */
  cut(chunk: Uint8Array): FramePiece[] {
    const pieces: FramePiece[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length && !this.#isForeign;) {
      const skipped = Math.min(this.#skip, chunk.length - at);
      this.#skip -= skipped;
      at += skipped;
      if (this.#skip === 0 && at < chunk.length && !(skipped > 0 && this.isWhole)) {
        this.#read.push(chunk[at++]!);
        if (this.#read.length === bytesOf(this.#part)) this.#next();
      }
      if (!this.isWhole) continue;
      pieces.push({ bytes: chunk.subarray(from, at), isEnd: true });
      from = at;
    }
    if (from < chunk.length) pieces.push({ bytes: chunk.subarray(from), isEnd: false });
    return pieces;
  }

  #next(): void {
    const value = this.#read.reduceRight((sum, byte) => sum * 256 + byte, 0);
    this.#read = [];
    if (this.#part === "magic") {
      this.#isForeign = value !== MAGIC && (value & ~0xf) !== SKIPPABLE;
      this.#part = value === MAGIC ? "descriptor" : "skippable";
    } else if (this.#part === "skippable") {
      this.#skip = value;
      this.#part = "magic";
    } else if (this.#part === "descriptor") {
      const isSingle = (value & 0x20) !== 0;
      const sizeBytes = value >> 6 === 0 && isSingle ? 1 : SIZE_BYTES[value >> 6]!;
      this.#skip = (isSingle ? 0 : 1) + DICTIONARY_BYTES[value & 3]! + sizeBytes;
      this.#hasChecksum = (value & 4) !== 0;
      this.#part = "block";
    } else {
      const isLast = (value & 1) !== 0;
      this.#skip = (value >> 1 & 3) === RLE ? 1 : value >> 3;
      if (!isLast) return;
      if (this.#hasChecksum) this.#skip += CHECKSUM_BYTES;
      this.#part = "magic";
    }
  }
}

function bytesOf(part: Part): number {
  if (part === "descriptor") return 1;
  if (part === "block") return BLOCK_HEAD_BYTES;
  return part === "magic" ? MAGIC_BYTES : SKIPPABLE_SIZE_BYTES;
}
