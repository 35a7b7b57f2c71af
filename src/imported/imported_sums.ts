import { z } from "zod";
import { ACQUISITION_DIMENSIONS } from "../attribution/dimensions.ts";
import { StorableText } from "../text_schemas.ts";
import {
  IMPORTED_DAYS_PER_REQUEST_MAX,
  IMPORTED_FIGURE_MAX,
  IMPORTED_VALUE_LENGTH_MAX,
  IMPORTED_VALUES_PER_DAY_MAX,
} from "./imported_limits.ts";

/**
 * Products whose daily sums can be imported, those with the most figures first. If several have sums of one
 * day, the first in this list counts, in whatever order they were imported.
 */
export const IMPORTED_SOURCES = ["plausible", "fathom", "goatcounter"] as const;
export type ImportedSource = typeof IMPORTED_SOURCES[number];

/** Their names for people. */
export const SOURCE_NAMES: Readonly<Record<ImportedSource, string>> = {
  plausible: "Plausible",
  fathom: "Fathom",
  goatcounter: "GoatCounter",
};

/** What a day is split by: `all` is the unsplit day, `path` the pages that were viewed. */
export const IMPORTED_DIMENSIONS = [
  "all",
  ...ACQUISITION_DIMENSIONS,
  "path",
  "exitPath",
] as const;
export type ImportedDimension = typeof IMPORTED_DIMENSIONS[number];

/** The figures of a value on a day. */
export const FIGURES = [
  "visitors",
  "visits",
  "pageviews",
  "bounces",
  "seconds",
  "events",
] as const;
export type Figure = typeof FIGURES[number];

const figure = (description: string, type: z.ZodNumber) =>
  type.min(0).max(IMPORTED_FIGURE_MAX).nullable().default(null).meta({
    description: `${description}; null or absent: the source does not tell it`,
  });

/** The figures of one value on one day. */
export const ImportedRow = z.strictObject({
  value: StorableText.max(IMPORTED_VALUE_LENGTH_MAX)
    .nullable().meta({ description: "Null: what has none, such as the source of a direct visit" }),
  visitors: figure("Distinct visitors of the day", z.int()),
  visits: figure("Visits of the day", z.int()),
  pageviews: figure("Page views", z.int()),
  bounces: figure("Visits of a single page", z.int()),
  seconds: figure("The durations of all visits together", z.number()),
  events: figure("Page views and custom events", z.int()),
}).refine(
  ({ visits, bounces, seconds }) => visits !== null || bounces === null && seconds === null,
  {
    message: "Send visits beside bounces and seconds: nothing can be made of these alone.",
    path: ["visits"],
  },
);
export type ImportedRow = z.output<typeof ImportedRow>;

/** A source's sums of one day, split by one dimension. */
export const ImportedDay = z.strictObject({
  day: z.iso.date().meta({ description: "A day of the source, taken as the project's local day" }),
  dimension: z.enum(IMPORTED_DIMENSIONS),
  rows: z.array(ImportedRow).max(
    IMPORTED_VALUES_PER_DAY_MAX,
    `Send at most ${IMPORTED_VALUES_PER_DAY_MAX} values of a day.`,
  ).refine(
    (rows) => new Set(rows.map(({ value }) => value)).size === rows.length,
    "Send each value of a day once.",
  ),
}).refine(({ dimension, rows }) => dimension !== "all" || rows.length === 1, {
  message: "Send one row of `all`: the whole day.",
  path: ["rows"],
}).meta({ id: "ImportedDay" });
export type ImportedDay = z.output<typeof ImportedDay>;

export const ImportedDays = z.strictObject({
  dryRun: z.boolean().default(false).meta({
    description: "Tells what would be done, and does nothing",
  }),
  days: z.array(ImportedDay).max(
    IMPORTED_DAYS_PER_REQUEST_MAX,
    `Send at most ${IMPORTED_DAYS_PER_REQUEST_MAX} days in one request.`,
  ).refine(
    (days) => new Set(days.map(({ day, dimension }) => `${day} ${dimension}`)).size === days.length,
    "Send each dimension of a day once.",
  ),
});
