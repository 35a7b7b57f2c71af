import { type Call, type Command, PROJECT_OPTION, UsageMistake } from "./command.ts";
import { chosenProject, withConnection } from "./connection.ts";
import { importLines, type ImportSum, NOTHING_IMPORTED, type RefusedLine } from "./import_lines.ts";
import { ImportCheckpoint } from "./import_checkpoint.ts";
import { importOf, PRODUCTS } from "./import_sources.ts";
import { createImportProgress, type ImportProgress } from "./import_progress.ts";
import { linesAfter, type OpenFile, openFile, UnreadableFile } from "./line_file.ts";
import { assertNoInput, RejectedFile, rejectedPath } from "./rejected_file.ts";
import { IMPORTED_SOURCES } from "../imported/imported_sums.ts";
import { printable } from "./terminal.ts";
import { counted, grouped } from "../number_words.ts";

const REFUSALS_SHOWN = 20;
/** The most files of one import from another product. */
const FILES_MAX = 10_000;
/** If this many lines from the first on are refused, the file holds no events. */
const LINES_IN_VAIN_MAX = 1_000;

interface Shown {
  readonly line: number;
  readonly code: string;
  readonly message: string;
}

/** The report at the end of an import. */
interface Report extends ImportSum {
  readonly refusals: readonly Shown[];
  readonly isDryRun: boolean;
  /** The line after which an earlier run was continued; null: this run began with the first line. */
  readonly wentOnBehind: number | null;
}

/** Makes a hook that writes refused lines to a file, and keeps the first few of them to show. */
function refusals(file: RejectedFile) {
  const shown: Shown[] = [];
  const refused = async (refusal: RefusedLine) => {
    const { line: { number }, code, message } = refusal;
    if (shown.length < REFUSALS_SHOWN) shown.push({ line: number, code, message });
    await file.add(refusal);
  };
  return { shown, refused };
}

function assertNotInVain({ lines, accepted }: ImportSum, name: string, shown: readonly Shown[]) {
  if (accepted > 0 || lines < LINES_IN_VAIN_MAX) return;
  const [first] = shown;
  throw new UnreadableFile(
    `None of the first ${grouped(lines)} lines of ${name} can be stored. Line ${
      first?.line ?? 1
    }: ` +
      `${printable(first?.message ?? "")} Is it events as JSON, one on each line?`,
  );
}

interface Running {
  readonly file: OpenFile;
  readonly word: string;
  readonly progress: ImportProgress;
}

async function dryRun(call: Call, { file, word, progress }: Running): Promise<Report> {
  using rejected = new RejectedFile(rejectedPath(call, word));
  const { shown, refused } = refusals(rejected);
  const settled = (sum: ImportSum) => {
    call.signal.throwIfAborted();
    assertNotInVain(sum, file.name, shown);
    progress.update(file.bytesRead, sum.lines);
  };
  // Loaded here because only a dry run needs it.
  const { checkLines } = await import("./line_check.ts");
  const sum = await checkLines(
    linesAfter(file, NOTHING_IMPORTED),
    { refused, settled },
    call.now(),
  );
  return { ...sum, refusals: shown, isDryRun: true, wentOnBehind: null };
}

/** Prints up to which line everything is stored, for an import that ends early. */
function remarkStopped({ print }: Call, { accepted, number }: ImportSum): void {
  if (number === 0) return;
  const stored = counted(accepted, "event");
  print.remark(
    `Stopped: ${stored} up to line ${number} stored. Run the same command again to go on; ` +
      "nothing is stored twice.",
  );
}

async function sendAll(call: Call, { file, word, progress }: Running): Promise<Report> {
  return await withConnection(call, async (connection) => {
    const project = await chosenProject(connection, call);
    const checkpoint = file.size === null
      ? null
      : await ImportCheckpoint.find(connection, { path: word, project });
    const before = checkpoint?.begun?.before ?? NOTHING_IMPORTED;
    using rejected = new RejectedFile(rejectedPath(call, word), checkpoint?.begun?.refusals);
    const { shown, refused } = refusals(rejected);
    let last = before;
    const settled = async (sum: ImportSum) => {
      last = sum;
      assertNotInVain(sum, file.name, shown);
      await checkpoint?.note(sum, rejected.written, call.now());
      progress.update(file.bytesRead, sum.lines - before.lines);
    };
    const { signal } = call;
    const target = {
      connection,
      project,
      name: checkpoint?.name ?? crypto.randomUUID(),
      signal,
      before,
    };
    try {
      const sum = await importLines(target, linesAfter(file, before), { refused, settled });
      await checkpoint?.remove();
      const wentOnBehind = before.number === 0 ? null : before.number;
      return { ...sum, refusals: shown, isDryRun: false, wentOnBehind };
    } catch (error) {
      await checkpoint?.write(last, rejected.written);
      progress.end();
      remarkStopped(call, last);
      throw error;
    }
  });
}

