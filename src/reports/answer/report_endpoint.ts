import type { Project } from "../../auth/projects.ts";
import type { Database, Sql } from "../../db/sql.ts";
import { readReply } from "../../http/read_reply.ts";
import { PROJECTION_WAIT_MS_MAX, WARNINGS_MAX } from "../../limits.ts";
import { comparedSegment, comparisonKind, shownComparison } from "../../query/comparison.ts";
import { type Filter, readFilters } from "../../query/filters.ts";
import { planJoins } from "../../query/join_plans.ts";
import {
  invalidParameter,
  oneOf,
  pageRows,
  readAll,
  refuseUnknown,
} from "../../query/parameters.ts";
import { PROJECT_QUERY } from "../../query/project_query.ts";
import type { Range } from "../../query/range.ts";
import { filtersOfSegment, readSegmentSlug, type SavedSegment } from "../../query/saved_segment.ts";
import { BOT_CHOICES, matchFilters, type Scope } from "../../query/selection.ts";
import { readTimes } from "../../query/times.ts";
import {
  distinctWarnings,
  type ParameterFilters,
  pendingWarnings,
  valueWarnings,
} from "../../query/warnings.ts";
import { comparisonWarnings } from "../../query/without_effect.ts";
import { type ScanServices, withTimelines } from "../../scans/filtered_timelines.ts";
import type { Read, SharedRead } from "../../scans/read.ts";
import {
  namedSegment,
  ofSegment,
  SEGMENT_SEMANTICS,
  type SegmentLoading,
} from "./asked_segment.ts";
import { countedWithin, type Counting } from "./counted.ts";
import { projectedState } from "./projected_state.ts";
import {
  checkedForShare,
  type ParameterMatches,
  refuseNaming,
  type ShareLimits,
} from "./narrowing.ts";
import type { Report } from "./report.ts";
import { withinTime } from "./time_limit.ts";

export interface ReportServices extends ScanServices, Counting {
  /** The database that answers reads: a replica where one is configured. */
  readonly reads: Database;
  readonly readTimeoutMs: number;
  readonly now: () => number;
}

/** The request of a read. */
export interface ReadRequest {
  /** One that the token may read. */
  readonly project: Project;
  readonly request: Request;
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  /** The limits of the share; absent or null: the caller may read everything. */
  readonly share?: ShareLimits | null;
}

/** The parameters that all reports take. */
export const READ_QUERY: Readonly<Record<string, string>> = {
  ...PROJECT_QUERY,
  from: "Local date, inclusive, or instant. Default: 29 days before `to`",
  to: "Local date, inclusive, or instant, exclusive. Default: today",
  timezone: "IANA time zone of the local dates and the buckets. Default: the project's",
  interval: "hour, day, week (Monday) or month. Default: day; hour for at most two days",
  compare: 'none (default), previous, year, segment:<slug>, or JSON {"from","to"}',
  segment: "Slug of a saved segment: only its people, events and sessions are counted",
  filters: 'JSON list of {"field","op","values"}; all must hold. Default: []',
  bots: "exclude (default), include or only",
  limit: "Rows of a page, 1 to 1000. Default: 100",
  cursor: "`nextCursor` of the page before",
};

/** Returns the host of the project's site, in lower case; null: none is set. */
export function siteHostOf({ siteUrl }: Pick<Project, "siteUrl">): string | null {
  return siteUrl === null ? null : URL.parse(siteUrl)?.hostname.toLowerCase() ?? null;
}

/** Refuses a `cursor` if the read has no pages. */
function refuseStrayCursor(query: URLSearchParams, { reply }: Report): void {
  if ("nextCursor" in reply || !query.get("cursor")) return;
  throw invalidParameter("cursor", "This read has no pages.");
}

/**
 * Reads the slugs of segments. A share takes none: only its filters decide which people it shows, and the
 * difference to a read with a segment would reveal the people that the segment leaves out.
 */
