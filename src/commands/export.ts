import { type Call, type Command, PROJECT_OPTION, UsageMistake } from "./command.ts";
import { chosenProject, type Connection, refusalOf, withConnection } from "./connection.ts";
import { createProgress, type Progress } from "./progress.ts";

const NEWLINE = 10;
/** One request reaches at most ten years; nine leave room for leap days. */
const WINDOW_YEARS = 9;
const EPOCH_YEAR = 1970;

interface Span {
  readonly from: string;
  readonly to: string | null;
}

/** Everything since 1970, newest first, in spans that one request may ask for. */
function* allSpans(nowMs: number): Generator<Span> {
  // A client's clock may be a day ahead.
  const endYear = new Date(nowMs).getUTCFullYear() + 2;
  for (let to = endYear; to > EPOCH_YEAR; to -= WINDOW_YEARS) {
    const from = Math.max(EPOCH_YEAR, to - WINDOW_YEARS);
    yield { from: `${from}-01-01T00:00:00Z`, to: `${to}-01-01T00:00:00Z` };
  }
}

function spansOf(call: Call): Iterable<Span> {
  const from = call.options.text("from");
  const to = call.options.text("to");
  if (from !== null) return [{ from, to }];
  if (to !== null) throw new UsageMistake("With --to, say --from as well.");
  return allSpans(call.now());
}

/** Copies one span to `write`. @returns the number of events */
async function copySpan(
  connection: Connection,
  project: string,
  span: Span,
  signal: AbortSignal,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<number> {
  const query = new URLSearchParams({ project, bots: "include", from: span.from });
  if (span.to !== null) query.set("to", span.to);
  const reply = await connection.fetch(`/v1/events?${query}`, {
    headers: { "Accept": "application/x-ndjson" },
    signal,
  });
  if (!reply.ok) throw await refusalOf(reply);
  let events = 0;
  for await (const chunk of reply.body ?? []) {
    signal.throwIfAborted();
    await write(chunk);
    for (const byte of chunk) if (byte === NEWLINE) events++;
  }
  return events;
}

async function copyAll(
  call: Call,
  progress: Progress,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<number> {
  const startedAt = call.now();
  let bytes = 0;
  const counted = async (chunk: Uint8Array) => {
    await write(chunk);
    bytes += chunk.length;
    const seconds = Math.round((call.now() - startedAt) / 1000);
    progress.update(bytes, `${(bytes / 1e6).toFixed(1)} MB, ${seconds} s`);
  };
  return await withConnection(call, async (connection) => {
    const project = await chosenProject(connection, call);
    let events = 0;
    for (const span of spansOf(call)) {
      events += await copySpan(connection, project, span, call.signal, counted);
    }
    return events;
  });
}

async function exportEvents(call: Call): Promise<void> {
  const { print } = call;
  const output = call.options.text("output");
  if (print.json && output === null) {
    throw new UsageMistake("With --json, say --output FILE: the events are many documents.");
  }
  spansOf(call);
  const showBar = output !== null || !print.terminal.outIsTerminal;
  const silent: Progress = { update: () => {}, end: () => {} };
  const progress = showBar && !print.json
    ? createProgress(print.terminal, "Exporting", null, call.now)
    : silent;
  // The events hold addresses of people: for the owner's eyes.
  using file = output === null
    ? null
    : await Deno.open(output, { create: true, truncate: true, write: true, mode: 0o600 });
  try {
    const events = await copyAll(call, progress, async (bytes) => {
      if (file === null) return print.terminal.out(bytes);
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await file.write(rest));
    });
    progress.end();
    if (output !== null) {
      print.result({ events, output }, () => `${events} events written to ${output}.\n`);
    } else print.remark(`${events} events exported.`);
  } catch (error) {
    progress.end();
    throw error;
  }
}

export const EXPORT_COMMAND: Command = {
  name: "export",
  summary: "Write a project's events as NDJSON, newest first",
  usage: "footfall export [options]",
  notes: "Crawlers are included. Without --from, everything since 1970 is exported.",
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
    output: {
      type: "string",
      placeholder: "FILE",
      default: "standard output",
      meaning: "where to",
    },
  },
  example: "footfall export --from 2026-01-01 --to 2026-03-31 --output quarter.ndjson",
  run: exportEvents,
};
