import type { Project } from "../auth/projects.ts";
import type { Database } from "../db/sql.ts";
import type { SegmentCache } from "../histories/segment_cache.ts";
import { type Interval, readInterval } from "../selection/buckets.ts";
import { readComparison } from "../selection/comparison.ts";
import { type Filter, readFilters } from "../selection/filters.ts";
import {
  invalidParameter,
  oneOf,
  pageRows,
  readAll,
  refuseUnknown,
} from "../selection/parameters.ts";
import { type Range, readRange } from "../selection/range.ts";
import type { BotChoice, Scope } from "../selection/selection.ts";
import { valueWarnings, type Warning } from "../selection/warnings.ts";
import { loadMarkedHistories } from "../walks/marked_histories.ts";
import type { Read } from "../walks/read.ts";
import { readReply } from "./read_reply.ts";
import type { Answer, Report } from "./report.ts";
import { withinTime } from "./time_limit.ts";

export interface ReportServices {
  /** The database that answers reads: a replica where one is configured. */
  readonly reads: Database;
  /** Makes sessions and actors of what was stored since. */
  readonly fold: { catchUp(projectId: number): Promise<void> };
  /** Segments of histories that were read before. */
  readonly segments: SegmentCache;
  readonly readTimeoutMs: number;
  readonly now: () => number;
}

/** What is asked, and of which project: one that the token may read. */
export interface Asked {
  readonly project: Project;
  readonly request: Request;
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
}

/** The parameters that all reports take. */
export const READ_QUERY: Readonly<Record<string, string>> = {
  project: "Project id. Default: the token's only project",
  from: "Local date, inclusive, or instant. Default: 29 days before `to`",
  to: "Local date, inclusive, or instant, exclusive. Default: today",
  timezone: "IANA time zone of the local dates and the buckets. Default: the project's",
  interval: "hour, day, week (Monday) or month. Default: day; hour for at most two days",
  compare: 'none (default), previous, year, or JSON {"from","to"}',
  filters: 'JSON list of {"field","op","values"}; all must hold. Default: []',
  bots: "exclude (default), include or only",
  limit: "Rows of a page, 1 to 1000. Default: 100",
  cursor: "`nextCursor` of the page before",
};

const BOTS = ["exclude", "include", "only"] as const;

/** The host of the project's site, in lower case; null where none is set. */
export function siteHostOf({ siteUrl }: Pick<Project, "siteUrl">): string | null {
  return siteUrl === null ? null : URL.parse(siteUrl)?.hostname.toLowerCase() ?? null;
}

/** The shared parameters as resolved. */
interface Shared {
  readonly range: Range;
  readonly interval: Interval;
  readonly comparison: Range | null;
  readonly filters: readonly Filter[];
  readonly bots: BotChoice;
  readonly limit: number;
}

/** Of a read without pages no cursor was ever given out. */
function refuseStrayCursor(query: URLSearchParams, { reply }: Report): void {
  if ("nextCursor" in reply || !query.get("cursor")) return;
  throw invalidParameter("cursor", "This read has no pages.");
}

/** Every parameter that is wrong is told at once; those of time need the range first. */
function readShared(
  query: URLSearchParams,
  report: Report,
  { timezone }: Project,
  asOfMs: number,
): Shared {
  const known = [...Object.keys(READ_QUERY), ...Object.keys(report.parameters)];
  const allowHour = report.hourly ?? true;
  const spans = () => {
    const range = readRange(query, timezone, asOfMs);
    return readAll({
      range: () => range,
      interval: () => readInterval(query, range, { allowHour }),
      comparison: () => readComparison(query, range, timezone, asOfMs),
    });
  };
  const { time, ...others } = readAll({
    unknown: () => refuseUnknown(query, known),
    time: spans,
    filters: () => readFilters(query),
    bots: () => oneOf(query, "bots", BOTS, "exclude"),
    limit: () => pageRows(query),
    cursor: () => refuseStrayCursor(query, report),
  });
  return { ...time, ...others };
}

interface Warned extends Answer {
  readonly warnings: readonly Warning[];
}

/** `compare` by its name, or as the instants that were named. */
function comparedWith(query: URLSearchParams, comparison: Range | null): unknown {
  const value = query.get("compare") || "none";
  return comparison === null || value === "previous" || value === "year"
    ? value
    : { from: comparison.from.toISOString(), to: comparison.to.toISOString() };
}

/**
 * `GET <report.path>`: reads the shared parameters, folds what is pending, and lets the report answer
 * from one snapshot of the database.
 * @throws Problem `invalid_parameter`, `range_too_large`, `read_timeout`, and what the report throws.
 */
export async function getReport(
  { reads, fold, segments, readTimeoutMs, now }: ReportServices,
  report: Report,
  { project, request, url, params }: Asked,
): Promise<Response> {
  const query = url.searchParams;
  const asOfMs = now();
  const { filters, bots, ...shared } = readShared(query, report, project, asOfMs);
  const { projectId } = project;
  const scope: Scope = { projectId, siteHost: siteHostOf(project), bots, filters };
  const read: Omit<Read, "sql" | "histories"> = {
    project,
    scope,
    ...shared,
    query,
    params,
    asOfMs,
  };
  const { warnings, ...answer }: Warned = await withinTime(
    reads,
    readTimeoutMs,
    () => fold.catchUp(projectId),
    async (sql) => {
      const histories: Read["histories"] = (span, filters) =>
        loadMarkedHistories(sql, segments, scope, span, filters);
      const answer = await report.answer({ ...read, sql, histories });
      const asking = [{ parameter: "filters", filters }, ...answer.asking ?? []];
      return { ...answer, warnings: await valueWarnings(sql, projectId, asking) };
    },
  );
  const resolved = {
    project: project.id,
    from: shared.range.from.toISOString(),
    to: shared.range.to.toISOString(),
    timezone: shared.range.timezone,
    interval: shared.interval,
    compare: comparedWith(query, shared.comparison),
    filters,
    bots,
    limit: shared.limit,
    cursor: query.get("cursor") || null,
    ...answer.query,
    semantics: report.semantics,
    warnings,
  };
  return readReply(request, new Date(asOfMs), resolved, answer.result, answer.volatile);
}
