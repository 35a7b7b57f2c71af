import { READ_BYTES } from "./importer_limits.ts";

/** A stream of bytes. */
export type ByteSource = AsyncIterable<Uint8Array>;

/** A file that can be read from any place, and several times. */
export interface InputFile {
  readonly name: string;
  readonly size: number;
  /** Yields the bytes from `start` to just before `end`. */
  readonly read: (start: number, end: number) => ByteSource;
}

/** Returns a file on disk. Throws what Deno throws if it cannot be accessed. */
export async function diskFile(path: string, name = path): Promise<InputFile> {
  const { size } = await Deno.stat(path);
  return {
    name,
    size,
    async *read(start, end) {
      using file = await Deno.open(path);
      await file.seek(start, Deno.SeekMode.Start);
      for (let at = start; at < end;) {
        const chunk = new Uint8Array(Math.min(READ_BYTES, end - at));
        const length = await file.read(chunk);
        if (length === null) return;
        at += length;
        yield chunk.subarray(0, length);
      }
    },
  };
}

/** Returns bytes in memory as a file. */
export function memoryFile(name: string, bytes: Uint8Array): InputFile {
  return {
    name,
    size: bytes.length,
    async *read(start, end) {
      for (let at = start; at < Math.min(end, bytes.length); at += READ_BYTES) {
        yield bytes.subarray(at, Math.min(at + READ_BYTES, end));
      }
    },
  };
}

/** Reads all bytes from `start` to just before `end` in one piece; fewer if the file ends before. */
export async function readBytes(
  file: InputFile,
  start: number,
  end: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(Math.max(0, Math.min(end, file.size) - start));
  let length = 0;
  for await (const chunk of file.read(start, start + bytes.length)) {
    bytes.set(chunk, length);
    length += chunk.length;
  }
  return bytes.subarray(0, length);
}

/** Joins pieces of bytes into one. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Yields the bytes, and calls `read` with the length of each chunk. */
export async function* tallied(source: ByteSource, read: (bytes: number) => void): ByteSource {
  for await (const chunk of source) {
    read(chunk.length);
    yield chunk;
  }
}

/** Returns at least the first `count` bytes of a source if it has them, and all of its bytes. */
export async function peeked(
  source: ByteSource,
  count: number,
): Promise<{ readonly head: Uint8Array; readonly bytes: ByteSource }> {
  const iterator = source[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  for (let length = 0; length < count;) {
    const { value, done } = await iterator.next();
    if (done) break;
    first.push(value);
    length += value.length;
  }
  return { head: joined(first), bytes: continued(first, iterator) };
}

/** Yields the first chunks of a source, which were read already, and then the rest. */
export async function* continued(
  first: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* first;
    for (;;) {
      const { value, done } = await rest.next();
      if (done) return;
      yield value;
    }
  } finally {
    await rest.return?.();
  }
}
