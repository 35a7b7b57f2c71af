import { crc32, createInflateRaw } from "node:zlib";
import { unpackedGzip, unpackedStream, unpackedZstd } from "../event_file/unpacked_stream.ts";
import { FileProblem } from "./file_problem.ts";
import { INFLATED_BYTES_TRUSTED, INFLATION_MAX } from "./importer_limits.ts";
import { type ByteSource, type InputFile, peeked, readBytes, tallied } from "./input_file.ts";
import { dataStart, readZipDirectory, type ZipEntry } from "./zip_directory.ts";

/** A file as the product wrote it: taken out of an archive, and unpacked. */
export interface PlainFile {
  /** `archive.zip › events.json` inside of an archive. */
  readonly name: string;
  readonly bytes: () => ByteSource;
  /** The file itself if it is neither packed nor in an archive, for formats that are read from their end; else null. */
  readonly whole: InputFile | null;
}

/** Called with the number of bytes of each chunk that is read from the chosen files. */
export type BytesRead = (bytes: number) => void;

type Packing = "gzip" | "zstd" | "deflate";

const INFLATERS: Readonly<Record<Packing, (packed: ByteSource) => ByteSource>> = {
  gzip: unpackedGzip,
  zstd: unpackedZstd,
  deflate: (packed) => unpackedStream(createInflateRaw, packed),
};
const SIGNATURE_BYTES = 4;
const STORED = 0;
const DEFLATED = 8;

function startsWith(bytes: Uint8Array, ...signature: readonly number[]): boolean {
  return signature.every((byte, i) => bytes[i] === byte);
}

/** Yields unpacked bytes. Throws FileProblem for a file that is damaged, or grows as no real one does. */
async function* inflated(name: string, packing: Packing, source: ByteSource): ByteSource {
  let packed = 0;
  let unpacked = 0;
  try {
    for await (const chunk of INFLATERS[packing](tallied(source, (bytes) => packed += bytes))) {
      unpacked += chunk.length;
      if (unpacked > INFLATED_BYTES_TRUSTED && unpacked > INFLATION_MAX * packed) {
        throw new FileProblem(
          name,
          `it becomes more than ${INFLATION_MAX} times as large when it is unpacked, as no export does.`,
        );
      }
      yield chunk;
    }
  } catch (error) {
    if (error instanceof FileProblem) throw error;
    throw new FileProblem(
      name,
      `it is cut off or damaged: ${unpacked} bytes could be unpacked. Fetch it again.`,
    );
  }
}

/** Yields the bytes of a zip's entry. Throws FileProblem at the end if length or checksum differ from the zip's. */
async function* checked(name: string, entry: ZipEntry, source: ByteSource): ByteSource {
  let crc = 0;
  let bytes = 0;
  for await (const chunk of source) {
    crc = crc32(chunk, crc);
    bytes += chunk.length;
    yield chunk;
  }
  if (crc !== entry.crc || bytes !== entry.unpacked) {
    throw new FileProblem(name, "its checksum is wrong: the zip is damaged. Fetch it again.");
  }
}

function packingOf(head: Uint8Array): Packing | null {
  if (startsWith(head, 0x1f, 0x8b)) return "gzip";
  return startsWith(head, 0x28, 0xb5, 0x2f, 0xfd) ? "zstd" : null;
}

/** Yields bytes, unpacked if they are packed: files in Amplitude's zips are. */
async function* plainBytes(name: string, source: ByteSource): ByteSource {
  const { head, bytes } = await peeked(source, SIGNATURE_BYTES);
  const packing = packingOf(head);
  yield* packing === null ? bytes : inflated(name, packing, bytes);
}

async function* entryBytes(file: InputFile, name: string, entry: ZipEntry, read: BytesRead) {
  if (entry.encrypted) throw new FileProblem(name, "it needs a password: unpack the zip first.");
  if (entry.method !== STORED && entry.method !== DEFLATED) {
    throw new FileProblem(name, "it is packed in a way that is not read: unpack the zip first.");
  }
  const start = await dataStart(file, entry);
  const packed = tallied(file.read(start, start + entry.packed), read);
  const bytes = entry.method === STORED ? packed : inflated(name, "deflate", packed);
  yield* plainBytes(name, checked(name, entry, bytes));
}

/** Files that macOS adds to archives. */
const LITTER = /(?:^|\/)(?:__MACOSX\/|\._|\.DS_Store$)/;

/**
 * Yields the plain files of a chosen file: itself, unpacked if it is gzip or zstd, or each file of a zip. The
 * first bytes identify its kind, never its name.
 *
 * @throws FileProblem for an archive that cannot be read
 */
export async function* plainFiles(file: InputFile, read: BytesRead): AsyncGenerator<PlainFile> {
  const head = await readBytes(file, 0, SIGNATURE_BYTES);
  if (startsWith(head, 0x50, 0x4b, 0x03, 0x04) || startsWith(head, 0x50, 0x4b, 0x05, 0x06)) {
    for (const entry of await readZipDirectory(file)) {
      if (LITTER.test(entry.name)) continue;
      const name = `${file.name} › ${entry.name}`;
      yield { name, whole: null, bytes: () => entryBytes(file, name, entry, read) };
    }
    return;
  }
  yield {
    name: file.name,
    whole: packingOf(head) === null ? file : null,
    bytes: () => plainBytes(file.name, tallied(file.read(0, file.size), read)),
  };
}
