/**
 * Builds what is missing or out of date in dist/: the bundles of the code that runs in browsers, the bundle of the
 * program, and the template of a new embedded database.
 */
import { existsSync } from "node:fs";
import manifest from "../deno.json" with { type: "json" };
import uplotStyle from "uplot/dist/uPlot.min.css" with { type: "text" };
import { templateUrl } from "./db/cluster_template.ts";
import { MIGRATIONS } from "./db/migrations.ts";

const SOURCE = new URL("./", import.meta.url);
const ROOT = new URL("../", SOURCE);
const OUTPUT = new URL("dist/", ROOT);

interface Script {
  /** Relative to the bundle's folder of `src`. */
  readonly entry: string;
  /** The name of the file it becomes; with `split`, what it imports on demand becomes files beside it. */
  readonly output: string;
  readonly format: "iife" | "esm";
  readonly split?: boolean;
}

/** A folder of `dist`, and what it is built of. */
interface Bundle {
  readonly name: "sdk" | "dashboard" | "program";
  /** The folder of the entries. */
  readonly from: URL;
  readonly scripts: readonly Script[];
  readonly sources: () => URL[];
  /** For how long scripts stay that newer ones have replaced; without: until the next build. */
  readonly keptMs?: number;
  /** Options of the bundler. */
  readonly options: readonly string[];
  /** Writes the files that are not scripts. */
  readonly rest?: (source: URL, output: URL) => Promise<void>;
}

const FOR_BROWSERS = ["--minify", "--platform", "browser"];
/**
 * Without `--keep-names`: functions that captures send to pages as text would call a helper that no page has. Packages
 * stay packages: most are loaded only where they are needed, and a bundle would hold the database of countries
 * as 11 MB of text.
 */
const FOR_DENO = [
  ...["--platform", "deno"],
  ...Object.keys(manifest.imports).flatMap((
    name,
  ) => ["--external", name, "--external", `${name}*`]),
];

