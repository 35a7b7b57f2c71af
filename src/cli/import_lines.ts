/**
 * Sends lines into a project, whatever file they come from: each is one event as
 * `POST /v1/projects/:id/import` takes it (`ImportedEvent`). Several requests are under way at once;
 * what became of them is told in the order of the lines, so that whoever sends a file knows up to
 * where all of it is answered, and can go on there.
 */
import { BODY_WIRE_BYTES_MAX } from "../limits.ts";
import { type BatchOutcome, sendPatiently } from "./event_sender.ts";
import { type Connection, refusalOf } from "./connection.ts";

/** Lines of one request. */
const LINES_PER_REQUEST = 500;
const REQUESTS_AT_ONCE = 8;
const NEWLINE = 0x0a;

/** Why a line is not stored. */
export interface RefusalReason {
  readonly code: string;
  readonly message: string;
}

/** One line on its way into a project. */
export interface ImportLine {
  /** Where it stands in its file, from 1. */
  readonly number: number;
  /** How far its source was read with it, e.g. in bytes: what progress and resumption count by. */
  readonly end: number;
  /** The JSON of one event in UTF-8, without a line end; of a line that is refused, what stands there. */
  readonly bytes: Uint8Array;
  /** The file ends with it, and no line end follows; absent: no. */
  readonly isUnended?: true;
  /** The line is known to be none that can be stored, and is not sent; absent: it is sent. */
  readonly refused?: RefusalReason;
}

/** A line that is not stored. */
export interface RefusedLine extends RefusalReason {
  readonly line: ImportLine;
}

/** What became of all lines up to one of them. */
export interface ImportSum {
  readonly lines: number;
  readonly accepted: number;
  /** Accepted, and stored before. */
  readonly duplicates: number;
  readonly rejected: number;
  /** `number` and `end` of the last of them. */
  readonly number: number;
  readonly end: number;
  /** The last of them that was accepted; null: none of this run. */
  readonly stored: ImportLine | null;
}

export const NOTHING_IMPORTED: ImportSum = {
  lines: 0,
  accepted: 0,
  duplicates: 0,
  rejected: 0,
  number: 0,
  end: 0,
  stored: null,
};

/** Where lines go. */
export interface ImportTarget {
  readonly connection: Connection;
  /** The project's public id. */
  readonly project: string;
  /** What the whole import is called: one entry of the audit, also where it goes on after a stop. */
  readonly name: string;
  /** Ends the import in order: what is under way is still answered. */
  readonly signal: AbortSignal;
  /** What went before, where it goes on. */
  readonly before?: ImportSum;
  /** The server looks at the lines, and stores none of them. */
  readonly dryRun?: boolean;
}

/** Who is told what became of the lines, in their order. */
export interface ImportHooks {
  readonly refused: (refusal: RefusedLine) => void | Promise<void>;
  /** All lines so far are answered: those that were accepted are stored for certain. */
  readonly settled: (sum: ImportSum) => void | Promise<void>;
}

interface Batch {
  readonly lines: readonly ImportLine[];
  /** Those that are sent. */
  readonly sent: readonly ImportLine[];
}

/** One body of these lines. */
function bodyOf(lines: readonly ImportLine[]): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(lines.reduce((sum, { bytes }) => sum + bytes.length + 1, 0));
  let at = 0;
  for (const { bytes } of lines) {
    body.set(bytes, at);
    at += bytes.length;
    body[at++] = NEWLINE;
  }
  return body;
}

/** Cuts the lines into requests within the server's limits. */
async function* batchesOf(
  chunks: AsyncIterable<readonly ImportLine[]> | Iterable<readonly ImportLine[]>,
): AsyncGenerator<Batch> {
  let lines: ImportLine[] = [];
  let sent: ImportLine[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    for (const line of chunk) {
      // Those that are refused are held as well, until all before them is answered.
      const size = line.bytes.length + 1;
      const isFull = lines.length === LINES_PER_REQUEST || bytes + size > BODY_WIRE_BYTES_MAX;
      if (isFull && lines.length > 0) {
        yield { lines, sent };
        [lines, sent, bytes] = [[], [], 0];
      }
      lines.push(line);
      if (line.refused === undefined) sent.push(line);
      bytes += size;
    }
  }
  if (lines.length > 0) yield { lines, sent };
}

