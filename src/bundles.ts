/**
 * Builds what is missing or out of date in dist/ (`deno task bundles`). A start waits for it, so it first looks only at
 * the sizes and times of the sources: that takes a few milliseconds, their contents tens of them.
 */
const ROOT = new URL("../", import.meta.url);
/** Its first line tells of the sources that all of dist/ was built of; the others are the files that must be there. */
const NOTE = new URL("dist/built", ROOT);
const SOURCES = ["deno.json", "deno.lock", "main.ts", "migrations", "src"];

/** Returns the path, size and time of a file or of all files of a folder. */
function* looks(path: string, root: URL): Generator<string> {
  const url = new URL(path, root);
  const { isDirectory, size, mtime } = Deno.statSync(url);
  if (!isDirectory) {
    yield `${path} ${size} ${mtime?.getTime()}`;
    return;
  }
  for (const { name } of Deno.readDirSync(url)) yield* looks(`${path}/${name}`, root);
}

/** Returns a digest of the sizes and times of all sources below `root`. */
export async function lookOfSources(root: URL): Promise<string> {
  const all = SOURCES.flatMap((path) => [...looks(path, root)]).sort();
  const text = new TextEncoder().encode([Deno.version.deno, ...all].join("\n"));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", text)).toHex();
}

function isBuilt(look: string): boolean {
  try {
    const [built, ...outputs] = Deno.readTextFileSync(NOTE).split("\n");
    if (built !== look) return false;
    for (const path of outputs) Deno.statSync(new URL(path, ROOT));
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  const look = await lookOfSources(ROOT);
  if (!isBuilt(look)) {
    const { build } = await import("./bundle_build.ts");
    const outputs = await build();
    Deno.writeTextFileSync(NOTE, [look, ...outputs].join("\n"));
  }
}
