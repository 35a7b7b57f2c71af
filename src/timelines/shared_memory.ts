import { countWhile } from "../store/segment_head.ts";
import { droppedBytes, noteDropped } from "./dropped_memory.ts";

/** Smaller buffers are left to the garbage collector. */
const RECYCLED_BYTES_MIN = 4_096;
/** A recycled buffer may be this many times as large as what was asked for. */
const SLACK = 1.5;
/**
 * A new one is at most this share larger than what was asked for, so that lists which grow a little between reads,
 * as that of a project's actors does, fit into one another's buffers.
 */
const ROUNDED_SHARE = 1 / 32;

/** Returns the bytes of a new buffer for this many. */
function roundedBytes(bytes: number): number {
  if (bytes < RECYCLED_BYTES_MIN) return bytes;
  const step = ROUNDED_SHARE * 2 ** Math.floor(Math.log2(bytes));
  return Math.ceil(bytes / step) * step;
}

/** Typed arrays that may lie in shared memory. */
export type Column =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float64Array;

interface Retired {
  readonly buffer: SharedArrayBuffer;
  /** The last read that may use it. */
  readonly lastRead: number;
}

function drop({ byteLength }: SharedArrayBuffer): void {
  noteDropped(droppedBytes() + byteLength);
}

/** Buffers that are given back together. */
export class MemoryScope {
  readonly #own = new Set<SharedArrayBuffer>();

  constructor(readonly memory: SharedMemory) {}

  readonly take: Take = (bytes) => {
    const buffer = this.memory.take(bytes);
    this.#own.add(buffer);
    return buffer;
  };

  /** Takes over a buffer that nobody else uses. */
  own({ buffer }: Column): void {
    if (buffer instanceof SharedArrayBuffer) this.#own.add(buffer);
  }

