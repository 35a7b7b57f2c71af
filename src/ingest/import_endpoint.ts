import { z } from "zod";
import type { Project } from "../auth/projects.ts";
import { arrayLiteral, isOneOf, type Sql } from "../db/sql.ts";
import { withBody } from "../http/body.ts";
import type { BodyBudget } from "../http/body_budget.ts";
import { assertContentType } from "../http/content_type.ts";
import { json } from "../http/reply.ts";
import { assertStillAllowed } from "../http/still_allowed.ts";
import { SLICE_MS } from "../limits.ts";
import { Problem } from "../problem.ts";
import { parseJson } from "../json_text.ts";
import {
  RejectedEvent,
  REJECTION_CODES,
  replySchema,
  suspicionOf,
  tooLarge,
} from "./event_schema.ts";
import { IMPORT_LINE_BYTES_MAX, IMPORT_LINES_MAX } from "./import_limits.ts";
import { type Arrival, enricher, type Enrichment } from "./pipeline.ts";
import { type ReadBatch, rejectionAt, withRefused } from "./rejections.ts";
import { EVENT_BODY_LIMITS } from "./take_events.ts";
import { readLine, type StatedColumns } from "./imported_event.ts";
import { Writer } from "./writer.ts";

const IMPORT_REJECTION_CODES = [
  ...REJECTION_CODES,
  "invalid_json",
  "invalid_encoding",
] as const;

/** Reply of `POST /v1/projects/:id/import`. */
export const ImportReply = replySchema(
  IMPORT_REJECTION_CODES,
  z.int().meta({ description: "The line of the body, from 0" }),
);

type ImportOutcome = z.output<typeof ImportReply>;
type Rejection = ImportOutcome["rejected"][number];

/** The parameters of `POST /v1/projects/:id/import`. */
export const IMPORT_QUERY: Readonly<Record<string, string>> = {
  dryRun: "`true`: nothing is stored; `duplicates` says how many of the events are known",
  import: "A name that the client gives to the whole import: it is one entry of the audit",
};

export interface ImportServices {
  readonly database: Sql;
  readonly writer: Writer;
  readonly enrichment: Enrichment;
  readonly budget: BodyBudget;
  readonly ipStorage: "full" | "truncated" | "none";
  readonly now: () => number;
  readonly observe: (outcome: ImportOutcome) => void;
}

const CONTENT_TYPES = new Set([
  ...["ndjson", "jsonl", "jsonlines"].flatMap((
    name,
  ) => [`application/${name}`, `application/x-${name}`]),
  "text/plain",
]);
const NEWLINE = 0x0a;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Splits a body into lines. Throws `too_many_events` (413). */
function linesOf(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, from);
    lines.push(bytes.subarray(from, end < 0 ? bytes.length : end));
    from = end < 0 ? bytes.length : end + 1;
    if (lines.length > IMPORT_LINES_MAX) {
      throw new Problem(
        "too_many_events",
        `Send at most ${IMPORT_LINES_MAX} lines in one request.`,
      );
    }
  }
  return lines;
}

/** A batch of lines; its indexes are line numbers, from 0. */
interface Batch extends ReadBatch<Rejection> {
  /** By row: the columns that its line states. */
  readonly stated: StatedColumns[];
}

/** A line that is not JSON, and has no other member of a rejection. */
class UnreadableLine extends Error {
  readonly field = "";
  constructor(readonly code: "invalid_json" | "invalid_encoding", message: string) {
    super(message);
  }
}

/** Parses a line. Throws UnreadableLine, RejectedEvent. */
function valueOf(line: Uint8Array): { readonly text: string; readonly value: unknown } {
  if (line.length > IMPORT_LINE_BYTES_MAX) throw tooLarge(IMPORT_LINE_BYTES_MAX);
  let text: string;
  try {
    text = UTF8.decode(line);
  } catch {
    throw new UnreadableLine("invalid_encoding", "The line is not valid UTF-8.");
  }
  try {
    return { text, value: parseJson(text) };
  } catch {
    throw new UnreadableLine("invalid_json", "The line is not valid JSON.");
  }
}

const SPACE = 0x20;

