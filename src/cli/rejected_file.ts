import { dirname, join } from "node:path";
import { type Call, UsageMistake } from "./command.ts";
import type { RefusedLine } from "./import_lines.ts";
import { outputPath, unwritable, writeAll } from "./whole_file.ts";

/** The most bytes of a line that are written. */
const TEXT_BYTES_MAX = 64 * 1024;
const LENIENT = new TextDecoder();

/**
 * Returns the path of the file for refused lines; by default it is beside the first imported file.
 * Throws UsageMistake.
 * @param first the first file, as the user typed it; `-`: standard input; absent: no file is imported
 */
export function rejectedPath({ options }: Pick<Call, "options">, first: string = "-"): string {
  const folder = first === "-" ? "" : dirname(first);
  return outputPath(options.text("rejected") ?? join(folder, "rejected.ndjson"));
}

/** Renames the file of an earlier import: appends the first number that is free. */
async function keepEarlier(path: string): Promise<void> {
  const earlier = await Deno.stat(path).catch(() => null);
  if (earlier === null || !earlier.isFile || earlier.size === 0) return;
  const isThere = (name: string) => Deno.lstat(name).then(() => true, () => false);
  let number = 1;
  while (await isThere(`${path}.${number}`)) number++;
  await Deno.rename(path, `${path}.${number}`);
}

/** Returns a text that is the same for all paths of one file; null: there is no file, or it cannot be examined. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const { dev, ino } = await Deno.stat(path);
    // Windows has no such numbers.
    return ino === null ? await Deno.realPath(path) : `${dev} ${ino}`;
  } catch {
    // Opening it reports the reason.
    return null;
  }
}

/** Returns `identityOf` the file that standard input is redirected from. */
async function identityOfInput(): Promise<string> {
  const { fstatSync } = await import("node:fs");
  const { dev, ino } = fstatSync(0);
  return `${dev} ${ino}`;
}

/**
 * Throws UsageMistake if refused lines would overwrite an imported file. To be called before either is opened.
 * @param words the imported files, as the user typed them; `-`: standard input
 */
export async function assertNoInput(path: string, words: readonly string[]): Promise<void> {
  const output = await identityOf(path);
  if (output === null) return;
  for (const word of words) {
    const input = word === "-" ? await identityOfInput() : await identityOf(word);
    if (input !== output) continue;
    throw new UsageMistake(
      `Refused lines would be written over ${path}, which is imported: name another file for them ` +
        "with --rejected.",
    );
  }
}

/** How far an import has written the file of refused lines. */
export interface WrittenRefusals {
  /** The length of the file; 0: there is none yet. */
  readonly bytes: number;
  /** Its `identityOf`; null: there is none yet, or an earlier version of the program did not note it. */
  readonly file: string | null;
}

/**
 * The file of refused lines, each with the reason: `{ line, code, message, text }`. It is made with the first
 * refused line; a file that another import left is renamed. A resumed import truncates its own file to the
 * noted length, and reports later lines again.
 */
export class RejectedFile {
  #file: Deno.FsFile | null = null;

  /** @param written what is kept of the file if an import is resumed */
  constructor(readonly path: string, public written: WrittenRefusals = { bytes: 0, file: null }) {}

  /** Adds a line. @param file the name of its file, if an import has several */
  async add(
    { line: { number, bytes }, code, message }: RefusedLine,
    file: string | null = null,
  ): Promise<void> {
    const text = LENIENT.decode(bytes.subarray(0, TEXT_BYTES_MAX));
    const cut = bytes.length > TEXT_BYTES_MAX ? { isCut: true } : {};
    const named = file === null ? {} : { file };
    const line = new TextEncoder().encode(
      `${JSON.stringify({ ...named, line: number, code, message, text, ...cut })}\n`,
    );
    try {
      this.#file ??= await this.#open();
      await writeAll(this.#file, line);
    } catch (error) {
      throw unwritable(this.path, error);
    }
    this.written = { ...this.written, bytes: this.written.bytes + line.length };
  }

  /** Opens the file, which only its owner may read: lines may contain personal data. */
  async #open(): Promise<Deno.FsFile> {
    const { bytes: kept, file: own } = this.written;
    const isOwn = own !== null && await identityOf(this.path) === own;
    if (!isOwn) await keepEarlier(this.path);
    const file = await Deno.open(this.path, { create: true, write: true, mode: 0o600 });
    const bytes = isOwn ? Math.min(kept, (await file.stat()).size) : 0;
    await file.truncate(bytes);
    await file.seek(bytes, Deno.SeekMode.Start);
    this.written = { bytes, file: await identityOf(this.path) };
    return file;
  }

  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = null;
  }
}