  /** Moves a buffer to another scope. */
  handOver(column: Column, to: MemoryScope): void {
    if (this.#own.delete(column.buffer as SharedArrayBuffer)) to.own(column);
  }

  /** Gives one buffer back, which nobody may use any more. */
  giveBack({ buffer }: Column): void {
    if (this.#own.delete(buffer as SharedArrayBuffer)) {
      this.memory.give(buffer as SharedArrayBuffer);
    }
  }

  /** Gives all buffers back, which nobody may use any more. */
  release(): void {
    for (const buffer of this.#own) this.memory.give(buffer);
    this.#own.clear();
  }
}

/** A read that is using shared memory. */
export class MemoryUse extends MemoryScope {
  readonly #running = new Set<Promise<unknown>>();

  constructor(memory: SharedMemory, private readonly leave: () => void) {
    super(memory);
  }

  /** Runs work that uses shared memory: it is awaited before that is given back. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  /** Ends the use once running work has ended. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#running);
    this.release();
    this.leave();
  }
}

/**
 * Memory that all threads share. Buffers are given back and recycled explicitly, since the garbage collector
 * does not count shared ones: 4 GB of dropped buffers were once left in memory.
 */
export class SharedMemory {
  /** Buffers to be recycled, the smallest first. */
  readonly #free: SharedArrayBuffer[] = [];
  /** The same, the longest unused first. */
  readonly #unused = new Set<SharedArrayBuffer>();
  #freeBytes = 0;
  #takenBytes = 0;
  #retired: Retired[] = [];
  #lastRead = 0;
  readonly #reads = new Set<number>();

  /** @param bytesMax free buffers are kept to be recycled while they and those in use take at most this */
  constructor(private readonly bytesMax: number) {}

  /** The bytes in use, kept to be recycled, or waiting for reads to end. */
  get bytes(): number {
    return this.#takenBytes + this.#freeBytes;
  }

  /** Returns a buffer of at least this many bytes, with undefined contents. */
  take(bytes: number): SharedArrayBuffer {
    const at = this.#placeOf(bytes);
    const isRecycled = bytes >= RECYCLED_BYTES_MIN && at < this.#free.length;
    const fits = isRecycled && this.#free[at]!.byteLength <= SLACK * bytes;
    const buffer = fits ? this.#free[at]! : new SharedArrayBuffer(roundedBytes(bytes));
    if (fits) this.#takeOut(buffer, at);
    this.#takenBytes += buffer.byteLength;
    return buffer;
  }

  /** Gives back a buffer that nobody uses any more. */
  give(buffer: SharedArrayBuffer): void {
    this.#takenBytes -= buffer.byteLength;
    if (buffer.byteLength < RECYCLED_BYTES_MIN) return drop(buffer);
    this.#free.splice(this.#placeOf(buffer.byteLength), 0, buffer);
    this.#unused.add(buffer);
    this.#freeBytes += buffer.byteLength;
    for (const buffer of this.#unused) {
      if (this.bytes <= this.bytesMax) return;
      this.#takeOut(buffer, this.#free.indexOf(buffer, this.#placeOf(buffer.byteLength)));
      drop(buffer);
    }
  }

  #takeOut(buffer: SharedArrayBuffer, at: number): void {
    this.#free.splice(at, 1);
    this.#unused.delete(buffer);
    this.#freeBytes -= buffer.byteLength;
  }

  /** Returns the place of the smallest free buffer of at least this many bytes; their number: there is none. */
  #placeOf(bytes: number): number {
    return countWhile(this.#free.length, (at) => this.#free[at]!.byteLength < bytes);
  }

  /** Gives back what no new read will use, once all reads under way have ended. */
  retire({ buffer }: Column): void {
    if (!(buffer instanceof SharedArrayBuffer)) return;
    this.#retired.push({ buffer, lastRead: this.#lastRead });
    this.#reclaim();
  }

  /** Begins a read. */
  enter(): MemoryUse {
    const read = ++this.#lastRead;
    this.#reads.add(read);
    return new MemoryUse(this, () => {
      if (this.#reads.delete(read)) this.#reclaim();
    });
  }

  #reclaim(): void {
    const [first = Infinity] = this.#reads;
    const [done, waiting] = [
      this.#retired.filter(({ lastRead }) => lastRead < first),
      this.#retired.filter(({ lastRead }) => lastRead >= first),
    ];
    this.#retired = waiting;
    for (const { buffer } of done) this.give(buffer);
  }
}

/** Allocates shared memory of a number of bytes. */
export type Take = (bytes: number) => SharedArrayBuffer;

const ALIGNED = 8;

/**
 * Allocates columns side by side in one shared buffer, with undefined contents.
 * @param wanted by name, a column of the same kind, and the length
 */
export function room<T extends Readonly<Record<string, readonly [kind: Column, length: number]>>>(
  take: Take,
  wanted: T,
): { readonly [N in keyof T]: T[N][0] } {
  const entries = Object.entries(wanted);
  const bytesOf = ([{ BYTES_PER_ELEMENT }, length]: readonly [Column, number]) =>
    Math.ceil(length * BYTES_PER_ELEMENT / ALIGNED) * ALIGNED;
  const buffer = take(entries.reduce((sum, [, one]) => sum + bytesOf(one), 0));
  let from = 0;
  const columns = entries.map(([name, one]) => {
    const [{ constructor }, length] = one;
    const Own = constructor as {
      new (buffer: SharedArrayBuffer, from: number, length: number): Column;
    };
    const column = new Own(buffer, from, length);
    from += bytesOf(one);
    return [name, column];
  });
  return Object.fromEntries(columns);
}

/** A kind of typed array. */
interface ColumnKind<T extends Column> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: SharedArrayBuffer, from: number, length: number): T;
}

/** Allocates a column of zeros. */
export function zeros<T extends Column>(take: Take, kind: ColumnKind<T>, length: number): T {
  // Recycled memory has old contents.
  return new kind(take(length * kind.BYTES_PER_ELEMENT), 0, length).fill(0) as T;
}

/** Copies columns into one shared buffer, side by side. */
export function shared<T extends Readonly<Record<string, Column>>>(take: Take, columns: T): T {
  const entries = Object.entries(columns);
  const copies = room(
    take,
    Object.fromEntries(entries.map(([name, column]) => [name, [column, column.length] as const])),
  );
  for (const [name, column] of entries) copies[name]!.set(column);
  return copies as T;
}

/** Copies a column into shared memory. */
export function sharedColumn<T extends Column>(take: Take, column: T): T {
  return shared(take, { column }).column;
}