async function send(
  { connection, project, name, signal, dryRun = false }: ImportTarget,
  { sent }: Batch,
): Promise<BatchOutcome> {
  if (sent.length === 0) return { accepted: 0, duplicates: 0, rejected: [] };
  const query = new URLSearchParams({ import: name, ...dryRun ? { dryRun: "true" } : {} });
  const path = `/v1/projects/${encodeURIComponent(project)}/import?${query}`;
  const body = bodyOf(sent);
  const headers = { "Content-Type": "application/x-ndjson" };
  const post = () => connection.fetch(path, { method: "POST", headers, body });
  const reply = await sendPatiently(post, signal);
  if (reply.ok) return await reply.json();
  throw await refusalOf(reply);
}

/** A last line that is no JSON was cut off, as a rule. */
export function reasonOf(
  { isUnended }: ImportLine,
  { code, message }: RefusalReason,
): RefusalReason {
  return code === "invalid_json" && isUnended
    ? { code, message: `${message} The file ends in it: it seems to be cut off.` }
    : { code, message };
}

/** What became of one request's lines, added to what was before. */
async function settle(
  before: ImportSum,
  { lines, sent }: Batch,
  { accepted, duplicates, rejected }: BatchOutcome,
  hooks: ImportHooks,
): Promise<ImportSum> {
  const reasons = new Map<ImportLine, RefusalReason>();
  for (const { index, ...reason } of rejected) {
    const line = sent[index];
    if (line !== undefined) reasons.set(line, reasonOf(line, reason));
  }
  let refused = 0;
  let { stored } = before;
  for (const line of lines) {
    const reason = line.refused ?? reasons.get(line);
    if (reason === undefined) {
      stored = line;
      continue;
    }
    refused++;
    await hooks.refused({ line, ...reason });
  }
  const last = lines.at(-1)!;
  const sum = {
    lines: before.lines + lines.length,
    accepted: before.accepted + accepted,
    duplicates: before.duplicates + duplicates,
    rejected: before.rejected + refused,
    number: last.number,
    end: last.end,
    stored,
  };
  await hooks.settled(sum);
  return sum;
}

/**
 * Sends all lines, and tells `hooks` in their order what became of them. Blank lines are nobody's
 * business: leave them out.
 *
 * @throws RequestRefused when the server will not have them, ServerUnreachable, what the lines throw,
 * what `signal` aborts with. What was told before is stored; sending the rest again is safe.
 */
export async function importLines(
  target: ImportTarget,
  lines: AsyncIterable<readonly ImportLine[]> | Iterable<readonly ImportLine[]>,
  hooks: ImportHooks,
): Promise<ImportSum> {
  let sum = target.before ?? NOTHING_IMPORTED;
  let isTold = true;
  const underWay: { readonly batch: Batch; readonly outcome: Promise<BatchOutcome> }[] = [];
  const settleFirst = async () => {
    const { batch, outcome } = underWay[0]!;
    const answer = await outcome;
    underWay.shift();
    isTold = false;
    sum = await settle(sum, batch, answer, hooks);
    isTold = true;
  };
  try {
    for await (const batch of batchesOf(lines)) {
      target.signal.throwIfAborted();
      const outcome = send(target, batch);
      // Told when its turn comes; until then a failure is nobody's yet.
      outcome.catch(() => {});
      underWay.push({ batch, outcome });
      if (underWay.length >= REQUESTS_AT_ONCE) await settleFirst();
    }
    while (underWay.length > 0) await settleFirst();
    return sum;
  } catch (error) {
    // What is under way may be stored: it is answered, and told as far as all before it is.
    const outcomes = await Promise.allSettled(underWay.map(({ outcome }) => outcome));
    for (const [i, outcome] of outcomes.entries()) {
      if (!isTold || outcome.status === "rejected") break;
      sum = await settle(sum, underWay[i]!.batch, outcome.value, hooks);
    }
    throw error;
  }
}