const BUNDLES: readonly Bundle[] = [
  {
    name: "sdk",
    from: new URL("sdk/", SOURCE),
    sources: () => sourcesOf(new URL("sdk/", SOURCE)),
    options: FOR_BROWSERS,
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
    from: new URL("dashboard/", SOURCE),
    sources: () => sourcesOf(new URL("dashboard/", SOURCE)),
    options: FOR_BROWSERS,
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
  {
    // Loading its few files takes half of the processor time of loading some 700: 134 ms instead of 252.
    name: "program",
    from: ROOT,
    scripts: [{ entry: "main.ts", output: "main.js", format: "esm", split: true }],
    sources: programSources,
    options: FOR_DENO,
    // A server of an earlier build may run for weeks before it first needs some of them.
    keptMs: 30 * 24 * 3_600_000,
  },
];

/** A file that is there once all is built. */
export interface Output {
  /** Relative to the root. */
  readonly path: string;
  /** Its first line, if that tells what it was built of. */
  readonly digest?: string;
}

/** Relative URLs of all files below a folder, by name: its own files, then those of its folders. */
function filesBelow(folder: URL): string[] {
  const entries = [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1);
  return [
    ...entries.filter(({ isFile }) => isFile).map(({ name }) => encodeURIComponent(name)),
    ...entries.filter(({ isDirectory }) => isDirectory)
      .map(({ name }) => `${encodeURIComponent(name)}/`)
      .flatMap((name) => filesBelow(new URL(name, folder)).map((below) => name + below)),
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

/** Returns the files that the bundle of the program may hold, and some more. */
export function programSources(): URL[] {
  const code = filesBelow(SOURCE).filter((name) => !/^(?:dashboard|sdk)\//.test(name))
    .map((name) => `src/${name}`);
  const schema = filesBelow(new URL("migrations/", ROOT)).map((name) => `migrations/${name}`);
  return ["main.ts", "deno.json", ...schema, ...code].map((name) => new URL(name, ROOT));
}

/** Returns a digest of everything that the output depends on. */
async function fingerprint(sources: readonly URL[]): Promise<string> {
  const texts = sources
    .map((file) => `${file.href.slice(ROOT.href.length)}\n${Deno.readTextFileSync(file)}`);
  const own = Deno.readTextFileSync(new URL(import.meta.url));
  const lock = Deno.readTextFileSync(new URL("deno.lock", ROOT));
  const all = new TextEncoder().encode([Deno.version.deno, own, lock, ...texts].join("\n"));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", all)).toHex();
}

/** Bundles one script. @returns the names of the files it became */
async function bundle(script: Script, { from, options }: Bundle, to: URL): Promise<string[]> {
  const { entry, output, format, split } = script;
  // In a folder of its own: of two builds at once, the last one to end replaces every file of the other.
  const draft = new URL(`draft.${Deno.pid}/`, to);
  await Deno.mkdir(draft, { recursive: true });
  const target = split === true
    ? ["--code-splitting", "--outdir", draft.pathname]
    : ["--output", new URL(output, draft).pathname];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", ...options, "--format", format]
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

/** Does something to a file, unless another build has removed it meanwhile. */
async function unlessGone(change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Sets a script's time to when it was replaced. One that belongs to another user keeps its own. */
async function setTime(file: URL, ms: number): Promise<void> {
  try {
    await Deno.utime(file, ms / 1000, ms / 1000);
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
  }
}

/** How many earlier builds may leave scripts, 2.5 MB each: whoever changes the program builds it at each start. */
const KEPT_BUILDS_MAX = 8;

/**
 * Removes scripts of earlier builds, whose names differ, as they contain a digest. Those of the build just before stay,
 * and those that were replaced less than `keptMs` ago, the last ones, as many as some builds have: a server that still
 * runs loads some of them only as it needs them.
 */
export async function removeOthers(
  folder: URL,
  names: ReadonlySet<string>,
  before: ReadonlySet<string>,
  keptMs: number,
): Promise<void> {
  const now = Date.now();
  const replaced: { readonly file: URL; readonly ms: number }[] = [];
  for (const { name, isFile } of [...Deno.readDirSync(folder)]) {
    if (!isFile || !name.endsWith(".js") || names.has(name)) continue;
    const file = new URL(name, folder);
    await unlessGone(async () => {
      if (before.has(name)) await setTime(file, now);
      const ms = before.has(name) ? now : Number((await Deno.stat(file)).mtime);
      replaced.push({ file, ms });
    });
  }
  const newestFirst = replaced.toSorted((a, b) => b.ms - a.ms);
  for (const [place, { file, ms }] of newestFirst.entries()) {
    const isOld = now - ms >= keptMs || place >= KEPT_BUILDS_MAX * names.size;
    if (ms !== now && isOld) await unlessGone(() => Deno.remove(file));
  }
}

/** Reads the lines of a stamp: the digest of a build's sources, and the names of its scripts. */
function readStamp(file: URL): readonly string[] {
  return existsSync(file) ? Deno.readTextFileSync(file).split("\n") : [];
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
  for (const old of before) {
    if (!old.href.startsWith(at.href)) await unlessGone(() => Deno.remove(old));
  }
}

/** Builds what is out of date. @returns files that are there now, and while they are the same, all is */
export async function build(): Promise<Output[]> {
  const outputs: Output[] = [];
  // One after the other: two at once can collide while fetching the bundler into a new cache.
  for (const each of BUNDLES) {
    const to = new URL(`${each.name}/`, OUTPUT);
    const stampFile = new URL("stamp", to);
    const stamp = await fingerprint(each.sources());
    const [stampBefore, ...namesBefore] = readStamp(stampFile);
    outputs.push({ path: `dist/${each.name}/stamp`, digest: stamp });
    if (stampBefore === stamp) continue;
    await Deno.mkdir(to, { recursive: true });
    const names = new Set<string>();
    for (const script of each.scripts) {
      for (const file of await bundle(script, each, to)) names.add(file);
    }
    await removeOthers(to, names, new Set(namesBefore), each.keptMs ?? 0);
    await each.rest?.(each.from, to);
    await Deno.writeTextFile(stampFile, [stamp, ...names].join("\n"));
  }
  const template = templateUrl(MIGRATIONS);
  await writeTemplate(template);
  return [...outputs, { path: template.href.slice(ROOT.href.length) }];
}