function readSegments(query: URLSearchParams, share: ShareLimits | null | undefined) {
  const slugs = { own: readSegmentSlug(query), compared: comparedSegment(query) };
  if (!share) return slugs;
  const refused = slugs.own !== null ? "segment" : slugs.compared !== null ? "compare" : null;
  if (refused !== null) throw invalidParameter(refused, "A shared dashboard takes no segments.");
  return slugs;
}

/**
 * Reads all parameters of a read, with the report's own. All errors are reported together, before any
 * statement. `own`: the caller's filters, without those of a share.
 */
function readParameters(
  { project, url: { searchParams: query }, params, share }: ReadRequest,
  report: Report,
  asOfMs: number,
) {
  const known = [...Object.keys(READ_QUERY), ...Object.keys(report.parameters)];
  const { time, bots, limit, ...others } = readAll({
    unknown: () => refuseUnknown(query, known),
    time: () =>
      readTimes(query, project.timezone, asOfMs, {
        allowHour: report.hourly,
        byDays: report.byDays,
      }),
    slugs: () => readSegments(query, share),
    own: () => readFilters(query),
    bots: () => oneOf(query, "bots", BOT_CHOICES, "exclude"),
    limit: () => pageRows(query),
    cursor: () => refuseStrayCursor(query, report),
    question: () => report.ask(query, params),
  });
  const { own, question } = others;
  const scope: Scope = {
    projectId: project.projectId,
    siteHost: siteHostOf(project),
    bots,
    filters: [...share?.filters ?? [], ...own],
  };
  const comparedBy = comparisonKind(query);
  const shared: SharedRead = {
    project,
    scope,
    ...time,
    comparedBy,
    limit,
    asOfMs,
    visitorsMin: share?.visitorsMin ?? 1,
    ...share ? { isShared: true as const } : {},
  };
  question.refuse?.(shared);
  if (share) refuseNaming(own, question.terms ?? {});
  const { comparison = () => shared.comparison } = question;
  return { ...others, shared: { ...shared, comparison: comparison(shared) } };
}

async function loadSegments(
  sql: Sql,
  projectId: number,
  slugs: ReturnType<typeof readSegments>,
) {
  return {
    own: await namedSegment(sql, projectId, "segment", slugs.own),
    compared: await namedSegment(sql, projectId, "compare", slugs.compared),
  };
}

type Segments = Awaited<ReturnType<typeof loadSegments>>;

/**
 * Returns the read of its segment, with the one that it is compared with.
 * @param all the read of all actors
 */
function segmented(loading: SegmentLoading, all: Read, { own, compared }: Segments): Read {
  const of = (segment: SavedSegment | null, range: Range): Read => ({
    ...ofSegment(loading, all, segment, range),
    range,
    ...segment === null ? {} : { segment },
  });
  const { comparison } = all;
  const read = of(own, all.range);
  if (comparison === null || own === null && compared === null) return read;
  const other = of(compared ?? own, comparison);
  return { ...read, compared: { ...other, comparison: null } };
}

/** Returns the filters in the parameters of a read's scope, for warnings of values that never occurred. */
function scopeFiltersOf(
  filters: readonly Filter[],
  { own, compared }: Segments,
): ParameterFilters[] {
  return [
    { parameter: "filters", filters },
    ...own === null ? [] : [{ parameter: "segment", filters: filtersOfSegment(own) }],
    ...compared === null ? [] : [{ parameter: "compare", filters: filtersOfSegment(compared) }],
  ];
}

/** Returns the filters in each parameter that names events: see `scopeFiltersOf`. */
function matchFiltersOf(matches: ParameterMatches): ParameterFilters[] {
  return Object.entries(matches).map(([parameter, some]) => ({
    parameter,
    filters: some.flatMap((match) => match === null ? [] : matchFilters(match)),
  }));
}

/** Returns the end of the comparison if it moves as time passes; else null. */
function movingEnd(
  { range, comparedBy, asOfMs }: SharedRead,
  comparison: Range | null,
): Date | null {
  const isByLength = comparedBy === "previous" || comparedBy === "year";
  return isByLength && range.to.getTime() > asOfMs ? comparison?.to ?? null : null;
}

