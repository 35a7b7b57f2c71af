import { z } from "zod";
import { recordAudit } from "../audit/audit.ts";
import { recordExport } from "../audit/recorded_anyway.ts";
import { type ApiExchange, requirePrincipal } from "../auth/access.ts";
import { requireEverything } from "../auth/grants.ts";
import { askedBy, type AuditServices } from "../auth/audited.ts";
import type { LongReplies } from "../auth/long_replies.ts";
import { randomText } from "../auth/random_text.ts";
import type { Database } from "../db/sql.ts";
import { withBody } from "../http/body.ts";
import { BodyBudget } from "../http/body_budget.ts";
import { parseBody, readJson } from "../http/json_body.ts";
import type { Log } from "../http/log.ts";
import { json } from "../http/reply.ts";
import { assertStillAllowed } from "../http/still_allowed.ts";
import { BODY_IDLE_MS_MAX, BODY_TOTAL_MS_MAX, RETRY_AFTER_S } from "../limits.ts";
import { Problem } from "../problem.ts";
import { UnreadableBlock } from "../store/journal_block.ts";
import { ArchiveRefused, rowsOf } from "./archive_format.ts";
import { FRAME_BYTES_MAX, RESTORE_BODIES_BYTES_MAX } from "./archive_limits.ts";
import { archivedTable } from "./archived_tables.ts";
import { type ArchivePart, writeArchive } from "./archive_writer.ts";
import { readFigures } from "./read_figures.ts";
import {
  ArchivedId,
  noteRestore,
  planRestore,
  RestorationWanted,
  restoredProject,
  restoreProject,
} from "./restore_plan.ts";
import { RestoredEvents, restoreEvents } from "./restored_events.ts";
import { RestoredRows, restoreRows } from "./restored_rows.ts";
import { NO_PROJECT } from "./stored_rows.ts";

export interface ArchiveServices extends AuditServices {
  readonly database: Database;
  readonly log: Pick<Log, "warn">;
  readonly now: () => number;
  readonly longReplies: LongReplies;
  /** The version of the program. */
  readonly footfall: string;
}

const LIMITS = {
  wireBytesMax: FRAME_BYTES_MAX,
  inflatedBytesMax: FRAME_BYTES_MAX,
  idleMsMax: BODY_IDLE_MS_MAX,
  totalMsMax: BODY_TOTAL_MS_MAX,
};
// A budget of its own, so that a restoration cannot keep events out.
const BUDGET = new BodyBudget(RESTORE_BODIES_BYTES_MAX, RETRY_AFTER_S);

const ARCHIVE_TYPE = "application/vnd.footfall.archive";
const LINES_TYPE = "application/x-ndjson";

export const ARCHIVE_QUERY = {
  project: "Project id. Default: the whole server",
  since: "`journalId` of an earlier manifest: only what was stored since, for `footfall move`",
  part:
    "rows: without events and pictures; pictures: these alone, for `footfall move`. events: these alone, for `footfall export --skip-damaged`",
  damaged: "skip: without what cannot be read, which the manifest names",
  secrets: "1: with what lets people and tokens in (the secret of tokens, sessions, open links)",
};
export const FIGURES_QUERY = { project: "Project id. Default: every project" };
export const FRAME_QUERY = {
  archive: "The archive's id, as its head says it",
  kind: "rows or events",
  project: "Id of the project as which the frame's is restored",
};

/** Body of `POST /v1/restorations/frames`. */
export const FrameBytes = z.string().meta({
  format: "binary",
  description: "As the archive has it",
});

/** Its reply. */
export const FrameRestored = z.union([RestoredEvents, RestoredRows]).meta({ id: "FrameRestored" });

function projectOf({ url }: ApiExchange): string | null {
  const project = url.searchParams.get("project");
  if (project !== null && project.includes("\0")) {
    throw new Problem("not_found", "There is no project with this id.");
  }
  return project;
}

/** Reads which part of the archive is requested: all of it, a step of a move, or the events alone. */
function partOf(query: URLSearchParams): ArchivePart {
  const since = query.get("since");
  const part = query.get("part");
  if (part === "rows" || part === "pictures" || part === "events") return { kind: part };
  if (since === null) return { kind: "whole" };
  const journalId = Number(since);
  if (Number.isSafeInteger(journalId) && journalId >= 0) return { kind: "since", journalId };
  throw new Problem("invalid_parameter", "`since` is the `journalId` of an earlier manifest.", {
    errors: [{ field: "since", code: "invalid_value", message: "Give a whole number." }],
  });
}

