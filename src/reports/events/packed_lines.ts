import { zstdDecompressSync } from "node:zlib";
import { compareIds, ID_BYTES } from "../../store/id_codec.ts";
import { countWhile } from "../../store/segment_head.ts";
import type { Yield } from "../../store/yielding.ts";
import { zstdFrame } from "../../store/zstd_frame.ts";

const UTF8 = new TextEncoder();
/** The most bytes that one UTF-16 unit takes in UTF-8. */
const UNIT_BYTES_MAX = 3;
/** At least this share of the room is freed at once, because the remaining chunks are moved each time. */
const DROPPED_SHARE = 1 / 8;

/** How much memory the lines of a window may take. */
export interface PackedSizes {
  /** Lines of a chunk; it has more only if one millisecond has. */
  readonly chunkRows: number;
  /** How many bytes and lines are held before they are compressed. */
  readonly openBytes: number;
  readonly openRows: number;
  /** Bytes of all compressed lines. */
  readonly bytesMax: number;
  /** Bytes of the lines that are handed on together; a single line may be larger. */
  readonly handedBytes: number;
}

/** Memory for the lines of a window, which the next window uses again. */
export class LineMemory {
  #open: Uint8Array | null = null;
  #packed: Uint8Array | null = null;

  constructor(readonly sizes: PackedSizes) {}

  /** The bytes that are allocated. */
  get bytes(): number {
    return (this.#open?.length ?? 0) + (this.#packed?.length ?? 0);
  }

  /** Returns the room for uncompressed lines, large enough for one line of this many bytes. */
  open(bytes: number): Uint8Array {
    if (this.#open === null || this.#open.length < bytes) {
      this.#open = new Uint8Array(Math.max(bytes, this.sizes.openBytes));
    }
    return this.#open;
  }

  /** Returns the room for compressed lines; the system allocates only the pages that are written. */
  get packed(): Uint8Array {
    return this.#packed ??= new Uint8Array(this.sizes.bytesMax);
  }
}

/** Lines of one chunk that are compressed together. */
interface Piece {
  readonly chunk: number;
  /** The numbers of its lines, in the order of their bytes. */
  readonly lines: Uint32Array;
  /** Where the piece begins in the memory for compressed lines. */
  at: number;
  readonly bytes: number;
}

/** Lines that are handed on together. */
export interface HandedLines {
  readonly bytes: Uint8Array;
  readonly lines: number;
}

/** Cuts the times into chunks: returns the first time of each chunk but the oldest, descending. */
function chunkFirsts(moments: Float64Array, chunkRows: number): number[] {
  const firsts: number[] = [];
  for (let first = moments.length - chunkRows; first > 0; first -= chunkRows) {
    if (moments[first]! !== firsts.at(-1)) firsts.push(moments[first]!);
  }
  return firsts;
}

/**
 * The lines of a window, added in any order and handed on newest first, ties by id, the greatest first. They
 * are kept as bytes, compressed by chunks of time, in memory that is allocated once, so that windows leave no
 * garbage to collect. If the lines do not all fit, the oldest chunks are dropped.
 */
export class PackedLines {
  readonly #memory: LineMemory;
  readonly #pause: Yield;
  readonly #firsts: readonly number[];
  /** The number of chunks that are not dropped. */
  #kept: number;
  /** By line, in the order in which they were added. */
  readonly #ms: Float64Array;
  readonly #ids: Uint8Array;
  readonly #lengths: Uint32Array;
  /** Where the line begins: in the memory for uncompressed lines, once compressed in its piece. */
  readonly #begins: Uint32Array;
  #lines = 0;
  #pieces: Piece[] = [];
  #packedBytes = 0;
  /** The first line that is not compressed yet, and the bytes from it on. */
  #openFrom = 0;
  #openBytes = 0;
  /** Bytes of all added lines. */
  #addedBytes = 0;

  /** @param moments the times of all lines that will be added, in epoch milliseconds; sorted here */
  constructor(memory: LineMemory, moments: Float64Array, pause: Yield) {
    this.#memory = memory;
    this.#pause = pause;
    moments.sort();
    this.#firsts = chunkFirsts(moments, memory.sizes.chunkRows);
    this.#kept = this.#firsts.length + 1;
    this.#ms = new Float64Array(moments.length);
    this.#ids = new Uint8Array(ID_BYTES * moments.length);
    this.#lengths = new Uint32Array(moments.length);
    this.#begins = new Uint32Array(moments.length);
  }

  /** The average bytes of a line. */
  get lineBytes(): number {
    return this.#addedBytes / Math.max(1, this.#lines);
  }

  /** The first time from which on no line was dropped; null: none was dropped at all. */
  get droppedBeforeMs(): number | null {
    return this.#kept > this.#firsts.length ? null : this.#firsts[this.#kept - 1]!;
  }

  /** Whether a line of this time would be kept. */
  keeps(ms: number): boolean {
    return this.#kept > this.#firsts.length || ms >= this.#firsts[this.#kept - 1]!;
  }

