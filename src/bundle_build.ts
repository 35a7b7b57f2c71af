/**
 * Builds what is missing or out of date in dist/: the bundles of the code that runs in browsers, and the
 * template of a new embedded database.
 */
import { existsSync } from "node:fs";
import uplotStyle from "uplot/dist/uPlot.min.css" with { type: "text" };
import { templateUrl } from "./db/cluster_template.ts";
import { MIGRATIONS } from "./db/migrations.ts";

const SOURCE = new URL("./", import.meta.url);
const OUTPUT = new URL("../dist/", import.meta.url);

interface Script {
  /** Relative to the bundle's folder of `src`. */
  readonly entry: string;
  /** The name of the file it becomes; with `split`, what it imports on demand becomes files beside it. */
  readonly output: string;
  readonly format: "iife" | "esm";
  readonly split?: boolean;
}

/** A folder of `src` that becomes the folder of the same name in `dist`. */
interface Bundle {
  readonly name: "sdk" | "dashboard";
  readonly scripts: readonly Script[];
  /** Writes the files that are not scripts. */
  readonly rest: (source: URL, output: URL) => Promise<void>;
}

const BUNDLES: readonly Bundle[] = [
  {
    name: "sdk",
    scripts: [
      { entry: "script.ts", output: "sdk.js", format: "iife" },
      { entry: "module.ts", output: "sdk.mjs", format: "esm" },
      { entry: "compatible_script.ts", output: "script.js", format: "iife" },
      { entry: "posthog_script.ts", output: "array.js", format: "iife" },
      { entry: "vitals.ts", output: "sdk-vitals.js", format: "iife" },
    ],
    rest: (source, output) =>
      Deno.copyFile(new URL("sdk.d.ts", source), new URL("sdk.d.ts", output)),
  },
  {
    name: "dashboard",
    scripts: [{ entry: "app.tsx", output: "app.js", format: "esm", split: true }],
    async rest(source, output) {
      const texts = filesBelow(source).filter((name) => name.endsWith(".css"))
        .map((name) => Deno.readTextFileSync(new URL(name, source)));
      // Without comments and line breaks, as every page waits for this file.
      const style = [uplotStyle, ...texts].join("\n")
        .replace(/\/\*.*?\*\//gs, "").replace(/\s+/g, " ");
      await Deno.writeTextFile(new URL("app.css", output), style);
    },
  },
];

/** Relative paths of all files below a folder, by name: its own files, then those of its folders. */
function filesBelow(folder: URL): string[] {
  const entries = [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1);
  return [
    ...entries.filter(({ isFile }) => isFile).map(({ name }) => name),
    ...entries.filter(({ isDirectory }) => isDirectory).flatMap(({ name }) =>
      filesBelow(new URL(`${name}/`, folder)).map((below) => `${name}/${below}`)
    ),
  ];
}

/** Matches relative imports and exports, except those of types only, which are in no bundle. */
const IMPORTED = /^(?:(?:import|export) (?!type )[^;"]*\bfrom |import )"(\.[^"]+)"/gm;

/** Returns the files of a folder of `src` and everything that they import, except types. */
export function sourcesOf(part: URL): URL[] {
  const found = new Set(filesBelow(part).map((name) => new URL(name, part).href));
  // A `for` over a set also visits what is added during the loop.
  for (const file of found) {
    const text = Deno.readTextFileSync(new URL(file));
    for (const [, path] of text.matchAll(IMPORTED)) found.add(new URL(path!, file).href);
  }
  return [...found].sort().map((file) => new URL(file));
}

/** Returns a digest of everything that the output depends on. */
async function fingerprint(part: URL): Promise<string> {
  const texts = sourcesOf(part)
    .map((file) => `${file.href.slice(SOURCE.href.length)}\n${Deno.readTextFileSync(file)}`);
  const own = Deno.readTextFileSync(new URL(import.meta.url));
  const lock = Deno.readTextFileSync(new URL("../deno.lock", SOURCE));
  const all = new TextEncoder().encode([Deno.version.deno, own, lock, ...texts].join("\n"));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", all)).toHex();
}

/** Bundles one script. @returns the names of the files it became */
async function bundle(script: Script, from: URL, to: URL): Promise<string[]> {
  const { entry, output, format, split } = script;
  // In a folder of its own: of two builds at once, the last one to end replaces every file of the other.
  const draft = new URL(`draft.${Deno.pid}/`, to);
  await Deno.mkdir(draft, { recursive: true });
  const target = split === true
    ? ["--code-splitting", "--outdir", draft.pathname]
    : ["--output", new URL(output, draft).pathname];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--minify", "--platform", "browser", "--format", format]
      .concat(target, new URL(entry, from).pathname),
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const names = filesBelow(draft);
  // The entry comes last, when the files that it imports are there.
  for (const name of names.toSorted((a, b) => Number(a === output) - Number(b === output))) {
    await Deno.rename(new URL(name, draft), new URL(name, to));
  }
  await Deno.remove(draft);
  return names;
}

/** Removes scripts of an earlier build, whose names differ, as they contain a digest. */
async function removeOthers(folder: URL, names: ReadonlySet<string>): Promise<void> {
  for (const { name, isFile } of [...Deno.readDirSync(folder)]) {
    if (isFile && name.endsWith(".js") && !names.has(name)) {
      await Deno.remove(new URL(name, folder));
    }
  }
}

async function isCurrent(stampFile: URL, stamp: string): Promise<boolean> {
  try {
    return await Deno.readTextFile(stampFile) === stamp;
  } catch {
    return false;
  }
}

/** Writes the template of a new database, unless it is there: its name contains a digest of its sources. */
async function writeTemplate(at: URL): Promise<void> {
  if (existsSync(at)) return;
  const { buildTemplate } = await import("./db/template_build.ts");
  const template = await buildTemplate(MIGRATIONS);
  const folder = new URL("./", at);
  await Deno.mkdir(folder, { recursive: true });
  const draft = new URL(`${at}.${Deno.pid}`);
  await Deno.writeFile(draft, template);
  const before = [...Deno.readDirSync(folder)].map(({ name }) => new URL(name, folder));
  await Deno.rename(draft, at);
  for (const old of before) if (!old.href.startsWith(at.href)) await Deno.remove(old);
}

if (import.meta.main) {
  // One after the other: two at once can collide while fetching the bundler into a new cache.
  for (const { name, scripts, rest } of BUNDLES) {
    const from = new URL(`${name}/`, SOURCE);
    const to = new URL(`${name}/`, OUTPUT);
    const stampFile = new URL("stamp", to);
    const stamp = await fingerprint(from);
    if (await isCurrent(stampFile, stamp)) continue;
    await Deno.mkdir(to, { recursive: true });
    const names = new Set<string>();
    for (const script of scripts) {
      for (const file of await bundle(script, from, to)) names.add(file);
    }
    await removeOthers(to, names);
    await rest(from, to);
    await Deno.writeTextFile(stampFile, stamp);
  }
  await writeTemplate(templateUrl(MIGRATIONS));
}
