/** What is smaller is left to the garbage collector. */
const RECYCLED_BYTES_MIN = 65_536;
/** A buffer may be this many times as large as what it is taken for. */
const SLACK = 1.5;

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
  /** The last read that may look at it. */
  readonly lastRead: number;
}

/** Memory that is given back together. */
export class MemoryScope {
  readonly #own = new Set<SharedArrayBuffer>();

  constructor(readonly memory: SharedMemory) {}

  readonly take = (bytes: number): SharedArrayBuffer => {
    const buffer = this.memory.take(bytes);
    this.#own.add(buffer);
    return buffer;
  };

  /** Takes over what nobody else looks at. */
  own({ buffer }: Column): void {
    if (buffer instanceof SharedArrayBuffer) this.#own.add(buffer);
  }

  /** Has another scope give back what this one was to give back. */
  handOver(column: Column, to: MemoryScope): void {
    if (this.#own.delete(column.buffer as SharedArrayBuffer)) to.own(column);
  }

  /** Nobody looks at this any more. */
  giveBack({ buffer }: Column): void {
    if (this.#own.delete(buffer as SharedArrayBuffer)) {
      this.memory.give(buffer as SharedArrayBuffer);
    }
  }

  /** Nobody looks at any of it any more. */
  release(): void {
    for (const buffer of this.#own) this.memory.give(buffer);
    this.#own.clear();
  }
}

/** One read, while it looks at shared memory. */
export class MemoryUse extends MemoryScope {
  readonly #running = new Set<Promise<unknown>>();
  readonly #leave: () => void;

  constructor(memory: SharedMemory, leave: () => void) {
    super(memory);
    this.#leave = leave;
  }

  /** Work that looks at shared memory: it is waited for before that is given back. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  /** Nothing of the read looks at shared memory any more, once what runs has ended. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#running);
    this.release();
    this.#leave();
  }
}

/**
 * Memory that all threads see. The garbage collector does not count what is shared: without anybody's
 * doing, 4 GB of dropped buffers lay about at once. So they are given back by hand, and taken again.
 */
export class SharedMemory {
  readonly #freeBytesMax: number;
  /** Given back, the smallest first. */
  readonly #free: SharedArrayBuffer[] = [];
  #freeBytes = 0;
  #takenBytes = 0;
  #retired: Retired[] = [];
  #lastRead = 0;
  readonly #reads = new Set<number>();

  /** `freeBytesMax`: what is kept at most for what comes next. */
  constructor(freeBytesMax: number) {
    this.#freeBytesMax = freeBytesMax;
  }

  /** Bytes that are taken, are kept to be taken again, or wait for reads to end. */
  get bytes(): number {
    return this.#takenBytes + this.#freeBytes;
  }

  /** A buffer of at least so many bytes, whatever they hold. */
  take(bytes: number): SharedArrayBuffer {
    const at = bytes < RECYCLED_BYTES_MIN
      ? -1
      : this.#free.findIndex(({ byteLength }) => byteLength >= bytes);
    const fits = at >= 0 && this.#free[at]!.byteLength <= SLACK * bytes;
    const buffer = fits ? this.#free.splice(at, 1)[0]! : new SharedArrayBuffer(bytes);
    if (fits) this.#freeBytes -= buffer.byteLength;
    this.#takenBytes += buffer.byteLength;
    return buffer;
  }

  /** Gives back what nobody looks at any more. */
  give(buffer: SharedArrayBuffer): void {
    this.#takenBytes -= buffer.byteLength;
    if (buffer.byteLength < RECYCLED_BYTES_MIN) return;
    const at = this.#free.findIndex(({ byteLength }) => byteLength >= buffer.byteLength);
    this.#free.splice(at < 0 ? this.#free.length : at, 0, buffer);
    this.#freeBytes += buffer.byteLength;
    // The smallest is the easiest to have anew.
    while (this.#freeBytes > this.#freeBytesMax) {
      this.#freeBytes -= this.#free.shift()!.byteLength;
    }
  }

  /** Gives back what no read that begins from now on looks at, once all that are under way have ended. */
  retire({ buffer }: Column): void {
    if (!(buffer instanceof SharedArrayBuffer)) return;
    this.#retired.push({ buffer, lastRead: this.#lastRead });
    this.#reclaim();
  }

  /** A read begins. */
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

const ALIGNED = 8;

/** Columns of these kinds and lengths in shared memory, side by side in one buffer: whatever they hold. */
export function room<T extends Readonly<Record<string, Column>>>(
  take: (bytes: number) => SharedArrayBuffer,
  kinds: T,
  lengths: Readonly<Record<keyof T, number>>,
): T {
  const sizes = Object.entries(kinds).map(([name, { BYTES_PER_ELEMENT, constructor }]) => {
    const bytes = Math.ceil(lengths[name]! * BYTES_PER_ELEMENT / ALIGNED) * ALIGNED;
    return { name, bytes, constructor };
  });
  const buffer = take(sizes.reduce((sum, { bytes }) => sum + bytes, 0));
  let from = 0;
  const columns = sizes.map(({ name, bytes, constructor }) => {
    const Own = constructor as {
      new (buffer: SharedArrayBuffer, from: number, length: number): Column;
    };
    const column = new Own(buffer, from, lengths[name]!);
    from += bytes;
    return [name, column];
  });
  return Object.fromEntries(columns);
}

/** The same values in shared memory, side by side in one buffer. */
export function shared<T extends Readonly<Record<string, Column>>>(
  take: (bytes: number) => SharedArrayBuffer,
  columns: T,
): T {
  const lengths = Object.fromEntries(
    Object.entries(columns).map(([name, { length }]) => [name, length]),
  );
  const copies = room(take, columns, lengths as Record<keyof T, number>);
  for (const [name, column] of Object.entries(columns)) copies[name]!.set(column);
  return copies;
}

/** The same column in shared memory. */
export function sharedColumn<T extends Column>(
  take: (bytes: number) => SharedArrayBuffer,
  column: T,
): T {
  return shared(take, { column }).column;
}