/** `GET /v1/archive`: streams the archive as it is made, frame by frame. */
export async function getArchive(
  services: ArchiveServices,
  exchange: ApiExchange,
): Promise<Response> {
  requireEverything(requirePrincipal(exchange.who));
  const project = projectOf(exchange);
  const secrets = exchange.url.searchParams.get("secrets") === "1";
  const skipDamaged = exchange.url.searchParams.get("damaged") === "skip";
  const { database, log, now, footfall, longReplies } = services;
  const part = partOf(exchange.url.searchParams);
  const wanted = { project, secrets, part, skipDamaged, footfall, nowMs: now(), randomText };
  const frames = await writeArchive(database, wanted);
  if (part.kind === "whole" || secrets) {
    await recordExport({ sql: database, log }, exchange.request, {
      ...askedBy(services, exchange),
      what: "archive.make",
      subject: project ?? "the whole server",
    });
  }
  const headers = { "Content-Type": ARCHIVE_TYPE, "Cache-Control": "no-store" };
  return longReplies.watched(exchange, new Response(ReadableStream.from(frames), { headers }));
}

/** `GET /v1/archive/figures`: streams lines with the progress of counting; the last one has the figures. */
export async function getFigures(
  { database, longReplies }: ArchiveServices,
  exchange: ApiExchange,
): Promise<Response> {
  requireEverything(requirePrincipal(exchange.who));
  const lines = await readFigures(database, projectOf(exchange));
  async function* bytes() {
    const encoder = new TextEncoder();
    for await (const line of lines) yield encoder.encode(`${JSON.stringify(line)}\n`);
  }
  const headers = { "Content-Type": LINES_TYPE, "Cache-Control": "no-store" };
  return longReplies.watched(exchange, new Response(ReadableStream.from(bytes()), { headers }));
}

/** `POST /v1/restorations`: replies what restoring an archive will do, and unless it is a dry run, begins it. */
export async function postRestoration(
  services: ArchiveServices,
  exchange: ApiExchange,
): Promise<Response> {
  requireEverything(requirePrincipal(exchange.who));
  const wanted = await readJson(exchange.request, RestorationWanted);
  const { database } = services;
  const projects = await planRestore(database, wanted);
  if (!wanted.dryRun) {
    await database.transaction(async (tx) => {
      await noteRestore(tx, wanted);
      if (projects.every(({ found }) => found === "begun")) return;
      const subject = wanted.projects.map(({ as }) => as).join(", ");
      await recordAudit(tx, { ...askedBy(services, exchange), what: "archive.restore", subject });
    });
  }
  return json({ projects });
}

const FrameQuery = z.strictObject({
  archive: ArchivedId,
  kind: z.enum(["rows", "events"]),
  project: ArchivedId.default(NO_PROJECT),
});

async function restoreFrameOfRows(
  database: Database,
  archive: string,
  project: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<RestoredRows> {
  const { table: name, rows } = rowsOf({ content, at: 0 });
  const table = archivedTable(name);
  if (table === null) throw new ArchiveRefused("It holds a table that this version does not know.");
  if (table.moved === true) throw new ArchiveRefused("It holds what only a move takes along.");
  if (name === "projects") return await restoreProject(database, archive, project, rows[0] ?? "{}");
  const projectId = project === NO_PROJECT
    ? null
    : await restoredProject(database, archive, project);
  if (table.of === "project" && projectId === null) {
    throw new ArchiveRefused("Its rows are of a project, and none is named.");
  }
  return await restoreRows(database, table, projectId, rows);
}

/** `POST /v1/restorations/frames`: stores one frame of an archive; a repetition changes nothing. */
export async function postFrame(
  { database }: ArchiveServices,
  { who, url, request }: ApiExchange,
): Promise<Response> {
  requireEverything(requirePrincipal(who));
  const query = parseBody(FrameQuery, Object.fromEntries(url.searchParams));
  const { archive, kind, project } = query;
  return await withBody(request, LIMITS, BUDGET, () => {}, async (content) => {
    await assertStillAllowed(request);
    try {
      if (kind === "rows") {
        return json(await restoreFrameOfRows(database, archive, project, content));
      }
      const projectId = await restoredProject(database, archive, project);
      return json(await restoreEvents(database, projectId, content));
    } catch (error) {
      if (!(error instanceof ArchiveRefused || error instanceof UnreadableBlock)) throw error;
      throw new Problem("invalid_body", "A frame of the archive cannot be stored.", {
        errors: [{ code: "invalid_value", message: error.message }],
      });
    }
  });
}
