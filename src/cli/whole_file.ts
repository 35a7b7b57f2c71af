import { UsageMistake } from "./command.ts";

/** A file cannot be written. The message is a sentence for the person who named it. */
export class UnwritableFile extends Error {
  override readonly name = "UnwritableFile";
}

/** Returns the path of a file to be written. Throws UsageMistake for `-`, which other programs write to standard output for. */
export function outputPath(path: string): string {
  if (path !== "-") return path;
  throw new UsageMistake("`-` is no file to write: say its name (`./-` where that is its name).");
}

/** Returns why a file could not be written, as a sentence. */
export function unwritable(path: string, error: unknown): UnwritableFile {
  const reason = error instanceof Deno.errors.NotFound
    ? "its folder is not there"
    : error instanceof Deno.errors.PermissionDenied
    ? "whoever runs this command may not write there"
    : error instanceof Deno.errors.IsADirectory
    ? "it is a folder"
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
 * Opens an empty file that no other command writes, by the operating system's lock on it, which ends with the
 * process. Two of them in one file would make it a mixture that each calls whole.
 */
async function openForOne(path: string): Promise<Deno.FsFile> {
  for (;;) {
    const file = await Deno.open(path, { create: true, write: true, mode: 0o600 });
    try {
      // Some file systems have no locks.
      if (!await file.tryLock(true).catch(() => true)) {
        throw new Error("another command is writing it");
      }
      // Who wrote it until now may have given it its name, or removed it.
      const [own, named] = await Promise.all([file.stat(), Deno.stat(path).catch(() => null)]);
      if (named !== null && own.ino === named.ino && own.dev === named.dev) {
        await file.truncate(0);
        return file;
      }
    } catch (error) {
      file.close();
      throw error;
    }
    file.close();
  }
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
      const isPlain = there === null || there.isFile;
      const unfinished = isPlain ? `${path}.unfinished` : path;
      const file = isPlain
        ? await openForOne(unfinished)
        : await Deno.open(path, { write: true, mode: 0o600 });
      return new WholeFile(path, unfinished, file);
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
    // Removed while it is locked: once it is not, another command may be writing a file of that name.
    if (!this.#isWhole && this.unfinished !== this.path) {
      await Deno.remove(this.unfinished).catch(() => {});
    }
    this.file.close();
  }
}
