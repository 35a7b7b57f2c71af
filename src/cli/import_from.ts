import { diskFile, type InputFile } from "../importers/input_file.ts";
import { type ImportSummary, SummaryGatherer } from "../importers/import_summary.ts";
import { loadSource } from "../importers/sources.ts";
import type { SourceName } from "../importers/source.ts";
import { UmamiDatabase } from "../importers/umami/database.ts";
import { type Call, UsageMistake } from "./command.ts";
import { chosenProject, type Connection, withConnection } from "./connection.ts";
import { dryRunText } from "./dry_run_text.ts";
import { type ImportLine, importLines, type ImportSum, type ImportTarget } from "./import_lines.ts";
import { createImportProgress } from "./import_progress.ts";
import { UnreadableFile } from "./line_file.ts";
import { assertNoInput, RejectedFile, rejectedPath } from "./rejected_file.ts";
import { type SourceInput, type SourceLine, sourcePass } from "./source_lines.ts";
import { counted, grouped } from "../number_words.ts";
import { isTimezone } from "../project_values.ts";

const DATABASE = /^postgres(?:ql)?:\/\//;

/** Opens the named files. Throws UsageMistake for standard input, and UnreadableFile. */
export async function openFiles(words: readonly string[]): Promise<InputFile[]> {
  const files: InputFile[] = [];
  for (const word of words) {
    if (word === "-") {
      throw new UsageMistake("Files of other products are read twice: name a file, not -.");
    }
    const { isDirectory, isFile } = await Deno.stat(word).catch((error) => {
      if (error instanceof Deno.errors.NotFound) {
        throw new UnreadableFile(`There is no file ${word}.`);
      }
      throw error;
    });
    if (isDirectory || !isFile) {
      throw new UnreadableFile(`${word} is no file: name the files in it.`);
    }
    files.push(await diskFile(word));
  }
  return files;
}

/** Returns the id of the website to import. Throws UsageMistake. */
async function websiteOf(database: UmamiDatabase, named: string | null): Promise<string> {
  const websites = await database.websites();
  const found = named === null
    ? websites
    : websites.filter(({ id, name, domain }) => [id, name, domain].includes(named));
  if (found.length === 1) return found[0]!.id;
  const list = websites.map(({ id, name, domain }) => `${domain ?? name} (${id})`).join(", ");
  throw new UsageMistake(
    websites.length === 0
      ? "Umami's database has no website."
      : `Say which website of Umami's is meant: --website ${list}.`,
  );
}

function timeZoneOf(call: Call): string | null {
  const zone = call.options.text("time-zone");
  if (zone === null || isTimezone(zone)) return zone;
  throw new UsageMistake(`--time-zone must be an IANA name such as Europe/Berlin, not ${zone}.`);
}

/** Opens the input, runs `work`, and closes the input. */
async function withInput<T>(call: Call, work: (input: SourceInput) => Promise<T>): Promise<T> {
  const name = call.options.text("from") as SourceName;
  const source = await loadSource(name);
  const timeZone = timeZoneOf(call);
  const { words } = call;
  const [address = ""] = words;
  if (words.length === 0) {
    throw new UsageMistake(`Say what to import: ${source.title} takes ${source.takes}.`);
  }
  if (!words.some((word) => DATABASE.test(word))) {
    return await work({ source, files: await openFiles(words), database: null, timeZone });
  }
  if (name !== "umami" || words.length > 1) {
    throw new UsageMistake(
      "Only Umami's database is read, and no file beside it: --from umami postgres://…",
    );
  }
  const open = await UmamiDatabase.open(address);
  try {
    const website = await websiteOf(open, call.options.text("website"));
    return await work({ source, files: [], database: { open, website }, timeZone });
  } finally {
    await open.close();
  }
}

/** Returns what a line was converted from; all lines of this import are SourceLines. */
const madeOf = (line: ImportLine) => (line as SourceLine).made;

