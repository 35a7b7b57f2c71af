import { UsageMistake } from "./command.ts";

/** A file cannot be written. The message is a sentence for the person who named it. */
export class UnwritableFile extends Error {
  override readonly name = "UnwritableFile";
}

/** Returns the path of a file to write. Throws UsageMistake for `-`, which means standard output elsewhere. */
export function outputPath(path: string): string {
  if (path !== "-") return path;
  throw new UsageMistake("`-` is no file to write: say its name (`./-` where that is its name).");
}

/** Returns the error for a file that could not be written, with the reason. */
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
 * Opens an empty file, and locks it until this process ends: two commands that wrote the same file would each
 * report a mixture as complete.
 */
async function openLocked(path: string): Promise<Deno.FsFile> {
  for (;;) {
    const file = await Deno.open(path, { create: true, write: true, mode: 0o600 });
    try {
      // Some file systems have no locks.
      if (!await file.tryLock(true).catch(() => true)) {
        throw new Error("another command is writing it");
      }
      // Another command may have renamed or removed it before it released the lock.
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
 * older file of that name stays until then. Anything but a regular file, such as a pipe, is written directly.
 */
export class WholeFile {
  #isFinished = false;

  private constructor(
    readonly path: string,
    readonly unfinished: string,
    readonly file: Deno.FsFile,
  ) {}

  /** Opens a file that only its owner may read. Throws UnwritableFile. */
  static async open(path: string): Promise<WholeFile> {
    try {
      const existing = await Deno.stat(path).catch(() => null);
      const isRegular = existing === null || existing.isFile;
      const unfinished = isRegular ? `${path}.unfinished` : path;
      const file = isRegular
        ? await openLocked(unfinished)
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
    this.#isFinished = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Removed before it is unlocked: afterwards another command may be writing a file of that name.
    if (!this.#isFinished && this.unfinished !== this.path) {
      await Deno.remove(this.unfinished).catch(() => {});
    }
    this.file.close();
  }
}
