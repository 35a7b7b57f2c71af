/**
 * `deno task test`: every test file, or the files and folders that are named (`tests/sdk`), with whatever else
 * `deno test` is to be told, such as `--filter kpis`.
 *
 * Files that wait for browsers and processes run first, more of them at once than there are processors, and beside
 * them one of those that compute (`COMPUTING_BESIDE`); then the rest of these, one for each processor: with two
 * more at work, they took a fifth more of the processor. DENO_JOBS tells how many run at once of each kind, and has one kind
 * follow the other. Those that take longest begin first:
 * one that begins last keeps a single processor busy at the end. The runner begins files in the order in
 * which it is told of them only within a folder, and folders by the length of their names; so each is
 * run by a file of one line in `dist/tests`. The others are dealt out to such files, a dozen to each: what
 * they import is loaded once, the embedded engine compiled once, and one PostgreSQL server started (thirteen
 * files of reports took 49 s of a processor by one, and 68 by eight). Temporary files are kept in memory where
 * that can be had: databases are copied and removed a thousand times, and making files on a disk that
 * has just removed as many takes ten times as much of a processor (0.02 to 0.4 s a database).
 */
import { createHash } from "node:crypto";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  failedAgain,
  filesOf,
  filterOf,
  type Outcome,
  outcomeOf,
  summaryOf,
  summaryOfBoth,
  testsToTry,
  together,
} from "./second_try.ts";

const ROOT = new URL("../", import.meta.url);
const ROOT_FOLDER = fileURLToPath(ROOT);
const IN_CI = Deno.env.get("CI") === "true";
const ENTRIES = "dist/tests/";
/** Enough to tell the lists of one first file apart. */
const DIGEST_LETTERS = 8;
const JOBS = Number(Deno.env.get("DENO_JOBS") ?? 0) || null;
/** How many files that compute run beside those that wait, each in place of one of these; 0: one kind after the other. */
const COMPUTING_BESIDE = JOBS === null ? 1 : 0;
/** Several times what the tests have there at once; nothing is taken that is not used. */
const IN_MEMORY_BYTES = 6e9;

/**
 * The embedded engine's code is compiled once, and not again where it is used much: with an engine of its own for each
 * test, compiling it better was a fifth of the processor time of most. Most other code runs a few
 * times in each file: it is compiled simply at once, which takes 3 % less than to interpret it first.
 */
const COMMAND = [
  ...["test", "-A", "--quiet", "--frozen"],
  "--v8-flags=--liftoff-only,--always-sparkplug",
];

/** Folders whose tests wait for browsers, processes or clocks for much of their time. */
const WAITING: readonly string[] = [
  ...["tests/archive/", "tests/cli/", "tests/clients/", "tests/dashboard/", "tests/reliability/"],
  ...["tests/screenshots/", "tests/sdk/", "tests/notifications/", "tests/upgrade/"],
];

interface Kind {
  /** What a file of this kind has. */
  readonly of: RegExp;
  /** How many of them one entry runs. */
  readonly together: number;
}

/** Kinds of files, but for the longest; each file is of the first that fits. */
const KINDS: readonly Kind[] = [
  // Tests that look for timers that are left behind, which may be those of others.
  { of: /sanitizeOps/, together: 1 },
  // Those that keep one server from the entry's first test to its last, and share it.
  { of: /= sharedWorld\(/, together: 7 },
  { of: /= sharedApp\(\)/, together: 12 },
  // Those that keep one each.
  {
    of: /Deno\.test\.beforeAll\(|= (?:keptApp|shared(?:\w*App|Captures)|dashboardWorld)\(/,
    together: 8,
  },
  { of: /^/, together: 12 },
];

function kindOf(path: string): Kind {
  const text = Deno.readTextFileSync(new URL(path, ROOT));
  return KINDS.find(({ of }) => of.test(text))!;
}

/** Those that take longest, the longest first. Each has an entry of its own. */
const LONGEST: readonly string[] = [
  "dashboard/accessibility",
  "reads/agreement",
  "cli/demo",
  "cli/import_kills",
  "dashboard/shares",
  "archive/round_trip",
  "cli/commands",
  "dashboard/people_sign_in",
  "screenshots/page_camera",
  "upgrade/killed_upgrade",
  "archive/move",
  "dashboard/visits",
  "dashboard/people_settings",
  "reliability/full_disk",
  "reports/insights/insights",
  "packaging",
  "clients/segment/browser_libraries",
  "archive/full_log",
  "reliability/killed_server",
  "dashboard/segments",
  "reads/snapshots",
  "reads/fixtures",
  "db/embedded",
  "reads/pool_agreement",
  "screenshots/whole_server",
  "upgrade/earlier_people",
  "shares/share_minimum",
].map((name) => `tests/${name}_test.ts`);

const isWaiting = (path: string) => WAITING.some((folder) => path.startsWith(folder));

function* testFiles(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, ROOT))) {
    if (isDirectory) yield* testFiles(`${folder}${name}/`);
    else if (name.endsWith("_test.ts")) yield `${folder}${name}`;
  }
}

