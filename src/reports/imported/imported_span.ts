/** Which imported days a read shows and which it leaves out, and what a reply says about both. */
import { z } from "zod";
import { type CoveredDay, coveredDays, firstEventMs } from "../../imported/imported_reading.ts";
import {
  IMPORTED_SOURCES,
  type ImportedDimension,
  SOURCE_NAMES,
} from "../../imported/imported_sums.ts";
import { dateAt, dateOfDay, dayNumber } from "../../query/local_dates.ts";
import { type Range, startOfDay } from "../../query/range.ts";
import { isNarrowed } from "../../query/selection.ts";
import type { Warning } from "../../query/warnings.ts";
import type { Read } from "../../scans/read.ts";
import type { Answer } from "../answer/report.ts";
import { counted } from "../../number_words.ts";

/** An imported day that is shown, `[fromMs, toMs)`. */
interface ImportedDay extends CoveredDay {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Why imported days cannot answer a read, and the parameter that is the reason. */
interface Refusal {
  readonly parameter: string;
  /** Completes "3 imported days are left out: ". */
  readonly why: string;
}

/** The imported days of a range. */
export interface ImportedSpan {
  /** In order; empty: none are shown. */
  readonly days: readonly ImportedDay[];
  /** When the project's first day with an event of its own begins; null: there is none. */
  readonly ownFromMs: number | null;
  readonly warnings: readonly Warning[];
}

const NONE: ImportedSpan = { days: [], ownFromMs: null, warnings: [] };

/** The part of a read that decides which imported days it shows. */
export type ImportedRead = Pick<
  Read,
  "sql" | "scope" | "range" | "importedTimezone" | "segment"
>;

/** Returns why no imported day can answer a read; null: imported days may. */
function refusalOf({ scope, range, importedTimezone, segment }: ImportedRead): Refusal | null {
  if (segment !== undefined && isNarrowed(scope)) {
    return { parameter: "segment", why: "sums of days do not tell people apart" };
  }
  if (scope.filters.length > 0) {
    return { parameter: "filters", why: "sums of days cannot be filtered" };
  }
  if (scope.bots !== "exclude") {
    return { parameter: "bots", why: "they contain no bots, as their source left them out" };
  }
  if (range.timezone !== importedTimezone) {
    return { parameter: "timezone", why: "they are days in the project's time zone" };
  }
  return null;
}

/** Returns why a share shows no imported day in rows; null: no share asks, or it shows rows of single visitors too. */
export function refusalOfShare({ visitorsMin }: Pick<Read, "visitorsMin">): Refusal | null {
  return visitorsMin === 1
    ? null
    : { parameter: "project", why: "a share does not tell how few visitors stand behind a sum" };
}

function leftOut(days: readonly CoveredDay[], { parameter, why }: Refusal): Warning[] {
  if (days.length === 0) return [];
  const left = counted(days.length, "imported day is", "imported days are");
  return [{ code: "imported_left_out", parameter, message: `${left} left out: ${why}.` }];
}

/** Returns the imported days that overlap the range. */
async function daysOf(read: ImportedRead, range: Range): Promise<ImportedDay[]> {
  const { sql, scope: { projectId } } = read;
  const timezone = read.importedTimezone!;
  if (range.to.getTime() <= range.from.getTime()) return [];
  const fromDay = dayNumber(dateAt(range.from.getTime(), timezone));
  const toDay = dayNumber(dateAt(range.to.getTime() - 1, timezone)) + 1;
  return (await coveredDays(sql, projectId, fromDay, toDay)).map((covered): ImportedDay => {
    const date = dateOfDay(covered.day);
    const fromMs = startOfDay(date, timezone).getTime();
    return { ...covered, fromMs, toMs: startOfDay(date.add({ days: 1 }), timezone).getTime() };
  }).filter(({ fromMs, toMs }) => fromMs < toMs);
}

interface ImportedNeeds {
  /** A day must have the sums of one of these. */
  readonly dimensions: readonly ImportedDimension[];
  /** The parameter that warnings name for days without these sums. */
  readonly parameter: string;
  /** Why the report cannot use imported days; null: it can. */
  readonly refusal: Refusal | null;
  /** Whether the days belong to the comparison; warnings then name its parameter. */
  readonly isComparison?: boolean;
}

/** Returns the imported days that a read shows of a range, with warnings. Sends no statement if nothing was imported. */
export async function importedSpan(
  read: ImportedRead,
  range: Range,
  { dimensions, parameter, refusal, isComparison = false }: ImportedNeeds,
): Promise<ImportedSpan> {
  if ((read.importedTimezone ?? null) === null) return NONE;
  const timezone = read.importedTimezone!;
  const firstMs = await firstEventMs(read.sql, read.scope.projectId);
  const ownFrom = firstMs === null ? null : dateAt(firstMs, timezone);
  const ownFromMs = ownFrom === null ? null : startOfDay(ownFrom, timezone).getTime();
  const { before: all = [], since = [] } = Object.groupBy(
    await daysOf(read, range),
    ({ fromMs }) => fromMs < (ownFromMs ?? Infinity) ? "before" : "since",
  );
  const hidden = leftOut(since, {
    parameter: isComparison ? "compare" : "project",
    why: `from ${ownFrom} on, the day of the project's first event, own events alone count`,
  });
  const refused = refusalOf(read) ?? refusal;
  if (refused !== null) {
    return { days: [], ownFromMs, warnings: [...leftOut(all, refused), ...hidden] };
  }
  const isWhole = ({ fromMs, toMs }: ImportedDay) =>
    fromMs >= range.from.getTime() && toMs <= range.to.getTime();
  const hasDimension = (day: ImportedDay) => dimensions.some((one) => day.dimensions.includes(one));
  const whole = all.filter(isWhole);
  const lacking = whole.filter((day) => !hasDimension(day));
  const names = [...new Set(lacking.map(({ source }) => SOURCE_NAMES[source]))].join(" and ");
  const bound = (all[0]?.fromMs ?? Infinity) < range.from.getTime() ? "from" : "to";
  return {
    days: whole.filter(hasDimension),
    ownFromMs,
    warnings: [
      ...leftOut(all.filter((day) => !isWhole(day)), {
        parameter: isComparison ? "compare" : bound,
        why: "only a part of the day is in the range, and its sum cannot be divided",
      }),
      ...leftOut(lacking, { parameter, why: `the export of ${names} does not tell it` }),
      ...hidden,
    ],
  };
}

/** Whether the project has days of own events before `toMs`, the end of a span. */
export function reachesOwn({ ownFromMs }: ImportedSpan, toMs: number): boolean {
  return ownFromMs !== null && toMs > ownFromMs;
}

/** The schema of a reply's `query.imported`. */
export const ImportedShown = z.object({
  sources: z.array(z.enum(IMPORTED_SOURCES)),
  from: z.iso.date().describe("The first imported day that is shown"),
  to: z.iso.date(),
  days: z.int(),
  before: z.iso.date().nullable().describe(
    "The project's first counted own day: from it on nothing imported is shown; null: none yet",
  ),
}).meta({
  id: "ImportedDaysShown",
  description: "Daily sums of other products that kpis, acquisition and pages show",
});

type ImportedShown = z.output<typeof ImportedShown>;

/** Returns `query.imported`; undefined: no day is shown. */
function shownImported(read: Read, { days, ownFromMs }: ImportedSpan): ImportedShown | undefined {
  if (days.length === 0) return undefined;
  return {
    sources: [...new Set(days.map(({ source }) => source))].sort(),
    from: dateOfDay(days[0]!.day).toString(),
    to: dateOfDay(days.at(-1)!.day).toString(),
    days: days.length,
    before: ownFromMs === null ? null : dateAt(ownFromMs, read.importedTimezone!).toString(),
  };
}

const SHOWN =
  "`imported: true` marks figures that include daily sums of another product (see query.imported), of local days before that of the project's first counted own event. " +
  "Over imported days, visitors are the sum of each day's visitors, so that somebody who came on several days counts on each; visits are sessions; new visitors and medians are unknown. " +
  "What a source does not have adds nothing to a sum, which is null if there is nothing else; a rate covers the days that have both of its parts.";

/**
 * Returns the members of an answer about imported days: those that are shown, what they mean, and what is
 * left out. Empty if nothing was imported.
 * @param spans that of the range first, then those of comparisons
 */
export function importedSaid(
  read: Read,
  spans: readonly ImportedSpan[],
): Pick<Answer, "query" | "semantics" | "warnings"> {
  const [ofRange] = spans;
  const imported = ofRange === undefined ? undefined : shownImported(read, ofRange);
  const warnings = spans.flatMap(({ warnings }) => warnings);
  const isShown = spans.some(({ days }) => days.length > 0);
  const semantics = [...isShown ? [SHOWN] : [], ...new Set(warnings.map(({ message }) => message))];
  return {
    ...imported === undefined ? {} : { query: { imported } },
    ...semantics.length === 0 ? {} : { semantics: semantics.join(" ") },
    ...warnings.length === 0 ? {} : { warnings },
  };
}
