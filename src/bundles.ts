/**
 * Builds what is missing or out of date in dist/ (`deno task bundles`). A start waits for it, so it first looks only at
 * the sizes and times of the sources: that takes a few milliseconds, their contents tens of them.
 */
import type { Output } from "./bundle_build.ts";

/** Its last line tells of the sources that all of dist/ was built of; the others are the files that must be there. */
const NOTE = "dist/built";
const SOURCES = ["deno.json", "deno.lock", "main.ts", "migrations", "src"];

/** Returns what `read` returns, or null if the file that it reads is not there. */
function ifThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/**
 * Returns the path, size and times of a file or of all files of a folder. Links in it are no sources, and an editor's
 * may lead nowhere. Some programs set the first time; the second, in whole seconds, is of the last change by any means.
 */
function* looks(path: string, root: URL): Generator<string> {
  const url = new URL(path, root);
  const found = ifThere(() => Deno.statSync(url));
  if (found === null) return;
  if (!found.isDirectory) {
    yield `${path} ${found.size} ${found.mtime?.getTime()} ${found.ctime?.getTime()}`;
    return;
  }
  for (const { name, isFile, isDirectory } of ifThere(() => [...Deno.readDirSync(url)]) ?? []) {
    // Encoded, as an editor's own file may be `#sql.ts#`.
    if (isFile || isDirectory) yield* looks(`${path}/${encodeURIComponent(name)}`, root);
  }
}

/** Returns a digest of the sizes and times of all sources below `root`. */
export async function lookOfSources(root: URL): Promise<string> {
  const all = SOURCES.flatMap((path) => [...looks(path, root)]).sort();
  const text = new TextEncoder().encode([Deno.version.deno, ...all].join("\n"));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", text)).toHex();
}

/** Returns whether the note tells of this look, and every file that it names is there, with its digest. */
function isBuilt(look: string, root: URL): boolean {
  try {
    const lines = Deno.readTextFileSync(new URL(NOTE, root)).split("\n");
    if (lines.pop() !== look) return false;
    return lines.every((line) => {
      const [path, digest] = line.split(" ");
      const file = new URL(path!, root);
      if (digest === undefined) return Deno.statSync(file).isFile;
      return Deno.readTextFileSync(file).split("\n")[0] === digest;
    });
  } catch {
    return false;
  }
}

/** Calls `build` unless the note of an earlier build holds for the sources below `root`; then writes it. */
export async function buildIfNeeded(root: URL, build: () => Promise<Output[]>): Promise<void> {
  const look = await lookOfSources(root);
  if (isBuilt(look, root)) return;
  const lines = (await build()).map(({ path, digest }) => digest ? `${path} ${digest}` : path);
  try {
    // The look comes last: a note of which a full disk took only a part does not hold.
    Deno.writeTextFileSync(new URL(NOTE, root), [...lines, look].join("\n"));
  } catch {
    // All is built, perhaps in a folder that cannot be written: the next start only looks longer.
  }
}

if (import.meta.main) {
  await buildIfNeeded(
    new URL("../", import.meta.url),
    async () => await (await import("./bundle_build.ts")).build(),
  );
}
