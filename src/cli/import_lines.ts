/**
 * Sends lines of any source into a project: each line is one event as `POST /v1/projects/:id/import` takes it
 * (`ImportedEvent`). Several requests are under way at once, but their outcome is reported in the order of
 * the lines, so that the caller knows up to which line everything is answered and can resume from there.
 */
import { BODY_WIRE_BYTES_MAX } from "../limits.ts";
import { type BatchOutcome, sendPatiently } from "./event_sender.ts";
import { type Connection, refusalOf } from "./connection.ts";

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
  /** The number of the line in its file, from 1. */
  readonly number: number;
  /** How much of its source ends with this line, e.g. in bytes: the unit of progress and resumption. */
  readonly end: number;
  /** The JSON of one event in UTF-8, without a line end; the raw content if the line is refused. */
  readonly bytes: Uint8Array;
  /** Whether this is the last line and has no line end. */
  readonly isUnended?: true;
  /** Why the line is known to be invalid and is not sent; absent: it is sent. */
  readonly refused?: RefusalReason;
}

/** A line that is not stored. */
export interface RefusedLine extends RefusalReason {
  readonly line: ImportLine;
}

/** The outcome of all lines up to one of them. */
export interface ImportSum {
  readonly lines: number;
  readonly accepted: number;
  /** Accepted lines whose events were stored before. */
  readonly duplicates: number;
  readonly rejected: number;
  /** `number` and `end` of the last of these lines. */
  readonly number: number;
  readonly end: number;
  /** The last accepted line; null: this run has accepted none. */
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

/** Where lines are sent, and how. */
export interface ImportTarget {
  readonly connection: Connection;
  /** The project's public id. */
  readonly project: string;
  /** The name of the whole import: it makes one entry in the audit, even if it is resumed after a stop. */
  readonly name: string;
  /** Ends the import: no further request is sent, and those under way are still answered. */
  readonly signal: AbortSignal;
  /** The outcome of an earlier run that this import continues. */
  readonly before?: ImportSum;
  /** Whether the server only checks the lines and stores none. */
  readonly dryRun?: boolean;
}

/** Callbacks for the outcome of lines, called in the order of the lines. */
export interface ImportHooks {
  readonly accepted?: (line: ImportLine) => void;
  readonly refused: (refusal: RefusedLine) => void | Promise<void>;
  /** Called once all lines up to `sum.number` are answered: the accepted ones are then stored durably. */
  readonly settled: (sum: ImportSum) => void | Promise<void>;
}

interface Batch {
  readonly lines: readonly ImportLine[];
  /** Those of them that are sent: the others are known to be invalid. */
  readonly sent: readonly ImportLine[];
}

/** Returns the lines as one request body. */
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

/** Yields batches of lines, each within the server's limits for one request. */
async function* batchesOf(
  chunks: AsyncIterable<readonly ImportLine[]> | Iterable<readonly ImportLine[]>,
): AsyncGenerator<Batch> {
  let lines: ImportLine[] = [];
  let sent: ImportLine[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    for (const line of chunk) {
      // Refused lines count, too: they stay in memory until all lines before them are answered.
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

/** Returns why a line is refused. A last line that is not JSON was most likely cut off. */
export function reasonOf(
  { isUnended }: ImportLine,
  { code, message }: RefusalReason,
): RefusalReason {
  return code === "invalid_json" && isUnended
    ? { code, message: `${message} The file ends in it: it seems to be cut off.` }
    : { code, message };
}

/** Reports the outcome of one request's lines, and adds it to that of the lines before. */
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
      hooks.accepted?.(line);
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
 * Sends all lines, none of which may be blank, and reports their outcome to `hooks` in order.
 *
 * @throws RequestRefused if the server refuses a request, ServerUnreachable, errors of `lines`, and the reason
 * of `signal`. Lines that were reported as accepted are stored; sending the rest again is safe.
 */
export async function importLines(
  target: ImportTarget,
  lines: AsyncIterable<readonly ImportLine[]> | Iterable<readonly ImportLine[]>,
  hooks: ImportHooks,
): Promise<ImportSum> {
  let sum = target.before ?? NOTHING_IMPORTED;
  /** False while an outcome is reported: if that fails, no later one may be. */
  let isReported = true;
  const underWay: { readonly batch: Batch; readonly outcome: Promise<BatchOutcome> }[] = [];
  const settleFirst = async () => {
    const { batch, outcome } = underWay[0]!;
    const answer = await outcome;
    underWay.shift();
    isReported = false;
    sum = await settle(sum, batch, answer, hooks);
    isReported = true;
  };
  try {
    for await (const batch of batchesOf(lines)) {
      target.signal.throwIfAborted();
      const outcome = send(target, batch);
      // A failure is handled in this request's turn; until then it must not count as unhandled.
      outcome.catch(() => {});
      underWay.push({ batch, outcome });
      if (underWay.length >= REQUESTS_AT_ONCE) await settleFirst();
    }
    while (underWay.length > 0) await settleFirst();
    return sum;
  } catch (error) {
    // Lines under way may be stored, so their outcome is reported, too, up to the first failed request.
    const outcomes = await Promise.allSettled(underWay.map(({ outcome }) => outcome));
    for (const [i, outcome] of outcomes.entries()) {
      if (!isReported || outcome.status === "rejected") break;
      sum = await settle(sum, underWay[i]!.batch, outcome.value, hooks);
    }
    throw error;
  }
}