/** Returns the shared parameters as resolved, for the reply's `query`. */
function resolvedQuery(
  { url: { searchParams: query }, share }: ReadRequest,
  { project, range, interval, scope, limit }: SharedRead,
  segment: SavedSegment | null,
  comparison: Range | null,
): Record<string, unknown> {
  return {
    project: project.id,
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    timezone: range.timezone,
    interval,
    compare: shownComparison(query, comparison),
    segment,
    filters: scope.filters,
    bots: scope.bots,
    limit,
    cursor: query.get("cursor") || null,
    ...share ? { minimumVisitors: share.visitorsMin } : {},
  };
}

/**
 * Answers `GET <report.path>`: reads the parameters, waits a moment for pending events to be counted,
 * and lets the report answer from one snapshot of the database.
 * @throws Problem `invalid_parameter`, `range_too_large`, `read_timeout`, and what the report throws.
 */
export async function getReport(
  { reads, readTimeoutMs, now, ...services }: ReportServices,
  report: Report,
  readRequest: ReadRequest,
): Promise<Response> {
  const { request, share, project, project: { projectId } } = readRequest;
  const asOfMs = now();
  const { shared, slugs, question, own } = readParameters(readRequest, report, asOfMs);
  const { scope, comparedBy = "none" } = shared;
  const { terms = {} } = question;
  const countLacked = await countedWithin(services, projectId, PROJECTION_WAIT_MS_MAX);
  const reply = await withinTime(reads, readTimeoutMs, projectId, async (sql, signal) => {
    // Sent at once, although the database runs them one after the other.
    const [, projected, segments] = await Promise.all([
      planJoins(sql, projectId),
      projectedState(sql, projectId),
      loadSegments(sql, projectId, slugs),
    ]);
    // None for shares: a suggestion may be the value of a single person.
    const warningsOf = (named: readonly ParameterFilters[]) =>
      share ? Promise.resolve([]) : valueWarnings(sql, projectId, named);
    // The database looks values up while the read goes on. If that fails, nothing awaits it.
    const warned = warningsOf([
      ...scopeFiltersOf(scope.filters, segments),
      ...matchFiltersOf(terms.matches ?? {}),
    ]);
    warned.catch(() => {});
    const access = { sql, scope, signal };
    const [answer, comparison] = await withTimelines(services, access, async (load, memory) => {
      // The time zone of the rollups; empty while there are none.
      const rolled = { ...project, timezone: projected.timezone ?? "" };
      const counting = { sql, scope, timelines: load, project: rolled };
      const kept = share && question.isCounted !== false
        ? await checkedForShare(counting, shared, share, own, terms)
        : shared;
      const importedTimezone = projected.hasImported ? project.timezone : null;
      const all = { ...kept, ...counting, importedTimezone };
      const loading = { load, memory, segments: services.segments };
      const read = question.isOfOne === true ? all : segmented(loading, all, segments);
      return [await question.answer(read), kept.comparison];
    });
    const pending = projected.pending + await countLacked(sql, [projectId]);
    const warnings = distinctWarnings([
      ...answer.warnings ?? [],
      ...comparisonWarnings(report.compares ?? "nothing", comparedBy),
      ...report.warnsOfPending ? pendingWarnings(pending) : [],
      ...(await Promise.all([warned, warningsOf(matchFiltersOf(answer.matches ?? {}))])).flat()
        .slice(0, WARNINGS_MAX),
    ]);
    const ofSegments = segments.own ?? segments.compared ? SEGMENT_SEMANTICS : "";
    const resolved = {
      ...resolvedQuery(readRequest, shared, segments.own, comparison),
      ...answer.query,
      semantics: [report.semantics, answer.semantics, ofSegments].filter(Boolean).join(" "),
      warnings,
    };
    const comparedTo = answer.comparedTo ?? movingEnd(shared, comparison);
    const moment = { asOf: new Date(asOfMs), pending, comparedTo };
    return [moment, resolved, answer.result] as const;
  }, request.signal);
  return await readReply(request, ...reply);
}
