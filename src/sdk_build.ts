/** Bundles the browser SDK into dist/sdk, when its sources are not those of the last time. */

const SOURCES = new URL("./sdk/", import.meta.url);
const OUTPUT = new URL("../dist/sdk/", import.meta.url);
const STAMP = new URL("stamp", OUTPUT);

interface Bundle {
  readonly entry: string;
  readonly output: string;
  readonly format: "iife" | "esm";
}

const BUNDLES: readonly Bundle[] = [
  { entry: "script.ts", output: "sdk.js", format: "iife" },
  { entry: "module.ts", output: "sdk.mjs", format: "esm" },
];

/** Names one state of everything that the output depends on. */
async function fingerprint(): Promise<string> {
  const names = [...Deno.readDirSync(SOURCES)].map(({ name }) => name).sort();
  const texts = names.map((name) => `${name}\n${Deno.readTextFileSync(new URL(name, SOURCES))}`);
  const own = Deno.readTextFileSync(new URL(import.meta.url));
  const all = new TextEncoder().encode([Deno.version.deno, own, ...texts].join("\n"));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", all)).toHex();
}

async function bundle({ entry, output, format }: Bundle): Promise<void> {
  const target = new URL(output, OUTPUT);
  // Two builds at once: each writes a file of its own, and the last one to end wins whole.
  const draft = new URL(`${output}.${Deno.pid}`, OUTPUT);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--minify", "--platform", "browser", "--format", format]
      .concat("--output", draft.pathname, new URL(entry, SOURCES).pathname),
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  await Deno.rename(draft, target);
}

async function isCurrent(stamp: string): Promise<boolean> {
  try {
    return await Deno.readTextFile(STAMP) === stamp;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  const stamp = await fingerprint();
  if (!await isCurrent(stamp)) {
    await Deno.mkdir(OUTPUT, { recursive: true });
    // One after the other: two at once can trip over each other fetching the bundler into a new cache.
    for (const each of BUNDLES) await bundle(each);
    await Deno.copyFile(new URL("sdk.d.ts", SOURCES), new URL("sdk.d.ts", OUTPUT));
    await Deno.writeTextFile(STAMP, stamp);
  }
}
