import {
  IMPORTED_BODY_BYTES_MAX,
  IMPORTED_DAYS_PER_REQUEST_MAX,
} from "../imported/imported_limits.ts";
import type { ImportedDay, ImportedSource } from "../imported/imported_sums.ts";
import type { InputFile } from "../importers/input_file.ts";
import { GatheredSums } from "../importers/sums/gathered_sums.ts";
import type { SumContext, SumSource } from "../importers/sums/sum_source.ts";
import { allPlainFiles, loadSumSource } from "../importers/sums/sum_sources.ts";
import { type Call, UsageMistake } from "./command.ts";
import { callApi, chosenProject, type Connection, withConnection } from "./connection.ts";
import { confirmsImport, openFiles } from "./import_from.ts";
import { createProgress } from "./progress.ts";
import { assertNoInput, RejectedFile, rejectedPath } from "./rejected_file.ts";
import {
  REFUSALS_SHOWN,
  type RefusedRow,
  type StoredSums,
  type SumsFound,
  sumsText,
} from "./sums_text.ts";
import { counted, grouped } from "../number_words.ts";

/** The most refused rows that are written to their file; with more, the imported file is the wrong one. */
const REFUSALS_KEPT_MAX = 10_000;
/** About the most characters of refused rows in memory; a single row may have a million. */
const REFUSALS_LENGTH_AIM = 16 * 1024 * 1024;
const SAMPLE_DAYS = 3;

interface Project {
  readonly id: string;
  readonly siteUrl: string | null;
}

async function readSums(
  call: Call,
  source: SumSource,
  files: readonly InputFile[],
  project: Project,
) {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const { print, now, signal } = call;
  const progress = createProgress(print, "Reading", total, now);
  let bytes = 0;
  const plain = await allPlainFiles(files, (read) => {
    signal.throwIfAborted();
    bytes += read;
    progress.update(bytes, `${Math.round(bytes / 1e6)} MB`);
  });
  const sums = new GatheredSums();
  const refusals: RefusedRow[] = [];
  let [refused, length] = [0, 0];
  const siteHost = project.siteUrl === null ? null : URL.parse(project.siteUrl)?.hostname ?? null;
  const refuse: SumContext["refuse"] = (file, line, refusal, row) => {
    refused++;
    if (refusals.length >= REFUSALS_KEPT_MAX || length > REFUSALS_LENGTH_AIM) return;
    // Kept as text: a value of the row would keep everything that was read with it in memory.
    const text = row === null ? "" : JSON.stringify(row);
    length += text.length;
    refusals.push({ file, line, ...refusal, row: text });
  };
  const found: SumsFound["files"][number][] = [];
  try {
    for await (const file of source.read(plain, { sums, siteHost, refuse })) found.push(file);
  } finally {
    progress.end();
  }
  return { files: found, sums, refused, refusals };
}

/** Yields batches of days that each fit into one request. */
function* requestsOf(days: Iterable<ImportedDay>): Generator<ImportedDay[]> {
  // A character takes up to four bytes, or six where JSON escapes it; few paths consist of such characters.
  const lengthMax = IMPORTED_BODY_BYTES_MAX / 4;
  let batch: ImportedDay[] = [];
  let length = 0;
  for (const day of days) {
    const own = JSON.stringify(day).length;
    if (batch.length === IMPORTED_DAYS_PER_REQUEST_MAX || length + own > lengthMax) {
      if (batch.length > 0) yield batch;
      batch = [];
      length = 0;
    }
    batch.push(day);
    length += own;
  }
  if (batch.length > 0) yield batch;
}

async function send(
  call: Call,
  connection: Connection,
  path: string,
  sums: GatheredSums,
  dryRun: boolean,
): Promise<StoredSums> {
  const { print, now, signal } = call;
  const total = sums.dayCount;
  const progress = createProgress(print, dryRun ? "Comparing" : "Importing", total, now);
  const stored = { added: 0, replaced: 0, unchanged: 0 };
  let sent = 0;
  try {
    for (const days of requestsOf(sums.days())) {
      signal.throwIfAborted();
      const reply = await callApi<StoredSums>(connection, "POST", path, { dryRun, days });
      stored.added += reply.added;
      stored.replaced += reply.replaced;
      stored.unchanged += reply.unchanged;
      sent += days.length;
      progress.update(sent, counted(sent, "day"));
    }
  } catch (error) {
    progress.end();
    if (!dryRun) {
      const stored = `${grouped(sent)} of ${counted(total, "sum")} of days stored`;
      print.remark(
        `Stopped: ${stored}. Run the same command again; those that are stored stay as they are.`,
      );
    }
    throw error;
  } finally {
    progress.end();
  }
  return stored;
}

