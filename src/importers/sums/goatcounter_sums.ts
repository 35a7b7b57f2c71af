import { FileProblem } from "../file_problem.ts";
import { ROW_BYTES_MAX } from "../importer_limits.ts";
import { jsonRows, type Members } from "../json_rows.ts";
import type { MappingNote } from "../source.ts";
import { utf8Bytes } from "../text_lines.ts";
import type { PlainFile } from "../unpacked.ts";
import {
  countOf,
  dateOf,
  type FileRead,
  pathOf,
  RowMistake,
  type SumContext,
  type SumSource,
  takeRows,
  valueOf,
} from "./sum_source.ts";

interface Path {
  /** Null for an event, whose path is its name. */
  readonly path: string | null;
  readonly isEvent: boolean;
}

/** The query of a page, which GoatCounter keeps in the path. */
const QUERY = /\?[^#]*/;

/** Returns the name of a file, or of a file in a zip, without its folders. */
const baseName = (name: string) => name.replace(/^.*[/›]\s*/, "");

/** The file that distinguishes GoatCounter's JSON export from its CSV export. */
export const GOATCOUNTER_SUMS_FILE = "hit_stats.jsonl";

/** How much of info.json is searched, in UTF-16 units. */
const INFO_LENGTH_MAX = 16_384;

const rowsOf = (plain: PlainFile) => jsonRows(utf8Bytes(plain.name, plain.bytes()), ROW_BYTES_MAX);

/** Throws FileProblem if the export's version, at the beginning of info.json, is unknown. */
async function assertVersion(plain: PlainFile | undefined): Promise<void> {
  if (plain === undefined) return;
  let text = "";
  for await (const chunk of plain.bytes()) {
    text += new TextDecoder().decode(chunk, { stream: true });
    if (text.length > INFO_LENGTH_MAX) break;
  }
  const version = /"export_version"\s*:\s*"?([\w.]*)/.exec(text)?.[1] ?? "";
  // A new minor version only adds to the format.
  if (/^1(?:\.|$)/.test(version)) return;
  throw new FileProblem(plain.name, `version "${version}" of the export is not known: 1.0 is.`);
}

async function readPaths(plain: PlainFile, context: SumContext) {
  const paths = new Map<number, Path>();
  const rows = await takeRows(plain.name, rowsOf(plain), context, (row) => {
    const isEvent = row.event === true;
    const path = valueOf(row.path);
    paths.set(countOf(row, "id"), {
      path: isEvent ? null : pathOf(path?.replace(QUERY, "")),
      isEvent,
    });
  });
  return { paths, rows };
}

function takeHit(
  file: string,
  row: Members,
  paths: ReadonlyMap<number, Path>,
  { sums }: SumContext,
): void {
  // The day of the hour, in UTC; an earlier draft of the export had days.
  const date = dateOf(row.hour ?? row.day);
  const count = countOf(row, "count");
  const known = paths.get(countOf(row, "path_id"));
  if (known === undefined) {
    throw new RowMistake("unknown_path", "Its `path_id` is not among the paths.");
  }
  if (known.isEvent) {
    sums.addEvents(file, date, count);
    sums.add(file, date, "all", null, { pageviews: 0, events: 0 });
    return;
  }
  sums.add(file, date, "all", null, { pageviews: count, events: count });
  sums.add(file, date, "path", known.path, { visitors: count, pageviews: count });
}

async function* read(
  files: readonly PlainFile[],
  context: SumContext,
): AsyncGenerator<FileRead> {
  const named = (name: string) => files.filter((plain) => baseName(plain.name) === name);
  const [paths, ...otherPaths] = named("paths.jsonl");
  const hits = named(GOATCOUNTER_SUMS_FILE);
  if (paths === undefined || hits.length === 0) {
    throw new FileProblem(
      files[0]?.name ?? "The export",
      `it lacks paths.jsonl or ${GOATCOUNTER_SUMS_FILE}: give the zip of GoatCounter's JSON export.`,
    );
  }
  if (otherPaths.length > 0) {
    throw new FileProblem(paths.name, "import one export at a time.");
  }
  await assertVersion(named("info.json")[0]);
  const known = await readPaths(paths, context);
  yield { name: paths.name, table: "paths", rows: known.rows };
  for (const plain of hits) {
    const rows = await takeRows(
      plain.name,
      rowsOf(plain),
      context,
      (row) => takeHit(plain.name, row, known.paths, context),
    );
    yield { name: plain.name, table: "hits", rows };
  }
  for (const plain of files) {
    if (plain === paths || hits.includes(plain)) continue;
    yield { name: plain.name, table: null, rows: 0 };
  }
}

const NOTES: readonly MappingNote[] = [
  {
    theirs: "`hit_stats`, `paths`",
    ours: "page views, pages",
    how: "a path and its query count once a visit; paths are as own ones; days are of UTC",
  },
  { theirs: "`hit_stats` of events", ours: "`events`", how: "their number alone" },
  {
    theirs: "`refs`, `browser_stats`, `system_stats`, `location_stats`, `campaign_stats`",
    ours: null,
    how: "they count pages, not visits: the CSV export, page view by page view, tells these",
  },
  { theirs: "visitors and visits of the site", ours: null, how: "the export does not hold them" },
];

export const GOATCOUNTER_SUMS: SumSource = {
  name: "goatcounter",
  title: "GoatCounter (sums)",
  takes: "the zip of its JSON export; its CSV export tells more",
  shape: "version 1.0 of the JSON export (GoatCounter 2.7 and later): `/help/export-json`",
  notes: NOTES,
  read,
};