  /** Adds a line. @returns false: there is no room, even for the newest chunk alone */
  async add(ms: number, ids: Uint8Array, idAt: number, line: string): Promise<boolean> {
    if (!this.keeps(ms)) return true;
    const openLines = this.#lines - this.#openFrom;
    const bytesMax = UNIT_BYTES_MAX * line.length;
    const isFull = openLines === this.#memory.sizes.openRows ||
      this.#memory.open(0).length - this.#openBytes < bytesMax;
    if (isFull && openLines > 0 && !await this.pack()) return false;
    // The memory is replaced by a larger one only while it has no lines.
    const open = this.#memory.open(bytesMax);
    const { written } = UTF8.encodeInto(line, open.subarray(this.#openBytes));
    const at = this.#lines++;
    this.#ms[at] = ms;
    this.#ids.set(ids.subarray(idAt, idAt + ID_BYTES), ID_BYTES * at);
    this.#lengths[at] = written;
    this.#begins[at] = this.#openBytes;
    this.#openBytes += written;
    this.#addedBytes += written;
    return true;
  }

  /**
   * Compresses the lines that are held, and yields to the event loop meanwhile.
   * @returns false: there is no room, even for the newest chunk alone
   */
  async pack(): Promise<boolean> {
    const from = this.#openFrom;
    const openMs = this.#ms.subarray(from, this.#lines);
    const byChunk = Map.groupBy(openMs.keys(), (i) => this.#chunkOf(openMs[i]!));
    // Only the oldest chunks are dropped, so the newest are packed first.
    for (const chunk of [...byChunk.keys()].sort((a, b) => a - b)) {
      const lines = Uint32Array.from(byChunk.get(chunk)!, (i) => from + i);
      if (!this.#packPiece(chunk, lines)) return false;
      await this.#pause();
    }
    this.#openFrom = this.#lines;
    this.#openBytes = 0;
    return true;
  }

  /** Yields the lines, newest first; may be called once, as it frees what it has handed on. */
  *handed(linesMax: number): Generator<HandedLines> {
    const ofChunk = Map.groupBy(this.#pieces, ({ chunk }) => chunk);
    this.#pieces = [];
    let left = linesMax;
    for (let chunk = 0; chunk < this.#kept && left > 0; chunk++) {
      for (const handed of this.#chunkLines(ofChunk.get(chunk) ?? [], left)) {
        yield handed;
        left -= handed.lines;
      }
    }
  }

  #chunkOf(ms: number): number {
    return countWhile(this.#firsts.length, (i) => ms < this.#firsts[i]!);
  }

  #packPiece(chunk: number, lines: Uint32Array): boolean {
    if (chunk >= this.#kept) return true;
    const open = this.#memory.open(0);
    const content = new Uint8Array(lines.reduce((sum, line) => sum + this.#lengths[line]!, 0));
    let bytes = 0;
    for (const line of lines) {
      const begin = this.#begins[line]!;
      content.set(open.subarray(begin, begin + this.#lengths[line]!), bytes);
      this.#begins[line] = bytes;
      bytes += this.#lengths[line]!;
    }
    const packed = zstdFrame(content);
    const { bytesMax } = this.#memory.sizes;
    while (this.#packedBytes + packed.length > bytesMax) {
      if (!this.#dropOldest()) return false;
      if (chunk >= this.#kept) return true;
    }
    this.#memory.packed.set(packed, this.#packedBytes);
    this.#pieces.push({ chunk, lines, at: this.#packedBytes, bytes: packed.length });
    this.#packedBytes += packed.length;
    return true;
  }

  /** Drops the oldest chunks, an eighth of the room or more. @returns false: only the newest is left */
  #dropOldest(): boolean {
    if (this.#kept === 1) return false;
    const bytesOf = new Float64Array(this.#kept);
    for (const { chunk, bytes } of this.#pieces) bytesOf[chunk]! += bytes;
    const wanted = DROPPED_SHARE * this.#memory.sizes.bytesMax;
    for (let freed = 0; freed < wanted && this.#kept > 1;) freed += bytesOf[--this.#kept]!;
    const { packed } = this.#memory;
    this.#pieces = this.#pieces.filter(({ chunk }) => chunk < this.#kept);
    this.#packedBytes = 0;
    for (const piece of this.#pieces) {
      packed.copyWithin(this.#packedBytes, piece.at, piece.at + piece.bytes);
      piece.at = this.#packedBytes;
      this.#packedBytes += piece.bytes;
    }
    return true;
  }

  /** Yields the lines of a chunk in order, in batches; each batch decompresses the pieces again. */
  *#chunkLines(pieces: readonly Piece[], linesMax: number): Generator<HandedLines> {
    const lines = pieces.flatMap(({ lines }) => [...lines]).sort((a, b) =>
      this.#ms[b]! - this.#ms[a]! || compareIds(this.#ids, ID_BYTES * b, this.#ids, ID_BYTES * a)
    );
    const { handedBytes } = this.#memory.sizes;
    const count = Math.min(lines.length, linesMax);
    for (let from = 0; from < count;) {
      const placeOf = new Map<number, number>();
      let bytes = 0;
      let to = from;
      for (; to < count; to++) {
        const length = this.#lengths[lines[to]!]!;
        if (to > from && bytes + length > handedBytes) break;
        placeOf.set(lines[to]!, bytes);
        bytes += length;
      }
      yield { bytes: this.#gathered(pieces, placeOf, bytes), lines: to - from };
      from = to;
    }
  }

  /** Returns the lines that `placeOf` names, each at its place. */
  #gathered(
    pieces: readonly Piece[],
    placeOf: ReadonlyMap<number, number>,
    bytes: number,
  ): Uint8Array {
    const all = new Uint8Array(bytes);
    for (const { lines, at, bytes: packedBytes } of pieces) {
      const last = lines.at(-1)!;
      const packed = this.#memory.packed.subarray(at, at + packedBytes);
      const maxOutputLength = this.#begins[last]! + this.#lengths[last]!;
      const plain = zstdDecompressSync(packed, { maxOutputLength });
      for (const line of lines) {
        const place = placeOf.get(line);
        const begin = this.#begins[line]!;
        if (place !== undefined) {
          all.set(plain.subarray(begin, begin + this.#lengths[line]!), place);
        }
      }
    }
    return all;
  }
}
