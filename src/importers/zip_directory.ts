import { FileProblem } from "./file_problem.ts";
import { ZIP_DIRECTORY_BYTES_MAX, ZIP_ENTRIES_MAX } from "./importer_limits.ts";
import { type InputFile, readBytes } from "./input_file.ts";

/** One file in a zip. */
export interface ZipEntry {
  readonly name: string;
  /** 0: stored; 8: deflated. */
  readonly method: number;
  readonly packed: number;
  readonly unpacked: number;
  readonly crc: number;
  readonly encrypted: boolean;
  /** The byte at which its local header begins. */
  readonly at: number;
}

const END = 0x06054b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const LOCATOR_64 = 0x07064b50;
const LOCATOR_64_BYTES = 20;
const END_64 = 0x06064b50;
const END_64_BYTES = 56;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
const EXTRA_64 = 1;
const IN_64 = 0xffffffff;
const COUNT_IN_64 = 0xffff;
const ENCRYPTED = 1;

const viewOf = (bytes: Uint8Array) =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

interface Directory {
  readonly at: number;
  readonly bytes: number;
  readonly entries: number;
}

const cutOff = (file: InputFile) =>
  new FileProblem(
    file.name,
    "the zip's table of contents at its end is missing: the file is cut off or damaged.",
  );

/** Finds the table of contents, by the record at the end of the file. */
async function findDirectory(file: InputFile): Promise<Directory> {
  const from = Math.max(0, file.size - END_BYTES - COMMENT_BYTES_MAX - LOCATOR_64_BYTES);
  const tail = viewOf(await readBytes(file, from, file.size));
  let at = tail.byteLength - END_BYTES;
  while (at >= 0 && tail.getUint32(at, true) !== END) at--;
  if (at < 0) throw cutOff(file);
  const directory = {
    entries: tail.getUint16(at + 10, true),
    bytes: tail.getUint32(at + 12, true),
    at: tail.getUint32(at + 16, true),
  };
  const wide = directory.entries === COUNT_IN_64 || directory.bytes === IN_64 ||
    directory.at === IN_64;
  const locator = at - LOCATOR_64_BYTES;
  if (!wide || locator < 0 || tail.getUint32(locator, true) !== LOCATOR_64) return directory;
  const endAt = Number(tail.getBigUint64(locator + 8, true));
  const end = viewOf(await readBytes(file, endAt, endAt + END_64_BYTES));
  if (end.byteLength < END_64_BYTES || end.getUint32(0, true) !== END_64) throw cutOff(file);
  return {
    entries: Number(end.getBigUint64(32, true)),
    bytes: Number(end.getBigUint64(40, true)),
    at: Number(end.getBigUint64(48, true)),
  };
}

/** Replaces sizes and positions that need more than 32 bits by those in the ZIP64 extra field. */
function wideNumbers(extra: DataView, numbers: readonly number[]): number[] {
  for (let at = 0; at + 4 <= extra.byteLength;) {
    const length = extra.getUint16(at + 2, true);
    if (extra.getUint16(at, true) !== EXTRA_64) {
      at += 4 + length;
      continue;
    }
    let next = at + 4;
    return numbers.map((number) => {
      if (number !== IN_64 || next + 8 > extra.byteLength) return number;
      next += 8;
      return Number(extra.getBigUint64(next - 8, true));
    });
  }
  return [...numbers];
}

/** Throws FileProblem for overlapping files, with which a small zip could contain any number of large ones. */
function assertApart(file: InputFile, entries: readonly ZipEntry[]): void {
  let end = 0;
  for (const { at, packed } of entries.toSorted((a, b) => a.at - b.at)) {
    if (at < end) {
      throw new FileProblem(file.name, "files lie in each other in the zip: it is damaged.");
    }
    end = at + LOCAL_BYTES + packed;
  }
}

/**
 * Reads the list of files in a zip, in its order, without folders.
 *
 * @throws FileProblem if its table of contents cannot be read
 */
export async function readZipDirectory(file: InputFile): Promise<ZipEntry[]> {
  const directory = await findDirectory(file);
  if (directory.entries > ZIP_ENTRIES_MAX || directory.bytes > ZIP_DIRECTORY_BYTES_MAX) {
    throw new FileProblem(file.name, `a zip may hold at most ${ZIP_ENTRIES_MAX} files.`);
  }
  const bytes = await readBytes(file, directory.at, directory.at + directory.bytes);
  const view = viewOf(bytes);
  const entries: ZipEntry[] = [];
  for (let at = 0, count = 0; count < directory.entries; count++) {
    if (at + ENTRY_BYTES > bytes.length || view.getUint32(at, true) !== ENTRY) throw cutOff(file);
    const nameAt = at + ENTRY_BYTES;
    const extraAt = nameAt + view.getUint16(at + 28, true);
    const commentAt = extraAt + view.getUint16(at + 30, true);
    if (commentAt > bytes.length) throw cutOff(file);
    const name = new TextDecoder().decode(bytes.subarray(nameAt, extraAt));
    const [unpacked = 0, packed = 0, headerAt = 0] = wideNumbers(
      viewOf(bytes.subarray(extraAt, commentAt)),
      [view.getUint32(at + 24, true), view.getUint32(at + 20, true), view.getUint32(at + 42, true)],
    );
    const encrypted = (view.getUint16(at + 8, true) & ENCRYPTED) !== 0;
    const method = view.getUint16(at + 10, true);
    const crc = view.getUint32(at + 16, true);
    if (!name.endsWith("/")) {
      entries.push({ name, method, packed, unpacked, crc, encrypted, at: headerAt });
    }
    at = commentAt + view.getUint16(at + 32, true);
  }
  assertApart(file, entries);
  return entries;
}

/** Returns the position of a file's bytes in a zip. Throws FileProblem if there is no local header. */
export async function dataStart(file: InputFile, entry: ZipEntry): Promise<number> {
  const header = viewOf(await readBytes(file, entry.at, entry.at + LOCAL_BYTES));
  if (header.byteLength < LOCAL_BYTES || header.getUint32(0, true) !== LOCAL) throw cutOff(file);
  return entry.at + LOCAL_BYTES + header.getUint16(26, true) + header.getUint16(28, true);
}
