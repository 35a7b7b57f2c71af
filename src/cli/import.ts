import { parseJson } from "../json_text.ts";
import { BODY_WIRE_BYTES_MAX, EVENTS_PER_REQUEST_MAX } from "../limits.ts";
import { type Call, type Command, PROJECT_OPTION, UsageMistake } from "./command.ts";
import { chosenProject, withConnection } from "./connection.ts";
import { forEachInFlight, sendBatch, type Sender, withTemporaryKey } from "./event_sender.ts";
import { importedEvent } from "./imported_event.ts";
import { createProgress } from "./progress.ts";
import { printable } from "./terminal.ts";

/** Lines looked at together, to gather the events of one visitor into one request. */
const WINDOW_LINES = 5_000;
/** The same in UTF-16 units, so that long lines cannot fill the memory. */
const WINDOW_LENGTH_MAX = 16 * 1024 * 1024;
const LINE_LENGTH_MAX = BODY_WIRE_BYTES_MAX;
const REQUESTS_AT_ONCE = 16;
const REJECTIONS_SHOWN = 20;
const ENVELOPE_BYTES = '{"events":[]}'.length;

interface Line {
  readonly number: number;
  readonly json: string;
  readonly bytes: number;
}

interface Batch {
  readonly sender: Sender;
  readonly lines: readonly Line[];
}

/** The sum over all batches. `rejections` holds the first few, by line of the file. */
class Tally {
  accepted = 0;
  duplicates = 0;
  rejected = 0;
  readonly rejections: { line: number; code: string; message: string }[] = [];

  reject(line: number, code: string, message: string): void {
    this.rejected++;
    if (this.rejections.length < REJECTIONS_SHOWN) this.rejections.push({ line, code, message });
  }
}

/** Lines of a byte stream; a line longer than a request may be is cut there, and thus no JSON. */
async function* linesOf(bytes: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (
    const text of bytes.pipeThrough(
      new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>,
    )
  ) {
    const parts = (rest + text).split("\n");
    rest = (parts.pop() ?? "").slice(0, LINE_LENGTH_MAX + 1);
    yield* parts;
  }
  if (rest !== "") yield rest;
}

/** One line as an event to send, or the reason why not. */
function readLine(text: string, number: number, tally: Tally) {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    tally.reject(number, "invalid_json", "The line is not valid JSON.");
    return null;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    tally.reject(number, "invalid_event", "The line must hold one JSON object.");
    return null;
  }
  const { event, sender } = importedEvent(value as Record<string, unknown>);
  const json = JSON.stringify(event);
  const bytes = new TextEncoder().encode(json).length + 1;
  if (bytes + ENVELOPE_BYTES > BODY_WIRE_BYTES_MAX) {
    tally.reject(number, "event_too_large", "The event is larger than a request may be.");
    return null;
  }
  return { line: { number, json, bytes }, sender };
}

/** Splits one sender's lines into requests within the server's limits. */
function* split(sender: Sender, lines: readonly Line[]): Generator<Batch> {
  let batch: Line[] = [];
  let bytes = ENVELOPE_BYTES;
  for (const line of lines) {
    if (batch.length === EVENTS_PER_REQUEST_MAX || bytes + line.bytes > BODY_WIRE_BYTES_MAX) {
      yield { sender, lines: batch };
      batch = [];
      bytes = ENVELOPE_BYTES;
    }
    batch.push(line);
    bytes += line.bytes;
  }
  if (batch.length > 0) yield { sender, lines: batch };
}

async function* batchesOf(
  bytes: ReadableStream<Uint8Array>,
  tally: Tally,
): AsyncGenerator<Batch> {
  let senders = new Map<string, { sender: Sender; lines: Line[] }>();
  let gathered = 0;
  let length = 0;
  let number = 0;
  for await (const text of linesOf(bytes)) {
    number++;
    if (text.trim() === "") continue;
    const read = readLine(text, number, tally);
    if (read === null) continue;
    const id = JSON.stringify([read.sender.address, read.sender.userAgent]);
    const known = senders.get(id);
    if (known === undefined) senders.set(id, { sender: read.sender, lines: [read.line] });
    else known.lines.push(read.line);
    length += read.line.json.length;
    if (++gathered < WINDOW_LINES && length < WINDOW_LENGTH_MAX) continue;
    for (const { sender, lines } of senders.values()) yield* split(sender, lines);
    senders = new Map();
    gathered = 0;
    length = 0;
  }
  for (const { sender, lines } of senders.values()) yield* split(sender, lines);
}

async function openSource(word: string): Promise<ReadableStream<Uint8Array>> {
  if (word === "-") return Deno.stdin.readable;
  return (await Deno.open(word)).readable;
}

async function importAll(call: Call, source: ReadableStream<Uint8Array>): Promise<Tally> {
  const tally = new Tally();
  const { print, signal } = call;
  const progress = createProgress(print.terminal, "Importing", null, call.now);
  try {
    await withConnection(call, async (connection) => {
      const project = await chosenProject(connection, call);
      await withTemporaryKey(connection, project, "footfall import", call.now(), async (key) => {
        await forEachInFlight(batchesOf(source, tally), REQUESTS_AT_ONCE, async (batch) => {
          const body = `{"events":[${batch.lines.map((line) => line.json).join(",")}]}`;
          const outcome = await sendBatch(connection, key, batch.sender, body, signal);
          tally.accepted += outcome.accepted;
          tally.duplicates += outcome.duplicates;
          for (const { index, code, message } of outcome.rejected) {
            tally.reject(batch.lines[index]?.number ?? 0, code, message);
          }
          if (!print.json) progress.update(tally.accepted, `${tally.accepted} events`);
        });
      });
    });
  } finally {
    if (!print.json) progress.end();
  }
  return tally;
}

async function importEvents(call: Call): Promise<number> {
  const [word] = call.words;
  if (word === undefined) {
    throw new UsageMistake("Say which FILE to import, or - for standard input.");
  }
  const tally = await importAll(call, await openSource(word));
  const { accepted, duplicates, rejected, rejections } = tally;
  call.print.result({ accepted, duplicates, rejected, rejections }, () => {
    const lines = rejections.map(({ line, code, message }) =>
      `  line ${line}: ${code}: ${printable(message)}\n`
    );
    const more = rejected > lines.length ? `  and ${rejected - lines.length} more\n` : "";
    return `${accepted} accepted (${duplicates} of them stored before), ${rejected} rejected.\n` +
      lines.join("") + more;
  });
  return rejected === 0 ? 0 : 1;
}

export const IMPORT_COMMAND: Command = {
  name: "import",
  summary: "Send events from an NDJSON file, or from standard input",
  usage: "footfall import FILE|- [options]",
  notes:
    "One JSON object a line: an event as POST /v1/events takes it, or as exported. The address\n" +
    "and user agent are taken from context.ip and context.userAgent; an export holds no user agent,\n" +
    "so its browsers, systems and devices are not carried over. Importing twice stores once.",
  wordsMax: 1,
  options: { project: PROJECT_OPTION },
  example: "footfall import events.ndjson --project prj_default",
  run: importEvents,
};
