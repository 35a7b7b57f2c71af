import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Beside the bundles: made by whoever needs it first, kept for the next run. */
const FOLDER = fileURLToPath(new URL("../../dist/templates/", import.meta.url));

/**
 * Fills `target`, which must not exist, with a copy of what `make` puts into an empty folder. It
 * does so once for each `key`, which names everything that the content depends on. An empty cluster
 * takes 3.2 s to make and 0.1 s to copy, and the tests need more than a hundred.
 */
export async function copyTemplate(
  key: string,
  target: string,
  make: (folder: string) => Promise<void>,
): Promise<void> {
  const template = join(FOLDER, key);
  if (!await exists(template)) {
    await Deno.mkdir(FOLDER, { recursive: true });
    // Whoever else makes it at the same time has a draft of its own; the first one to end wins.
    const draft = await Deno.makeTempDir({ dir: FOLDER, prefix: "draft-" });
    try {
      await make(draft);
      await Deno.rename(draft, template);
    } catch (error) {
      await Deno.remove(draft, { recursive: true });
      if (!await exists(template)) throw error;
    }
  }
  copyFolder(template, target);
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/**
 * Copies a folder; the copy is its owner's alone, as PostgreSQL wants it. By reading and writing:
 * that takes a quarter of the time of `Deno.copyFile`, whose kernel call is slow on small files.
 */
export function copyFolder(from: string, to: string): void {
  Deno.mkdirSync(to, { mode: 0o700, recursive: true });
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copyFolder(join(from, name), join(to, name));
    else Deno.writeFileSync(join(to, name), Deno.readFileSync(join(from, name)), { mode: 0o600 });
  }
}
