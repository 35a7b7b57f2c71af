/** A file cannot be written. The message is a sentence for the person who named it. */
export class UnwritableFile extends Error {
  override readonly name = "UnwritableFile";
}

/** Returns why a file could not be written, as a sentence. */
export function unwritable(path: string, error: unknown): UnwritableFile {
  const reason = error instanceof Deno.errors.NotFound
    ? "its folder is not there"
    : error instanceof Deno.errors.PermissionDenied
    ? "whoever runs this command may not write there"
    : /no space left|os error 28|quota/i.test(String(error))
    ? "the disk is full"
    : error instanceof Error
    ? error.message
    : String(error);
  return new UnwritableFile(`${path} cannot be written: ${reason}.`, { cause: error });
}

/** Writes all bytes. */
export async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await file.write(rest));
}

/**
 * A file that gets its name only once it is complete, so that an incomplete file is never mistaken for it; an
 * older file of that name stays until then. Anything but a plain file, such as a pipe, is written directly.
 */
export class WholeFile {
  #isWhole = false;

  private constructor(
    readonly path: string,
    readonly unfinished: string,
    readonly file: Deno.FsFile,
  ) {}

  /** Opens a file that only its owner may read. Throws UnwritableFile. */
  static async open(path: string): Promise<WholeFile> {
    try {
      const there = await Deno.stat(path).catch(() => null);
      const unfinished = there === null || there.isFile ? `${path}.unfinished` : path;
      const options = { create: true, truncate: true, write: true, mode: 0o600 };
      return new WholeFile(path, unfinished, await Deno.open(unfinished, options));
    } catch (error) {
      throw unwritable(path, error);
    }
  }

  /** Throws UnwritableFile. */
  async write(bytes: Uint8Array): Promise<void> {
    try {
      await writeAll(this.file, bytes);
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  /** Gives the file its name. Throws UnwritableFile. */
  async finish(): Promise<void> {
    if (this.unfinished !== this.path) {
      try {
        await this.file.sync();
        await Deno.rename(this.unfinished, this.path);
      } catch (error) {
        throw unwritable(this.path, error);
      }
    }
    this.#isWhole = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.file.close();
    if (this.#isWhole || this.unfinished === this.path) return;
    await Deno.remove(this.unfinished).catch(() => {});
  }
}
