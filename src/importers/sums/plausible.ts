import { browserName, deviceClass, systemName } from "../agent_names.ts";
import { readCsvFile } from "../csv_rows.ts";
import { FileProblem } from "../file_problem.ts";
import type { Members } from "../json_rows.ts";
import { countryCode } from "../places.ts";
import type { MappingNote } from "../source.ts";
import type { PlainFile } from "../unpacked.ts";
import type { Figures } from "./day_values.ts";
import type { SumSubject } from "./gathered_sums.ts";
import {
  addAll,
  countIfStated,
  countOf,
  dateOf,
  type FileRead,
  pathOf,
  type SumContext,
  type SumSource,
  takeRows,
  valueOf,
} from "./sum_source.ts";
import { trafficValues } from "./traffic_values.ts";

type Take = (file: string, row: Members, context: SumContext) => void;

/** A file's name, such as `imported_pages_20240101_20240331.csv`: the table, and the days that it covers. */
const FILE_NAME = /(?:^|[/\s])imported_([a-z_]+?)(?:_(\d{8})_(\d{8}))?\.csv$/;

function visitFigures(row: Members, visits = "visits"): Figures {
  return {
    visitors: countOf(row, "visitors"),
    visits: countOf(row, visits),
    bounces: countIfStated(row, "bounces"),
    seconds: countIfStated(row, "visit_duration"),
    pageviews: countIfStated(row, "pageviews"),
  };
}

const takeAgent = (
  column: string,
  dimension: "browser" | "os" | "device",
  named: (value: unknown) => string | null,
): Take =>
(file, row, context) => {
  const figures = visitFigures(row);
  addAll(context, file, dateOf(row.date), [[dimension, named(row[column])]], figures);
};

/** A table of the export: what its rows are sums of, and how to add one. */
interface Table {
  readonly of: readonly SumSubject[];
  readonly take: Take;
}

const TABLES: Readonly<Record<string, Table>> = {
  visitors: {
    of: ["all"],
    take: (file, row, context) => {
      const figures = visitFigures(row);
      const date = dateOf(row.date);
      addAll(context, file, date, [["all", null]], { ...figures, events: figures.pageviews ?? 0 });
    },
  },
  sources: {
    of: ["channel", "source", "medium", "campaign", "term", "content", "referrer"],
    take: (file, row, context) => {
      const values = trafficValues({
        source: row.source === "Direct / None" ? null : valueOf(row.source),
        referrer: valueOf(row.referrer),
        utmSource: valueOf(row.utm_source),
        utmMedium: valueOf(row.utm_medium),
        utmCampaign: valueOf(row.utm_campaign),
        utmTerm: valueOf(row.utm_term),
        utmContent: valueOf(row.utm_content),
      }, context.siteHost);
      addAll(context, file, dateOf(row.date), values, visitFigures(row));
    },
  },
  pages: {
    of: ["path"],
    take: (file, row, context) => {
      const figures = { visitors: countOf(row, "visitors"), pageviews: countOf(row, "pageviews") };
      addAll(context, file, dateOf(row.date), [["path", pathOf(row.page)]], figures);
    },
  },
  entry_pages: {
    of: ["entryPath"],
    take: (file, row, context) => {
      const figures = visitFigures(row, "entrances");
      addAll(context, file, dateOf(row.date), [["entryPath", pathOf(row.entry_page)]], figures);
    },
  },
  exit_pages: {
    of: ["exitPath"],
    take: (file, row, context) => {
      const figures = { visitors: countOf(row, "visitors"), visits: countOf(row, "exits") };
      addAll(context, file, dateOf(row.date), [["exitPath", pathOf(row.exit_page)]], figures);
    },
  },
  locations: {
    of: ["country", "region"],
    take: (file, row, context) => {
      const figures = visitFigures(row);
      const region = valueOf(row.region);
      addAll(context, file, dateOf(row.date), [
        ["country", countryCode(row.country)],
        ["region", region],
      ], figures);
    },
  },
  devices: { of: ["device"], take: takeAgent("device", "device", deviceClass) },
  browsers: { of: ["browser"], take: takeAgent("browser", "browser", browserName) },
  operating_systems: { of: ["os"], take: takeAgent("operating_system", "os", systemName) },
  custom_events: {
    of: ["customEvents"],
    take: (file, row, { sums }) => {
      // Plausible's own script sends these while a page is viewed.
      if (row.name === "engagement") return;
      sums.addEvents(file, dateOf(row.date), countOf(row, "events"));
    },
  },
};

const dated = (digits: string) => digits.replace(/^(....)(..)(..)$/, "$1-$2-$3");

async function readTable(plain: PlainFile, context: SumContext): Promise<FileRead> {
  const { name } = plain;
  const [, tableName = "", first, last] = FILE_NAME.exec(name) ?? [];
  const table = Object.hasOwn(TABLES, tableName) ? TABLES[tableName]! : null;
  if (table === null) {
    throw new FileProblem(
      name,
      "its name is none of Plausible's, such as imported_visitors_20240101_20240331.csv: keep " +
        "the names of the export.",
    );
  }
  const { columns, rows } = await readCsvFile(plain);
  if (!columns.includes("date")) {
    throw new FileProblem(name, "it has no column `date`, as Plausible's tables have.", 1);
  }
  if (first !== undefined && last !== undefined) {
    context.sums.cover(name, table.of, dateOf(dated(first)), dateOf(dated(last)));
  }
  const count = await takeRows(name, rows, context, (row) => table.take(name, row, context));
  return { name, table: tableName, rows: count };
}

async function* read(files: readonly PlainFile[], context: SumContext) {
  for (const plain of files) yield await readTable(plain, context);
}

const NOTES: readonly MappingNote[] = [
  {
    theirs: "`imported_visitors`",
    ours: "key figures",
    how: "visitors, visits, page views, bounces, durations of each day",
  },
  {
    theirs: "`imported_sources`",
    ours: "`channel source medium campaign term content referrer`",
    how: "by Footfall's own rules; who came twice in a day from two sources counts in both",
  },
  {
    theirs: "`imported_pages`",
    ours: "pages",
    how: "of all host names together, percent-encoded as own paths are",
  },
  { theirs: "`imported_entry_pages`, `imported_exit_pages`", ours: "entries, exits, `entryPath`" },
  {
    theirs: "`imported_locations`",
    ours: "`country region`",
    how: "regions by their ISO code, such as DE-BE",
  },
  { theirs: "`imported_devices`", ours: "`device`", how: "Laptop is desktop" },
  { theirs: "`imported_browsers`", ours: "`browser`", how: "without versions" },
  { theirs: "`imported_operating_systems`", ours: "`os`", how: "without versions" },
  {
    theirs: "`imported_custom_events`",
    ours: "`events`",
    how: "their number alone: no names, links and paths",
  },
  { theirs: "cities, times on pages, scroll depths, host names, versions", ours: null },
];

export const PLAUSIBLE: SumSource = {
  name: "plausible",
  title: "Plausible",
  takes: "its export: the zip, or the CSV files in it under their own names",
  shape: "the `imported_*` tables of Plausible 2.1 and later: `lib/plausible/exports.ex`",
  notes: NOTES,
  read,
};
