import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Beside the bundles: made by whoever needs it first, kept for the next run. */
const FOLDER = fileURLToPath(new URL("../../dist/templates/", import.meta.url));

/** Whom the files of a copy belong to; nobody named: to whoever copies. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Fills `target`, which must not exist, with a copy of what `make` puts into an empty folder. It
 * does so once for each `key`, which names everything that the content depends on; those of the same
 * kind with other keys go. A cluster takes 1 to 4 s to make and 0.1 s to copy, and the tests need
 * some hundreds.
 */
export async function copyTemplate(
  kind: string,
  key: string,
  target: string,
  make: (folder: string) => Promise<void>,
  owner: Owner = {},
): Promise<void> {
  const name = `${kind}-${key}`;
  const template = join(FOLDER, name);
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
    await removeOthers(kind, name);
  }
  copyFolder(template, target, owner);
}

async function removeOthers(kind: string, name: string): Promise<void> {
  for (const other of [...Deno.readDirSync(FOLDER)]) {
    if (!other.name.startsWith(`${kind}-`) || other.name === name) continue;
    // Somebody else may remove it at the same time.
    await Deno.remove(join(FOLDER, other.name), { recursive: true }).catch(() => {});
  }
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
export function copyFolder(from: string, to: string, owner: Owner = {}): void {
  const { uid, gid = uid } = owner;
  const give = (path: string) => uid === undefined ? undefined : Deno.chownSync(path, uid, gid!);
  Deno.mkdirSync(to, { mode: 0o700, recursive: true });
  give(to);
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    const [source, copy] = [join(from, name), join(to, name)];
    if (isDirectory) copyFolder(source, copy, owner);
    else {
      Deno.writeFileSync(copy, Deno.readFileSync(source), { mode: 0o600 });
      give(copy);
    }
  }
}