/** Writes each refused row with the reason. @returns the path of the file; null: no row was refused */
async function writeRefusals(
  call: Call,
  refusals: readonly RefusedRow[],
): Promise<string | null> {
  if (refusals.length === 0) return null;
  using file = new RejectedFile(rejectedPath(call, call.words[0]));
  const encoder = new TextEncoder();
  for (const { file: name, line, code, message, row } of refusals) {
    const bytes = encoder.encode(row);
    await file.add({ line: { number: line, end: 0, bytes }, code, message }, name);
  }
  return file.path;
}

async function importFiles(
  call: Call,
  connection: Connection,
  source: SumSource,
  files: readonly InputFile[],
): Promise<number> {
  const { print, options } = call;
  const id = await chosenProject(connection, call);
  const project = await callApi<Project>(connection, "GET", `/v1/projects/${id}`);
  const found = await readSums(call, source, files, project);
  const base = `/v1/projects/${id}/imported-history`;
  const { firstOwnDay } = await callApi<{ firstOwnDay: string | null }>(connection, "GET", base);
  const path = `${base}/${source.name}`;
  const { sums, refused, refusals } = found;
  const compared = await send(call, connection, path, sums, true);
  const shownDays = { firstOwnDay, sample: sums.sample(SAMPLE_DAYS) };
  const dryRun = {
    files: found.files,
    days: sums.extent,
    dimensions: sums.dimensions,
    refused,
    eventDaysAlone: sums.eventDaysAlone,
    refusals: refusals.slice(0, REFUSALS_SHOWN).map(({ row: _, ...refusal }) => refusal),
    firstOwnDay,
    ...compared,
  };
  const document = { from: source.name, project: id, dryRun };
  const text = () => sumsText(print, source, id, found, shownDays, compared);
  const isDryRun = options.flag("dry-run");
  if (isDryRun || sums.extent === null) {
    print.result(
      { ...document, imported: null },
      () => `${text()}\n${isDryRun ? "Nothing was sent." : "There is nothing to import."}\n`,
    );
    return isDryRun ? 0 : 1;
  }
  if (!print.json) print.terminal.out(text());
  if (!confirmsImport(call, counted(sums.countDays(), "day"), id)) {
    print.terminal.out("\nNothing was sent.\n");
    return 0;
  }
  const imported = await send(call, connection, path, sums, false);
  const rejectedFile = await writeRefusals(call, refusals);
  print.result(
    { ...document, imported: { ...imported, rejectedFile } },
    () =>
      `\n${counted(imported.added, "sum")} of days added, ${
        grouped(imported.replaced)
      } replaced, ` +
      `${counted(imported.unchanged, "as it was", "as they were")}` +
      `${rejectedFile === null ? "" : `; refused rows are in ${rejectedFile}`}.\n`,
  );
  return refused === 0 ? 0 : 1;
}

async function remove(call: Call, source: SumSource): Promise<number> {
  if (call.words.length > 0) {
    throw new UsageMistake("--remove takes no files: it removes them all.");
  }
  const days = await withConnection(call, async (connection) => {
    const id = await chosenProject(connection, call);
    const path = `/v1/projects/${id}/imported-history/${source.name}`;
    return (await callApi<{ days: number }>(connection, "DELETE", path)).days;
  });
  call.print.result(
    { from: source.name, removed: { days } },
    () => `${counted(days, "day")} of ${source.title} removed.\n`,
  );
  return 0;
}

/** `footfall import --from` a product that exports daily sums. @returns the exit code */
export async function importSums(call: Call): Promise<number> {
  const source = await loadSumSource(call.options.text("from") as ImportedSource);
  if (call.options.flag("remove")) return await remove(call, source);
  if (call.words.length === 0) {
    throw new UsageMistake(`Say what to import: ${source.title} takes ${source.takes}.`);
  }
  await assertNoInput(rejectedPath(call, call.words[0]), call.words);
  const files = await openFiles(call.words);
  return await withConnection(call, (connection) => importFiles(call, connection, source, files));
}