/** Reads each line on its own, so that a bad one affects no other. Other requests have turns between two lines. */
async function readBatch(
  { enrichment, budget }: ImportServices,
  lines: readonly Uint8Array[],
  arrival: Arrival,
): Promise<Batch> {
  const batch: Batch = { rows: [], stated: [], indexes: [], rejected: [] };
  const enriching = enricher(arrival, enrichment);
  let sliceStartedAt = performance.now();
  for (const [index, line] of lines.entries()) {
    if (performance.now() - sliceStartedAt > SLICE_MS) {
      await budget.turns.next();
      sliceStartedAt = performance.now();
    }
    let value: unknown = null;
    try {
      if (line.every((byte) => byte <= SPACE)) continue;
      const read = valueOf(line);
      value = read.value;
      const { input, stated } = readLine(value, suspicionOf(read.text), arrival.receivedAtMs);
      batch.rows.push(enriching.rowOf(input));
      batch.stated.push(stated);
      batch.indexes.push(index);
    } catch (error) {
      if (!(error instanceof RejectedEvent || error instanceof UnreadableLine)) throw error;
      batch.rejected.push(rejectionAt(index, value, error));
    }
  }
  await enriching.complete();
  // Only now, since the pipeline's hashes would overwrite the stated ones.
  for (const [i, row] of batch.rows.entries()) Object.assign(row, batch.stated[i]);
  return batch;
}

/** Stores the events; a dry run only counts the duplicates. */
async function store(
  { writer, database }: ImportServices,
  { rows }: Batch,
  bytes: number,
  isDryRun: boolean,
) {
  if (!isDryRun) return await writer.write(rows, bytes);
  const known = await database.query<{ known: number }>(
    `SELECT count(*)::int AS known FROM event_ids
    WHERE project_id = (SELECT $1::int) AND ${isOneOf("event_id", "$2::text::uuid[]")}`,
    [rows[0]?.project_id ?? 0, arrayLiteral(rows.map(({ event_id }) => event_id))],
  );
  return { duplicates: known[0]!.known, refused: new Set<string>() };
}

/** Stores lines, one event each; resolves after the commit. A dry run only checks them. */
export async function takeLines(
  services: ImportServices,
  project: Project,
  lines: readonly Uint8Array[],
  isDryRun: boolean,
): Promise<ImportOutcome> {
  const arrival: Arrival = {
    projectId: project.projectId,
    projectPublicId: project.id,
    receivedAtMs: services.now(),
    clockOffsetMs: 0,
    ip: null,
    userAgent: null,
    // As with a secret key, the `context` of an event names its visitor.
    fromBackend: true,
    ipStorage: project.ipStorage ?? services.ipStorage,
  };
  const batch = await readBatch(services, lines, arrival);
  const bytes = lines.reduce((sum, line) => sum + line.length, 0);
  const { duplicates, refused } = await store(services, batch, bytes, isDryRun);
  const rejected = withRefused(batch, refused);
  const accepted = batch.rows.length + batch.rejected.length - rejected.length;
  const outcome = { accepted, duplicates, rejected };
  if (!isDryRun) services.observe(outcome);
  return outcome;
}

/** Whether an import is a dry run. Throws `invalid_parameter` for an unknown value, which must not store events. */
export function dryRunOf(url: URL): boolean {
  const text = url.searchParams.get("dryRun") ?? "false";
  if (text === "true" || text === "false") return text === "true";
  throw new Problem("invalid_parameter", "`dryRun` must be `true` or `false`.", {
    errors: [{ field: "dryRun", code: "invalid_parameter", message: "Use true or false." }],
  });
}

/** A request of an import. */
export interface ImportWanted {
  readonly project: Project;
  readonly request: Request;
  readonly url: URL;
  /** Writes the import into the audit; to be called once the body has arrived, unless it is a dry run. */
  readonly record: () => Promise<void>;
}

/**
 * `POST /v1/projects/:id/import`: stores exported events, one on each line. As in ingestion, each is stored
 * once, however often it is sent.
 */
export async function importEvents(
  services: ImportServices,
  { project, request, url, record }: ImportWanted,
): Promise<Response> {
  const isDryRun = dryRunOf(url);
  const advice = "Send one event on each line as application/x-ndjson (UTF-8).";
  assertContentType(request, CONTENT_TYPES, advice, "application/x-ndjson, text/plain");
  if (services.writer.isFullFor(project.projectId)) throw Writer.overloaded();
  return await withBody(request, EVENT_BODY_LIMITS, services.budget, () => {}, async (bytes) => {
    await assertStillAllowed(request);
    const lines = linesOf(bytes);
    if (!isDryRun) await record();
    return json(await takeLines(services, project, lines, isDryRun));
  });
}