/**
 * Deals out files to entries. Those of a folder are much alike, and go to different ones: so these take about as long as
 * one another.
 */
function dealtOut(paths: readonly string[], together: number): (readonly string[])[] {
  const groups = Math.ceil(paths.length / together);
  return Array.from({ length: groups }, (_, group) => paths.filter((_, i) => i % groups === group));
}

/**
 * Makes the file that runs test files. It is called by all of them: another run, of some files, may deal them out
 * otherwise before this one loads its entries.
 * @returns its path
 */
async function writeEntry(paths: readonly string[]): Promise<string> {
  const imports = paths.map((path) => `import "../../${path}";\n`).join("");
  const [first] = paths;
  const digest = createHash("sha256").update(imports).digest("hex").slice(0, DIGEST_LETTERS);
  const more = paths.length === 1 ? "" : `_and_${paths.length - 1}_more_${digest}`;
  const name = first!.slice("tests/".length, -"_test.ts".length).replaceAll("/", ".");
  const entry = `${ENTRIES}${name}${more}_test.ts`;
  // Renamed into its place, it is never seen empty.
  const written = new URL(`${entry}.${Deno.pid}`, ROOT);
  await Deno.writeTextFile(written, imports);
  await Deno.rename(written, new URL(entry, ROOT));
  return entry;
}

/** Makes the entries of some files, those that take longest first. @returns their paths */
async function writeEntries(paths: readonly string[]): Promise<string[]> {
  const longest = LONGEST.filter((path) => paths.includes(path)).map((path) => [path]);
  const ofKinds = Map.groupBy(paths.filter((path) => !LONGEST.includes(path)), kindOf);
  const dealt = KINDS.flatMap((kind) => dealtOut(ofKinds.get(kind) ?? [], kind.together));
  return await Promise.all([...longest, ...dealt].map(writeEntry));
}

/** Mounts a folder in memory, as root may where there is much of it. @returns null where it may not */
async function mountInMemory(): Promise<string | null> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return null;
  if (Deno.systemMemoryInfo().available < 2 * IN_MEMORY_BYTES) return null;
  const folder = await Deno.makeTempDir({ prefix: "footfall-tests-" });
  // Others may pass through it, as PostgreSQL does.
  const options = `size=${IN_MEMORY_BYTES},mode=1777`;
  const args = ["-t", "tmpfs", "-o", options, "tmpfs", folder];
  const { success } = await new Deno.Command("mount", { args, stderr: "null" }).output();
  if (success) return folder;
  await Deno.remove(folder);
  return null;
}

async function unmount(folder: string): Promise<void> {
  await new Deno.Command("umount", { args: ["--lazy", folder] }).output();
  await Deno.remove(folder);
}

/** Files and folders of tests among what the command is given, as paths below the root, and what else there is. */
const chosen: string[] = [];
const options: string[] = [];
for (const [at, arg] of Deno.args.entries()) {
  const path = relative(ROOT_FOLDER, resolve(ROOT_FOLDER, arg));
  const isValue = Deno.args[at - 1] === "--filter";
  if (!isValue && !arg.startsWith("-") && /^tests(?:\/|$)/.test(path)) chosen.push(path);
  else options.push(arg);
}

/** @throws if there is none of a path */
function* chosenFiles(all: readonly string[]): Generator<string> {
  for (const path of chosen) {
    const files = all.filter((file) => file === path || file.startsWith(`${path}/`));
    if (files.length === 0) throw new Error(`There is no test file ${path}`);
    yield* files;
  }
}

const every = [...testFiles("tests/")].sort();
const unknown = LONGEST.filter((path) => !every.includes(path));
if (unknown.length > 0) throw new Error(`There is no ${unknown.join(", ")}`);
const all = chosen.length === 0 ? every : [...new Set(chosenFiles(every))];
await Deno.mkdir(new URL(ENTRIES, ROOT), { recursive: true });
const waiting = await writeEntries(all.filter(isWaiting));
const computing = await writeEntries(all.filter((path) => !isWaiting(path)));

