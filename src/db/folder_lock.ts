import { join } from "node:path";

/** Another process has the data folder. The message is for the operator. */
export class FolderInUse extends Error {
  override readonly name = "FolderInUse";
}

/** The data folder cannot be made or written. The message is for the operator. */
export class FolderUnusable extends Error {
  override readonly name = "FolderUnusable";
}

export interface FolderLock {
  release(): void;
}

/**
 * Takes the data folder for this process only, with the operating system's lock on `footfall.lock`, which ends with
 * the process in any case. The file stays; the process id in it is for people. It does not wait, so that a starting
 * engine is under way before the thread is busy with loading the program.
 *
 * @throws FolderInUse if another holder has it; FolderUnusable.
 */
export function lockFolder(folder: string): FolderLock {
  const path = join(folder, "footfall.lock");
  const file = openLockFile(folder, path);
  if (!file.tryLockSync(true)) {
    file.close();
    const holder = holderOf(path);
    throw new FolderInUse(
      `The data folder ${folder} is in use by another Footfall process` +
        `${holder === "" ? "" : ` (pid ${holder})`}. Stop that process first, give this one ` +
        `another DATA_DIR, or set DATABASE_URL so that several can share a PostgreSQL.`,
    );
  }
  file.truncateSync(0);
  file.writeSync(new TextEncoder().encode(`${Deno.pid}\n`));
  return {
    release() {
      // A child process that is being started holds a copy of the file, and so the lock, for a moment.
      file.unlockSync();
      file.close();
    },
  };
}

/** Returns the process id in the lock's file; empty: it cannot be read. */
function holderOf(path: string): string {
  try {
    return Deno.readTextFileSync(path).trim();
  } catch {
    return "";
  }
}

function openLockFile(folder: string, path: string): Deno.FsFile {
  try {
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    return Deno.openSync(path, { read: true, write: true, create: true, mode: 0o600 });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new FolderUnusable(
      `The data folder ${folder} cannot be written (${reason}). ` +
        `Give DATA_DIR a folder that this user may write.`,
      { cause },
    );
  }
}
