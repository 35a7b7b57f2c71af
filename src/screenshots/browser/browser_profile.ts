import { join } from "node:path";
import { CAPTURE_PROFILE_AGE_MS_MIN } from "../capture_limits.ts";

const PREFIX = "footfall-browser-";
const LOCK = "owner.lock";

/** The folder in which a browser keeps its files. */
export interface BrowserProfile {
  readonly folder: string;
  /** Deletes it; what cannot be deleted now is deleted by a later start. */
  remove(): Promise<void>;
}

/**
 * Makes a folder below `root`, with a file that this process locks. The operating system releases the lock when the
 * process ends, however it ends, so that others can recognise abandoned folders.
 */
export async function makeProfile(root: string): Promise<BrowserProfile> {
  await Deno.mkdir(root, { recursive: true, mode: 0o700 });
  // The browser needs an absolute path; the root may be relative to the working folder.
  const folder = await Deno.makeTempDir({
    dir: await Deno.realPath(root),
    prefix: `${PREFIX}${Deno.pid}-`,
  });
  const lock = await Deno.open(join(folder, LOCK), { write: true, create: true });
  await lock.lock(true);
  return {
    folder,
    async remove() {
      lock.close();
      await removeFolder(folder);
    },
  };
}

/** Deletes the folders below `root` whose owners have ended. */
export async function sweepProfiles(root: string): Promise<void> {
  for (const name of await profileNames(root)) {
    const folder = join(root, name);
    if (!await hasOwner(folder)) await removeFolder(folder);
  }
}

async function profileNames(root: string): Promise<string[]> {
  try {
    const entries = await Array.fromAsync(Deno.readDir(root));
    return entries.filter(({ isDirectory, name }) => isDirectory && name.startsWith(PREFIX))
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

async function hasOwner(folder: string): Promise<boolean> {
  try {
    using lock = await Deno.open(join(folder, LOCK), { write: true });
    return !await lock.tryLock(true);
  } catch {
    // It is not locked yet, or its lock file was deleted.
    const { birthtime, mtime } = await Deno.stat(folder).catch(() => ({
      birthtime: null,
      mtime: null,
    }));
    const madeMs = (birthtime ?? mtime)?.getTime() ?? 0;
    return Date.now() - madeMs < CAPTURE_PROFILE_AGE_MS_MIN;
  }
}

const REMOVE_TRIES_MAX = 5;
const REMOVE_PAUSE_MS = 50;

/** Deletes a folder; tries again if it fails, as a killed browser may still be writing for a moment. */
async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 1; attempt <= REMOVE_TRIES_MAX; attempt++) {
    try {
      return await Deno.remove(folder, { recursive: true });
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return;
      await new Promise((resolve) => setTimeout(resolve, REMOVE_PAUSE_MS * attempt));
    }
  }
}
