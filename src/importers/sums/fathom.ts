import { browserName, deviceClass, systemName } from "../agent_names.ts";
import { readCsvFile } from "../csv_rows.ts";
import { FileProblem } from "../file_problem.ts";
import type { Members } from "../json_rows.ts";
import { countryCode } from "../places.ts";
import type { MappingNote } from "../source.ts";
import type { PlainFile } from "../unpacked.ts";
import type { Figures } from "./day_values.ts";
import {
  addAll,
  countIfStated,
  dateOf,
  type FileRead,
  pathOf,
  RowMistake,
  type SumContext,
  type SumSource,
  takeRows,
  valueOf,
} from "./sum_source.ts";
import { trafficValues } from "./traffic_values.ts";

/** The names of columns in present and earlier exports of the dashboard, and in the API. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  time: ["timestamp", "datetime", "date"],
  pageviews: ["pageviews", "views"],
  // In exports of 2026, `visitors` of the site are what `visits` were in earlier ones.
  visits: ["visits", "visitors"],
  visitors: ["uniques", "visitors"],
  duration: ["avg_duration", "average_duration"],
  bounceRate: ["bounce_rate"],
  event: ["event_name", "event"],
  completions: ["completions", "conversions"],
  path: ["pathname", "path"],
  browser: ["browser"],
  os: ["operating_system", "os"],
  device: ["device_type", "device"],
  country: ["country_code", "country"],
  region: ["state", "region"],
  city: ["city"],
  referrer: ["referrer_hostname", "referrer"],
  utmSource: ["utm_source"],
  utmMedium: ["utm_medium"],
  utmCampaign: ["utm_campaign"],
  utmTerm: ["utm_term"],
  utmContent: ["utm_content"],
};
const TRAFFIC = ["referrer", "utmSource", "utmMedium", "utmCampaign", "utmTerm", "utmContent"];
const PLACES = ["country", "region", "city"];
const DIMENSIONS = ["path", "browser", "os", "device", ...PLACES, ...TRAFFIC];

/** Normalises a column's name, so that `Avg Duration` equals `avg_duration`. */
const plain = (column: string) => column.trim().toLowerCase().replace(/[\s-]+/g, "_");

/** The file's column for each key of COLUMNS; undefined: it has none. */
type Found = Readonly<Record<string, string | undefined>>;

function columnsOf(columns: readonly string[]): Found {
  const byName = new Map(columns.map((column) => [plain(column), column]));
  return Object.fromEntries(
    Object.entries(COLUMNS).map(([what, names]) => [
      what,
      names.map((name) => byName.get(name)).find((column) => column !== undefined),
    ]),
  );
}

function decimalOf(row: Members, column: string | undefined): number | undefined {
  const text = column === undefined ? "" : String(row[column] ?? "").trim();
  if (text === "") return undefined;
  if (/^\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(text)) return Number(text);
  throw new RowMistake("invalid_number", `\`${column}\` must be a number, not "${text}".`);
}

/** Reads the figures of a row. Fathom has rates: bounces and seconds are these times the visits. */
function figuresOf(row: Members, found: Found): Figures {
  const count = (what: string) => {
    const column = found[what];
    return column === undefined ? undefined : countIfStated(row, column);
  };
  const visits = count("visits");
  const rate = decimalOf(row, found.bounceRate);
  const duration = decimalOf(row, found.duration);
  if (rate !== undefined && rate > 1) {
    throw new RowMistake("invalid_rate", `A bounce rate is at most 1, and not ${rate}.`);
  }
  return {
    visitors: count("visitors"),
    visits,
    pageviews: count("pageviews"),
    bounces: visits === undefined || rate === undefined ? undefined : Math.round(visits * rate),
    seconds: visits === undefined || duration === undefined ? undefined : visits * duration,
  };
}

