import { z } from "zod";
import type { Project } from "../auth/projects.ts";
import { type BodyLimits, withBody } from "../http/body.ts";
import type { BodyBudget } from "../http/body_budget.ts";
import { json } from "../http/reply.ts";
import { assertStillAllowed } from "../http/still_allowed.ts";
import { BoundedFile } from "../importers/bounded_file.ts";
import { type Converted, converted, fileRows, mapContext } from "../importers/conversion.ts";
import { FileProblem } from "../importers/file_problem.ts";
import { isParquet } from "../importers/file_rows.ts";
import { type ImportSummary, SummaryGatherer } from "../importers/import_summary.ts";
import {
  ROWS_AT_ONCE,
  UPLOAD_BYTES_MAX,
  UPLOAD_MS_MAX,
  UPLOAD_READ_BYTES_MAX,
} from "../importers/importer_limits.ts";
import { memoryFile } from "../importers/input_file.ts";
import type { ImportSource } from "../importers/source.ts";
import { isSourceName, loadSource, SOURCE_NAMES, sourceOfFile } from "../importers/sources.ts";
import {
  dryRunOf,
  type ImportServices,
  type ImportWanted,
  takeLines,
} from "../ingest/import_endpoint.ts";
import { BODY_IDLE_MS_MAX, BODY_WIRE_BYTES_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import { isTimezone } from "../project_values.ts";
import { grouped, nounOf } from "../number_words.ts";

const Counts = z.array(z.object({ what: z.string(), count: z.int() }));

/** Reply of `POST /v1/projects/:id/import/file`. */
export const FileImportReply = z.object({
  from: z.enum(SOURCE_NAMES),
  title: z.string().meta({ description: "The product, as people know it" }),
  dryRun: z.boolean(),
  events: z.int().meta({ description: "Events that are stored, or would be" }),
  known: z.int().meta({ description: "Of these, how many were stored before" }),
  refused: z.int(),
  reasons: Counts.meta({ description: "Why rows are refused, by code" }),
  refusals: z.array(z.object({
    file: z.string(),
    line: z.int(),
    code: z.string(),
    message: z.string(),
  })).meta({ description: "The first of them" }),
  leftOut: Counts.meta({ description: "Rows that are no event of a visitor, by kind" }),
  names: Counts.meta({ description: "Events by name, the most frequent first" }),
  days: z.object({ first: z.string(), last: z.string() }).nullable(),
  sample: z.array(z.record(z.string(), z.unknown())),
  notes: z.array(z.object({
    theirs: z.string(),
    ours: z.string().nullable(),
    how: z.string().nullable(),
  })).meta({ description: "What becomes of what; `ours` is null for what is not imported" }),
});

/** Descriptions of the parameters of `POST /v1/projects/:id/import/file`. */
export const FILE_IMPORT_QUERY: Readonly<Record<string, string>> = {
  from: `One of ${SOURCE_NAMES.join(", ")}. Absent: recognised by the file's first rows`,
  name: "The file's name, for what is said of it",
  dryRun: "`true`: everything is looked at, and nothing is stored",
  timeZone: "IANA name of the zone of times that are told as if they were UTC (Mixpanel's)",
};

export interface FileImportServices extends ImportServices {
  /** The budget of uploaded files: a minute's work on some must not keep events out. */
  readonly uploads: BodyBudget;
}

const NAME_LENGTH_MAX = 200;
const BODY_LIMITS: BodyLimits = {
  wireBytesMax: UPLOAD_BYTES_MAX,
  inflatedBytesMax: UPLOAD_BYTES_MAX,
  idleMsMax: BODY_IDLE_MS_MAX,
  totalMsMax: UPLOAD_MS_MAX,
};
/** Limits for reading a file that has arrived. */
const READ_BOUNDS = { ms: UPLOAD_MS_MAX, bytes: UPLOAD_READ_BYTES_MAX };

/** Returns the product of a file. Throws Problem, and FileProblem for Parquet, which could crash the server. */
async function sourceFor(url: URL, file: BoundedFile): Promise<ImportSource> {
  if (await isParquet({ whole: file })) {
    throw new FileProblem(
      file.name,
      "it is Parquet, which the command line alone reads (`footfall import --from posthog`): " +
        "import it there, or export it as JSON lines.",
    );
  }
  const from = url.searchParams.get("from");
  if (from !== null) {
    if (isSourceName(from)) return await loadSource(from);
    const names = SOURCE_NAMES.join(", ");
    throw new Problem("invalid_parameter", `\`from\` must be one of ${names}.`, {
      errors: [{ field: "from", code: "invalid_parameter", message: `One of ${names}.` }],
    });
  }
  const source = await sourceOfFile(file);
  if (source !== null) return source;
  // If the file went over a limit, its product is unknown for that reason only.
  file.assertWithin();
  throw new Problem(
    "unreadable_file",
    "The product that this file is from is not recognised: say which one it is.",
  );
}

function timeZoneOf(url: URL): string | null {
  const zone = url.searchParams.get("timeZone");
  if (zone === null || zone === "") return null;
  if (isTimezone(zone)) return zone;
  const message = "Use an IANA time zone such as Europe/Berlin.";
  throw new Problem("invalid_parameter", "`timeZone` must be an IANA time zone.", {
    errors: [{ field: "timeZone", code: "invalid_parameter", message }],
  });
}

/** A line of JSON, and the converted row that it was made from. */
interface Line {
  readonly bytes: Uint8Array;
  readonly made: Converted;
}

/** Cuts lines into portions that can be stored at once. */
function* portions(lines: readonly Line[]): Generator<Line[]> {
  let portion: Line[] = [];
  let bytes = 0;
  for (const line of lines) {
    if (portion.length === ROWS_AT_ONCE || bytes + line.bytes.length > BODY_WIRE_BYTES_MAX) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(line);
    bytes += line.bytes.length;
  }
  if (portion.length > 0) yield portion;
}

const UTF8 = new TextEncoder();

/** How a file is imported. */
interface Taking {
  readonly isDryRun: boolean;
  readonly timeZone: string | null;
  /** Throws if the sender may not import any more. */
  readonly assertAllowed: () => Promise<void>;
  /** Called with the number of events that a portion has stored. */
  readonly stored: (events: number) => void;
}

/** Reads the whole file and stores its events, unless it is a dry run. */
async function takeFile(
  services: ImportServices,
  project: Project,
  source: ImportSource,
  file: BoundedFile,
  { isDryRun, timeZone, assertAllowed, stored }: Taking,
): Promise<ImportSummary> {
  const context = mapContext(source, project.id, timeZone);
  const rows = fileRows(source, [file], context, () => {});
  const gatherer = new SummaryGatherer();
  let known = 0;
  const take = async (lines: readonly Line[]) => {
    await assertAllowed();
    const bytes = lines.map((line) => line.bytes);
    const outcome = await takeLines(services, project, bytes, isDryRun);
    known += outcome.duplicates;
    if (!isDryRun) stored(outcome.accepted);
    const refused = new Map(
      outcome.rejected.map(({ index, code, message }) => [index, { code, message }]),
    );
    lines.forEach(({ made }, index) => gatherer.add(made, refused.get(index)));
  };
  for await (const batch of converted({ source, rows, context })) {
    file.assertWithin();
    const lines: Line[] = [];
    for (const made of batch) {
      if ("event" in made.outcome) {
        lines.push({ bytes: UTF8.encode(JSON.stringify(made.outcome.event)), made });
      } else gatherer.add(made);
    }
    for (const portion of portions(lines)) await take(portion);
  }
  return gatherer.result(known);
}

/**
 * `POST /v1/projects/:id/import/file`: imports a file that another product exported. If it fails halfway, the
 * error says how many events are stored, and sending the file again completes it, as each event is stored
 * once.
 */
export async function importFile(
  services: FileImportServices,
  { project, request, url, record }: ImportWanted,
): Promise<Response> {
  const isDryRun = dryRunOf(url);
  const name = (url.searchParams.get("name") ?? "").slice(0, NAME_LENGTH_MAX) || "file";
  const timeZone = timeZoneOf(url);
  return await withBody(request, BODY_LIMITS, services.uploads, () => {}, async (bytes) => {
    const assertAllowed = () => assertStillAllowed(request);
    await assertAllowed();
    if (!isDryRun) await record();
    const file = new BoundedFile(memoryFile(name, bytes), READ_BOUNDS);
    let events = 0;
    const stored = (more: number) => void (events += more);
    try {
      const source = await sourceFor(url, file);
      const taking = { isDryRun, timeZone, assertAllowed, stored };
      const summary = await takeFile(services, project, source, file, taking);
      const notes = source.notes.map((note) => ({ ...note, how: note.how ?? null }));
      return json({
        from: source.name,
        title: source.title,
        dryRun: isDryRun,
        ...summary,
        notes,
      });
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      const before = events === 0
        ? ""
        : ` Of its events, ${grouped(events)} ${nounOf(events, "is", "are")} stored.`;
      throw new Problem("unreadable_file", error.message + before, { cause: error });
    }
  });
}
