import { Readable, type Transform } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { ZstdFrames } from "./zstd_frames.ts";

/** Matches the message of the error for a stream that ends too soon; other errors mean that it is damaged. */
export const CUT_OFF = /end of file/i;

/** Yields the content of a packed stream. Throws what the unpacker throws. */
export async function* unpackedStream(
  unpack: () => Transform,
  packed: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const source = Readable.from(packed);
  const unpacker = unpack();
  source.on("error", (error) => unpacker.destroy(error));
  source.pipe(unpacker);
  try {
    yield* unpacker as AsyncIterable<Uint8Array>;
  } finally {
    source.destroy();
    unpacker.destroy();
  }
}

/** Yields the content of a zstd stream, frame by frame. Throws if it is damaged or cut off. */
export async function* unpackedZstd(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const frames = new ZstdFrames();
  const pieces = (async function* () {
    for await (const chunk of packed) yield* frames.cut(chunk);
  })();
  for (let first = await pieces.next(); !first.done; first = await pieces.next()) {
    let piece = first.value;
    const ofFrame = async function* () {
      for (;;) {
        yield piece.bytes;
        if (piece.isEnd) return;
        const next = await pieces.next();
        if (next.done) return;
        piece = next.value;
      }
    };
    yield* unpackedStream(createZstdDecompress, ofFrame());
    // The unpacker may end before it has read the frame's last bytes.
    while (!piece.isEnd) {
      const next = await pieces.next();
      if (next.done) break;
      piece = next.value;
    }
  }
  if (!frames.isWhole) throw new Error("unexpected end of file");
}

/** Yields the content of a gzip stream with any number of members. Throws if it is damaged or cut off. */
export function unpackedGzip(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  return unpackedStream(createGunzip, packed);
}