/** Reads the whole input, and has the server check it without storing anything. */
async function dryRun(
  call: Call,
  input: SourceInput,
  target: ImportTarget,
): Promise<ImportSummary> {
  const { print } = call;
  const total = input.files.reduce((sum, { size }) => sum + size, 0);
  const progress = createImportProgress(print, "Looking", total === 0 ? null : total, call.now);
  const gatherer = new SummaryGatherer();
  const pass = sourcePass(input, target.project, (made) => gatherer.add(made));
  try {
    const sum = await importLines({ ...target, dryRun: true }, pass.lines, {
      accepted: (line) => gatherer.add(madeOf(line)),
      refused: ({ line, code, message }) => gatherer.add(madeOf(line), { code, message }),
      settled: ({ lines }) => progress.update(pass.bytesRead(), lines),
    });
    return gatherer.result(sum.duplicates);
  } finally {
    progress.end();
  }
}

async function sendAll(
  call: Call,
  input: SourceInput,
  target: ImportTarget,
  rows: number,
  rejected: RejectedFile,
): Promise<ImportSum> {
  const progress = createImportProgress(call.print, "Importing", rows, call.now);
  let accepted = 0;
  try {
    return await importLines(target, sourcePass(input, target.project, () => {}).lines, {
      refused: (refused) => {
        const { file, line: number } = madeOf(refused.line);
        return rejected.add({ ...refused, line: { ...refused.line, number } }, file);
      },
      settled: (sum) => {
        accepted = sum.accepted;
        progress.update(sum.lines, sum.lines);
      },
    });
  } catch (error) {
    progress.end();
    const stored = counted(accepted, "event");
    call.print.remark(
      `Stopped: ${stored} stored. Run the same command again; nothing is stored twice.`,
    );
    throw error;
  } finally {
    progress.end();
  }
}

/** Asks whether to import `what`; without a terminal the answer is yes, as a script has decided already. */
export function confirmsImport({ print, options }: Call, what: string, project: string): boolean {
  if (options.flag("yes") || print.json) return true;
  if (!print.terminal.outIsTerminal || !Deno.stdin.isTerminal()) return true;
  return confirm(`Import ${what} into ${project}?`);
}

async function run(call: Call, input: SourceInput, connection: Connection): Promise<number> {
  const { print, signal } = call;
  const project = await chosenProject(connection, call);
  const { source } = input;
  const name = `${source.name} ${crypto.randomUUID().slice(0, 8)}`;
  const target = { connection, project, name, signal };
  const summary = await dryRun(call, input, target);
  const isDryRun = call.options.flag("dry-run");
  const found = { from: source.name, project, dryRun: summary };
  if (isDryRun || summary.events === 0) {
    const isEmpty = summary.events + summary.refused === 0;
    print.result({ ...found, imported: null }, () =>
      dryRunText(print, source, project, summary) +
      (isEmpty
        ? `\nThere is no row of ${source.title}'s in it: ${source.title} takes ${source.takes}.\n`
        : "") +
      (isDryRun ? "\nNothing was sent.\n" : "\nThere is nothing to import.\n"));
    return isDryRun ? 0 : 1;
  }
  if (!print.json) print.terminal.out(dryRunText(print, source, project, summary));
  if (!confirmsImport(call, counted(summary.events, "event"), project)) {
    print.terminal.out("\nNothing was sent.\n");
    return 0;
  }
  using file = new RejectedFile(rejectedPath(call, input.files[0]?.name));
  const rows = summary.events + summary.refused;
  const { accepted, duplicates, rejected } = await sendAll(call, input, target, rows, file);
  const rejectedFile = rejected === 0 ? null : file.path;
  print.result(
    { ...found, imported: { accepted, duplicates, rejected, rejectedFile } },
    () =>
      `\n${counted(accepted, "event")} imported` +
      `${duplicates === 0 ? "" : `, ${grouped(duplicates)} of them stored before`}` +
      `${rejected === 0 ? "" : `; ${grouped(rejected)} refused: see ${rejectedFile}`}.\n`,
  );
  return rejected === 0 ? 0 : 1;
}

/** `footfall import --from`: imports the events of another product. @returns the exit code */
export async function importFrom(call: Call): Promise<number> {
  return await withInput(call, async (input) => {
    const names = input.files.map(({ name }) => name);
    await assertNoInput(rejectedPath(call, names[0]), names);
    return await withConnection(call, (connection) => run(call, input, connection));
  });
}
