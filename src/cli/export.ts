import { type DamagedBlock, DamagedEvents, damagedPlace } from "../archive/damaged_blocks.ts";
import { isJson } from "../json_text.ts";
import type { BotChoice } from "../query/selection.ts";
import { readRange } from "../query/range.ts";
import { type Call, type Command, PROJECT_OPTION, UsageMistake } from "./command.ts";
import { CSV_HEAD, csvLines } from "../event_file/event_columns.ts";
import { EventLines, newlinesIn } from "../event_file/event_lines.ts";
import { ParquetFile } from "../event_file/parquet_file.ts";
import {
  callApi,
  chosenProject,
  type Connection,
  refusalOf,
  RequestRefused,
  ServerUnreachable,
  type ShownProject,
  withConnection,
} from "./connection.ts";
import { createProgress, type Progress, SILENT } from "./progress.ts";
import { storedLines, unreadableBlocks } from "./stored_lines.ts";
import { printable } from "./terminal.ts";
import { outputPath, WholeFile } from "./whole_file.ts";
import { counted } from "../number_words.ts";

const FAILED = 1;
const BOTS: readonly string[] = ["include", "exclude", "only"] satisfies BotChoice[];
const WITHOUT_DAMAGED = "footfall export --skip-damaged";
/** From before the first possible event until after the last one. */
const ALWAYS = { from: "0001-01-01T00:00:00Z", to: "9999-12-31T00:00:00Z" };

interface Span {
  readonly from: string;
  readonly to: string | null;
}

function spanOf(call: Call): Span {
  const from = call.options.text("from");
  const to = call.options.text("to");
  if (from !== null) return { from, to };
  if (to !== null) throw new UsageMistake("With --to, say --from as well.");
  return ALWAYS;
}

type Write = (bytes: Uint8Array) => Promise<void>;

/** Converts NDJSON to the bytes of a file: its beginning, what each chunk adds, and its end. */
interface FileFormat {
  readonly begin: () => Uint8Array;
  readonly add: (lines: Uint8Array) => Uint8Array;
  readonly end: () => Uint8Array;
}

const NOTHING = new Uint8Array();
const encoded = (text: string): Uint8Array => new TextEncoder().encode(text);

const FORMATS: Readonly<Record<string, () => Promise<FileFormat> | FileFormat>> = {
  ndjson: () => ({ begin: () => NOTHING, add: (lines) => lines, end: () => NOTHING }),
  csv: () => {
    const lines = new EventLines();
    return {
      begin: () => encoded(CSV_HEAD),
      add: (chunk) => encoded(csvLines(lines.take(chunk))),
      end: () => NOTHING,
    };
  },
  parquet: async () => {
    const lines = new EventLines();
    const file = await ParquetFile.begin();
    return {
      begin: () => NOTHING,
      add: (chunk) => file.add(lines.take(chunk), chunk.length),
      end: () => file.end(),
    };
  },
};

/** Returns the format that `--format` names. Throws UsageMistake for an unknown one. */
function formatOf(call: Call): () => Promise<FileFormat> | FileFormat {
  const name = call.options.text("format") ?? "ndjson";
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  if (format === undefined) {
    throw new UsageMistake(`--format must be one of ${Object.keys(FORMATS).join(", ")}.`);
  }
  const isBinary = name === "parquet";
  if (isBinary && call.options.text("output") === null && call.print.terminal.outIsTerminal) {
    throw new UsageMistake("A Parquet file is not for a terminal: say --output FILE.");
  }
  return format;
}

/** Returns the parameters of the API that choose events, without those of time. */
function choiceOf(call: Call): Record<string, string> {
  const filters = call.options.text("filters");
  const bots = call.options.text("bots") ?? "include";
  if (filters?.trim() && !isJson(filters)) {
    throw new UsageMistake(
      `--filters: Use JSON, such as '[{"field":"name","op":"is","values":["purchase"]}]'.`,
    );
  }
  if (call.options.flag("skip-damaged")) {
    if (filters !== null) {
      throw new UsageMistake("--skip-damaged reads what is stored as it is: leave --filters out.");
    }
    if (!BOTS.includes(bots)) {
      throw new UsageMistake(`--bots must be one of ${BOTS.join(", ")}.`);
    }
  }
  return { bots, ...filters === null ? {} : { filters } };
}

/** The outcome of an export. */
interface Copied {
  readonly events: number;
  /** The blocks that were left out because they cannot be read. */
  readonly damaged: readonly DamagedBlock[];
}

/** Copies one span to `write`, newest first. */
async function copySpan(
  connection: Connection,
  choice: Readonly<Record<string, string>>,
  span: Span,
  signal: AbortSignal,
  write: Write,
): Promise<Copied> {
  const query = new URLSearchParams({ ...choice, from: span.from });
  if (span.to !== null) query.set("to", span.to);
  const reply = await connection.fetch(`/v1/events?${query}`, {
    headers: { "Accept": "application/x-ndjson" },
    signal,
  });
  if (!reply.ok) throw await refusalOf(reply);
  let events = 0;
  for await (const chunk of wholly(reply.body, signal, () => events)) {
    await write(chunk);
    events += newlinesIn(chunk);
  }
  return { events, damaged: [] };
}

/** Copies the readable events of one span to `write`, in the order of storage. */
async function copyReadable(
  call: Call,
  connection: Connection,
  { project, bots }: Readonly<Record<string, string>>,
  span: Span,
  write: Write,
): Promise<Copied> {
  const path = `/v1/projects/${project}`;
  const { timezone } = await callApi<ShownProject>(connection, "GET", path);
  const query = new URLSearchParams({ from: span.from, to: span.to ?? "" });
  const { from, to } = readRange(query, timezone, Date.now(), null);
  const choice = {
    project: project!,
    bots: bots as BotChoice,
    fromMs: from.getTime(),
    toMs: to.getTime(),
  };
  const lines = storedLines(connection, choice, call.signal);
  for (let events = 0;;) {
    const next = await lines.next();
    if (next.done) return { events, damaged: next.value };
    await write(next.value);
    events += newlinesIn(next.value);
  }
}

