/** A growing buffer that numbers and bytes are appended to; numbers are little-endian. */
export class ByteWriter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Makes room for this many more bytes. @returns where they begin */
  #grow(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, at));
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }

  u8(value: number): void {
    const at = this.#grow(1);
    this.#view.setUint8(at, value);
  }

  u32(value: number): void {
    const at = this.#grow(4);
    this.#view.setUint32(at, value, true);
  }

  i32(value: number): void {
    const at = this.#grow(4);
    this.#view.setInt32(at, value, true);
  }

  f64(value: number): void {
    const at = this.#grow(8);
    this.#view.setFloat64(at, value, true);
  }

  /** Writes a whole number from 0 to 2^32 - 1, seven bits a byte. */
  varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = rest >>> 7) this.u8((rest & 0x7f) | 0x80);
    this.u8(rest);
  }

  bytes(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** Returns a copy of all that was written. */
  end(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }
}

/** Counts the memory that kept decoded values take. */
export interface KeptMemory {
  bytes: number;
}

/** Reads what a `ByteWriter` wrote, in the same order. Throws RangeError past the end. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  /** @param kept where decoded values are kept, and counted; null: they are decoded each time */
  constructor(bytes: Uint8Array, readonly kept: KeptMemory | null = null) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(): number {
    return this.#view.getUint8(this.#at++);
  }

  u32(): number {
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  i32(): number {
    this.#at += 4;
    return this.#view.getInt32(this.#at - 4, true);
  }

  f64(): number {
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }

  varint(): number {
    let value = 0;
    for (let shift = 0;; shift += 7) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  /** Wraps `make` so that it runs only once if its result is kept. */
  keeping<T extends Uint8Array | Int32Array | Uint32Array>(make: () => T): () => T {
    const { kept } = this;
    if (kept === null) return make;
    let made: T | null = null;
    return () => {
      if (made === null) {
        made = make();
        kept.bytes += made.byteLength;
      }
      return made;
    };
  }

  /** Returns the next bytes as a view, not a copy. */
  bytes(length: number): Uint8Array {
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new RangeError("Bytes end too early");
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