/** Reads the values of a row, for each dimension that the file has. */
function valuesOf(row: Members, found: Found, siteHost: string | null) {
  const stated = (what: string) => found[what] === undefined ? null : valueOf(row[found[what]]);
  const has = (what: string) => found[what] !== undefined;
  return [
    ...found.path === undefined ? [] : [["path", pathOf(row[found.path])] as const],
    ...has("browser") ? [["browser", browserName(stated("browser"))] as const] : [],
    ...has("os") ? [["os", systemName(stated("os"))] as const] : [],
    ...has("device") ? [["device", deviceClass(stated("device"))] as const] : [],
    ...has("country") ? [["country", countryCode(stated("country"))] as const] : [],
    ...has("region") ? [["region", stated("region")] as const] : [],
    ...has("city") ? [["city", stated("city")] as const] : [],
    ...TRAFFIC.some(has)
      ? trafficValues({
        source: null,
        referrer: stated("referrer"),
        utmSource: stated("utmSource"),
        utmMedium: stated("utmMedium"),
        utmCampaign: stated("utmCampaign"),
        utmTerm: stated("utmTerm"),
        utmContent: stated("utmContent"),
      }, siteHost).filter(([dimension]) => hasColumnsFor(found, dimension))
      : [],
  ];
}

/** Whether the file's columns suffice for a dimension: a channel needs the referrer, or source and medium. */
function hasColumnsFor(found: Found, dimension: string): boolean {
  const has = (what: string) => found[what] !== undefined;
  if (dimension === "referrer") return has("referrer");
  if (dimension === "campaign") return has("utmCampaign");
  if (dimension === "term") return has("utmTerm");
  if (dimension === "content") return has("utmContent");
  if (dimension === "medium") return has("utmMedium") || has("referrer");
  return has("referrer") || has("utmSource") && has("utmMedium");
}

async function readFile(file: PlainFile, context: SumContext): Promise<FileRead> {
  const { name } = file;
  const { columns, rows } = await readCsvFile(file);
  const found = columnsOf(columns);
  const { time, event, completions } = found;
  const isOfEvents = event !== undefined && completions !== undefined;
  if (time === undefined || !isOfEvents && found.pageviews === undefined) {
    throw new FileProblem(
      name,
      time === undefined
        ? "no column has the day: export it with a date grouping of a day or an hour."
        : "no column has page views: export all metrics.",
      1,
    );
  }
  const dimensions = DIMENSIONS.filter((what) => found[what] !== undefined);
  const take = (row: Members) => {
    const date = dateOf(row[time]);
    if (isOfEvents) {
      context.sums.addEvents(name, date, countIfStated(row, completions) ?? 0);
      return;
    }
    const figures = figuresOf(row, found);
    if (dimensions.length === 0) {
      const events = figures.pageviews ?? 0;
      context.sums.add(name, date, "all", null, { ...figures, events });
      return;
    }
    addAll(context, name, date, valuesOf(row, found, context.siteHost), figures);
  };
  const count = await takeRows(name, rows, context, take);
  const table = isOfEvents ? "events" : dimensions.length === 0 ? "site" : dimensions.join(", ");
  return { name, table, rows: count };
}

async function* read(files: readonly PlainFile[], context: SumContext) {
  for (const file of files) yield await readFile(file, context);
}

const NOTES: readonly MappingNote[] = [
  {
    theirs: "the site's totals",
    ours: "key figures",
    how: "bounces and durations are made of the rates and visits of each row",
  },
  {
    theirs: "`Uniques`, `Visits`",
    ours: "visitors, visits",
    how: "hours of a day are added up; `Visitors` of the site are visits",
  },
  {
    theirs: "`Pathname`",
    ours: "pages",
    how: "of all host names together, percent-encoded as own paths are",
  },
  {
    theirs: "`Referrer Hostname`, `UTM …`",
    ours: "`channel source medium campaign term content referrer`",
    how: "by Footfall's own rules, as far as one file holds what these need",
  },
  { theirs: "`Country`, `State`, `City`", ours: "`country region city`" },
  { theirs: "`Browser`, `Operating System`, `Device Type`", ours: "`browser os device`" },
  { theirs: "events", ours: "`events`", how: "their completions alone: no names and values" },
  { theirs: "entries, exits, `q`, `ref`, `keyword`, host names", ours: null },
];

export const FATHOM: SumSource = {
  name: "fathom",
  title: "Fathom",
  takes:
    "its CSV exports with a date grouping of a day or an hour, one file a dimension, also zipped",
  shape:
    "the columns of its exports (`datetime`, `hostname`, `pathname`, `referrer_hostname`, …, `pageviews`; `event_name`, `completions`) as Swetrix's importer of April 2026 reads them, the names of earlier dashboards, and those of Fathom's API (`/v1/aggregations`), as Fathom does not document its files",
  notes: NOTES,
  read,
};