/** Returns the error to throw for an export that failed; it names the block if one cannot be read. */
async function causeOf(
  error: unknown,
  connection: Connection,
  project: string,
  signal: AbortSignal,
): Promise<unknown> {
  const isDamage = error instanceof RequestRefused && error.code === "damaged_events";
  if (!isDamage && !(error instanceof ServerUnreachable)) return error;
  // If the server has ended, this read fails, too, and the first error is thrown.
  const [block] = await unreadableBlocks(connection, project, signal).catch(() => []);
  return block === undefined ? error : new DamagedEvents(block, WITHOUT_DAMAGED);
}

/** Yields all bytes of a reply. Throws ServerUnreachable if it breaks off. */
async function* wholly(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
  events: () => number,
): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  for (;;) {
    signal.throwIfAborted();
    let next;
    try {
      next = await reader?.read();
    } catch (cause) {
      signal.throwIfAborted();
      const written = counted(events(), "event");
      throw new ServerUnreachable(
        `The export broke off after ${written}: the server has ended, or its database does not ` +
          "answer. Try again.",
        { cause },
      );
    }
    if (next === undefined || next.done) return;
    yield next.value;
  }
}

async function copyAll(
  call: Call,
  progress: Progress,
  format: FileFormat,
  write: Write,
): Promise<Copied> {
  const startedAt = call.now();
  let bytes = 0;
  const add = async (chunk: Uint8Array) => {
    await write(format.add(chunk));
    bytes += chunk.length;
    const seconds = Math.round((call.now() - startedAt) / 1000);
    progress.update(bytes, `${(bytes / 1e6).toFixed(1)} MB, ${seconds} s`);
  };
  return await withConnection(call, async (connection) => {
    const project = await chosenProject(connection, call);
    const choice = { project, ...choiceOf(call) };
    const span = spanOf(call);
    const copy = () =>
      call.options.flag("skip-damaged")
        ? copyReadable(call, connection, choice, span, add)
        : copySpan(connection, choice, span, call.signal, add);
    await write(format.begin());
    try {
      const copied = await copy();
      await write(format.end());
      return copied;
    } catch (error) {
      throw await causeOf(error, connection, project, call.signal);
    }
  });
}

async function exportEvents(call: Call): Promise<number> {
  const { print } = call;
  const named = call.options.text("output");
  const output = named === null ? null : outputPath(named);
  if (print.json && output === null) {
    throw new UsageMistake("With --json, say --output FILE: the events are many documents.");
  }
  spanOf(call);
  choiceOf(call);
  const format = await formatOf(call)();
  // Not between events that are printed on the terminal.
  const progress = output === null && print.terminal.outIsTerminal
    ? SILENT
    : createProgress(print, "Exporting", null, call.now);
  await using file = output === null ? null : await WholeFile.open(output);
  try {
    const { events, damaged } = await copyAll(call, progress, format, async (bytes) => {
      if (file === null) print.terminal.out(bytes);
      else await file.write(bytes);
    });
    await file?.finish();
    progress.end();
    if (output !== null) {
      const text = () => `${counted(events, "event")} written to ${output}.\n`;
      print.result({ events, output, damaged }, text);
    } else print.remark(`${counted(events, "event")} exported.`);
    if (damaged.length === 0) return 0;
    print.remark("Not in it, because it is damaged:");
    for (const block of damaged) print.remark(`  ${printable(damagedPlace(block))}`);
    return FAILED;
  } catch (error) {
    progress.end();
    throw error;
  }
}

export const EXPORT_COMMAND: Command = {
  name: "export",
  summary: "Write a project's events as NDJSON, CSV or Parquet, newest first",
  usage: "footfall export [options]",
  notes: "Bots are included. Without --from, everything is exported.\n" +
    "NDJSON holds all that is stored of an event, and `footfall import` stores it again as it was.\n" +
    "CSV and Parquet hold a table of it: properties as JSON,\n" +
    "and in CSV an apostrophe before text that a spreadsheet would run as a formula.\n" +
    "A block of events that cannot be read ends it with a sentence that names the block; with\n" +
    "--skip-damaged everything else is written, in the order in which it is stored, and the exit code is 1.",
  wordsMax: 0,
  options: {
    project: PROJECT_OPTION,
    from: { type: "string", placeholder: "DATE", meaning: "first local date, or an instant" },
    to: {
      type: "string",
      placeholder: "DATE",
      default: "today",
      meaning: "last local date, or the instant before which to end",
    },
    format: {
      type: "string",
      placeholder: "FORMAT",
      default: "ndjson",
      meaning: "ndjson, csv or parquet",
    },
    filters: {
      type: "string",
      placeholder: "JSON",
      meaning: 'conditions that all must hold, such as [{"field":"path","op":"is","values":["/"]}]',
    },
    bots: {
      type: "string",
      placeholder: "CHOICE",
      default: "include",
      meaning: "include, exclude or only",
    },
    "skip-damaged": {
      type: "boolean",
      meaning: "leave out what cannot be read, and name it",
    },
    output: {
      type: "string",
      placeholder: "FILE",
      default: "standard output",
      meaning: "where to",
    },
  },
  example:
    "footfall export --from 2026-01-01 --to 2026-03-31 --format parquet --output quarter.parquet",
  run: exportEvents,
};