const folder = Deno.env.has("TMPDIR") ? null : await mountInMemory();
const reports = await Deno.makeTempDir({ prefix: "footfall-reports-" });
/** The runners at work. */
const running = new Set<Deno.ChildProcess>();
let isEnded = false;
// It ends when the tests do. An interrupt reaches them by itself.
Deno.addSignalListener("SIGINT", () => isEnded = true);
Deno.addSignalListener("SIGTERM", () => {
  isEnded = true;
  for (const tests of running) tests.kill("SIGTERM");
});

/** Passes on what a runner prints, in whole lines: another may print beside it. @returns it */
async function passOn(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  let shown = 0;
  const show = (end: number) => {
    if (end < shown) return;
    console.log(text.slice(shown, end));
    shown = end + 1;
  };
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    text += part;
    show(text.lastIndexOf("\n"));
  }
  if (shown < text.length) show(text.length);
  return text;
}

interface Run {
  readonly outcome: Outcome;
  /** What it printed. */
  readonly printed: string;
  readonly code: number;
}

/** @returns what became of it; null: it was ended */
async function run(name: string, jobs: number, args: readonly string[]): Promise<Run | null> {
  if (isEnded) return null;
  const report = `${reports}/${name}.xml`;
  const tests = new Deno.Command(Deno.execPath(), {
    args: [...COMMAND, `--junit-path=${report}`, ...options, ...args],
    cwd: ROOT_FOLDER,
    stdout: "piped",
    env: {
      DENO_JOBS: String(jobs),
      ...(Deno.stdout.isTerminal() ? { FORCE_COLOR: "1" } : {}),
      ...(folder === null ? {} : { TMPDIR: folder }),
    },
  }).spawn();
  running.add(tests);
  const [printed, { code, signal }] = await Promise.all([passOn(tests.stdout), tests.status]);
  running.delete(tests);
  if (isEnded || signal !== null) return null;
  return { outcome: outcomeOf(await Deno.readTextFile(report).catch(() => "")), printed, code };
}

/** Deals out entries to runs in their order: the smaller, the fewer are left, so that all lanes end together. */
function* partsOf(entries: readonly string[], lanes: number): Generator<readonly string[]> {
  for (let at = 0; at < entries.length;) {
    const count = Math.ceil((entries.length - at) / (2 * lanes));
    yield entries.slice(at, at += count);
  }
}

/**
 * Runs the entries that wait, and those that compute: one beside them, then one for each processor.
 * @returns null: they were ended
 */
async function runEntries(): Promise<Run[] | null> {
  const { hardwareConcurrency: processors } = navigator;
  const lanes = JOBS ?? processors;
  const parts = partsOf(computing, lanes);
  const runs: (Run | null)[] = [];
  let begun = 0;
  const lane = async () => {
    for (const part of parts) {
      const done = await run(`computing-${begun++}`, 1, ["--parallel", ...part]);
      runs.push(done);
      if (done === null) break;
    }
  };
  const beside = Array.from({ length: COMPUTING_BESIDE }, lane);
  const waitingJobs = JOBS ?? processors + 2 - COMPUTING_BESIDE;
  // Without a file, `deno test` would run every one that it finds.
  const waited = waiting.length === 0
    ? { outcome: outcomeOf('<testsuites failures="0">'), printed: "", code: 0 }
    : await run("waiting", waitingJobs, ["--parallel", ...waiting]);
  const more = waited === null ? 0 : lanes - COMPUTING_BESIDE;
  await Promise.all([...beside, ...Array.from({ length: more }, lane)]);
  const all = [waited, ...runs];
  return all.every((each) => each !== null) ? all : null;
}

/** Runs all, sums them up, and tries again what is worth it. @returns whether all passed */
async function runAll(): Promise<boolean> {
  const runs = await runEntries();
  if (runs === null) return false;
  const outcome = together(runs.map((each) => each.outcome));
  // What a filter leaves out is told by each run; the reports call it ignored.
  if (!options.some((arg) => arg.startsWith("--filter"))) console.log(summaryOf(outcome));
  if (runs.every(({ code }) => code === 0)) return true;
  const again = IN_CI ? testsToTry(outcome) : [];
  if (again.length === 0) return false;
  const printed = runs.map((each) => each.printed).join("");
  const files = filesOf(again, printed, [...waiting, ...computing]);
  const last = await run("again", 1, [filterOf(again), ...files]);
  if (last === null) return false;
  console.log(summaryOfBoth(outcome, last.outcome));
  return failedAgain(outcome, last.outcome).length === 0;
}

try {
  if (!await runAll()) Deno.exitCode = 1;
} finally {
  await Deno.remove(reports, { recursive: true });
  if (folder !== null) await unmount(folder);
}