function reportText(report: Report, path: string): string {
  const { accepted, rejected, refusals, isDryRun, wentOnBehind } = report;
  const resumed = wentOnBehind === null ? "" : `Continued after line ${wentOnBehind}. `;
  const lost = counted(rejected, "line");
  const known = `${grouped(report.duplicates)} of them stored before`;
  const head = isDryRun
    ? `${counted(accepted, "event")} can be stored, ${lost} cannot. Nothing was sent.\n`
    : `${resumed}${grouped(accepted)} accepted (${known}), ${grouped(rejected)} rejected.\n`;
  if (rejected === 0) return head;
  const lines = refusals.map(({ line, code, message }) =>
    `  line ${line}: ${code}: ${printable(message)}\n`
  );
  const more = rejected > lines.length ? `  and ${grouped(rejected - lines.length)} more\n` : "";
  return `${head}${lines.join("")}${more}Each with its line in ${path}.\n`;
}

/** Options that are valid with `--from` some products only. */
const PRODUCTS_OF_OPTION: Readonly<Record<string, readonly string[]>> = {
  yes: PRODUCTS,
  remove: IMPORTED_SOURCES,
  website: ["umami"],
  "time-zone": ["mixpanel"],
};

/**
 * Throws UsageMistake for an option that the product does not have. If `--remove` were ignored, the command
 * would store what it was to remove.
 */
function assertOptionsFit({ options }: Call, product: string | null): void {
  for (const [option, products] of Object.entries(PRODUCTS_OF_OPTION)) {
    if (options.values[option] === undefined || products.includes(product ?? "")) continue;
    throw new UsageMistake(`--${option} goes with --from ${products.join("|")} alone.`);
  }
}

async function importEvents(call: Call): Promise<number> {
  const product = call.options.text("from");
  const load = product === null ? null : await importOf(product);
  assertOptionsFit(call, product);
  if (load !== null) return await load(call);
  const [word, surplus] = call.words;
  if (surplus !== undefined) {
    throw new UsageMistake(`Name one file: \`${surplus}\` is one too many.`);
  }
  if (word === undefined) {
    throw new UsageMistake("Say which FILE to import, or - for standard input.");
  }
  const { print } = call;
  const path = rejectedPath(call, word);
  await assertNoInput(path, [word]);
  const file = await openFile(word);
  const progress = createImportProgress(print, "Importing", file.size, call.now);
  const run = call.options.flag("dry-run") ? dryRun : sendAll;
  let report: Report;
  try {
    report = await run(call, { file, word, progress });
  } finally {
    progress.end();
  }
  const { stored: _, refusals: rejections, end: bytes, number: _number, ...sum } = report;
  const rejectedFile = report.rejected === 0 ? null : path;
  print.result({ ...sum, bytes, rejections, rejectedFile }, () => reportText(report, path));
  return report.rejected === 0 ? 0 : 1;
}

export const IMPORT_COMMAND: Command = {
  name: "import",
  summary: "Store events from an export, also of another product, each exactly once",
  usage:
    "footfall import FILE|- [options]\n  footfall import --from PRODUCT FILE…|postgres://… [options]",
  notes:
    "One JSON object a line, also compressed (gzip, zstd): as `footfall export` writes it, which is\n" +
    "stored as it stands; or an event as POST /v1/events takes it, whose address and user agent are\n" +
    "taken from context.ip and context.userAgent. Importing twice stores once. One that was stopped\n" +
    "goes on where it was: run it again. Refused lines are written to rejected.ndjson beside FILE,\n" +
    "each with its number, the reason, and its content; those of an earlier import are kept in\n" +
    "rejected.ndjson.1 and so on.\n" +
    "With --from, what another product stores: a dry run first, always, then the import. Each event\n" +
    "keeps its id or gets one that is made of theirs, so that a second run adds nothing.",
  wordsMax: FILES_MAX,
  options: {
    project: PROJECT_OPTION,
    from: {
      type: "string",
      placeholder: "PRODUCT",
      meaning: `what another product stores: ${PRODUCTS.join(", ")}`,
    },
    "dry-run": { type: "boolean", meaning: "read and check everything, send nothing" },
    rejected: {
      type: "string",
      placeholder: "FILE",
      default: "rejected.ndjson beside FILE",
      meaning: "where refused lines go",
    },
    yes: { type: "boolean", meaning: "with --from: do not ask after the dry run" },
    remove: {
      type: "boolean",
      meaning: `with --from ${
        IMPORTED_SOURCES.join("|")
      }: remove the daily sums that were imported`,
    },
    website: {
      type: "string",
      placeholder: "DOMAIN",
      meaning: "with --from umami postgres://…: the website that is meant",
    },
    "time-zone": {
      type: "string",
      placeholder: "ZONE",
      default: "UTC",
      meaning: "with --from mixpanel: the zone of the export's times",
    },
  },
  example: "footfall import events.ndjson --project prj_default",
  run: importEvents,
};
