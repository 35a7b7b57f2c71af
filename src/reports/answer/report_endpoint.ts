import type { Project } from "../../auth/projects.ts";
import type { Database, Sql } from "../../db/sql.ts";
import { PROJECTION_WAIT_MS_MAX } from "../../limits.ts";
import { comparedSegment, comparisonKind } from "../../query/comparison.ts";
import { type Filter, readFilters } from "../../query/filters.ts";
import { planJoins } from "../../query/join_plans.ts";
import {
  invalidParameter,
  oneOf,
  pageRows,
  readAll,
  refuseUnknown,
} from "../../query/parameters.ts";
import type { Range } from "../../query/range.ts";
import { filtersOfSegment, readSegmentSlug, type SavedSegment } from "../../query/saved_segment.ts";
import { BOT_CHOICES, type Scope } from "../../query/selection.ts";
import { readTimes } from "../../query/times.ts";
import { type Asking, valueWarnings, type Warning } from "../../query/warnings.ts";
import { type ScanServices, withTimelines } from "../../scans/filtered_timelines.ts";
import type { Read, SharedRead } from "../../scans/read.ts";
import { namedSegment, ofSegment, SEGMENT_SEMANTICS, type SegmentPlace } from "./asked_segment.ts";
import { asRolled, projectedState } from "./projected_state.ts";
import { keptShare, refuseNaming, type ShareLimits } from "./narrowing.ts";
import { readReply } from "./read_reply.ts";
import type { Answer, Question, Report } from "./report.ts";
import { withinTime } from "./time_limit.ts";

export interface ReportServices extends ScanServices {
  /** The database that answers reads: a replica where one is configured. */
  readonly reads: Database;
  /** Makes sessions and actors of what was stored since: all of it, or as far as it goes in so much time. */
  readonly projection: {
    catchUp(projectId: number): Promise<void>;
    catchUpWithin(projectId: number, msMax: number): Promise<void>;
  };
  readonly readTimeoutMs: number;
  readonly now: () => number;
}

/** What is asked, and of which project: one that the token may read. */
export interface Asked {
  readonly project: Project;
  readonly request: Request;
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  /** The share that is read; absent or null: who asks may read everything. */
  readonly share?: ShareLimits | null;
}

/** The parameters that all reports take. */
export const READ_QUERY: Readonly<Record<string, string>> = {
  project: "Project id. Default: the token's only project",
  from: "Local date, inclusive, or instant. Default: 29 days before `to`",
  to: "Local date, inclusive, or instant, exclusive. Default: today",
  timezone: "IANA time zone of the local dates and the buckets. Default: the project's",
  interval: "hour, day, week (Monday) or month. Default: day; hour for at most two days",
  compare: 'none (default), previous, year, segment:<slug>, or JSON {"from","to"}',
  segment: "Slug of a saved segment: its people, events and sessions alone are looked at",
  filters: 'JSON list of {"field","op","values"}; all must hold. Default: []',
  bots: "exclude (default), include or only",
  limit: "Rows of a page, 1 to 1000. Default: 100",
  cursor: "`nextCursor` of the page before",
};

/** The host of the project's site, in lower case; null where none is set. */
export function siteHostOf({ siteUrl }: Pick<Project, "siteUrl">): string | null {
  return siteUrl === null ? null : URL.parse(siteUrl)?.hostname.toLowerCase() ?? null;
}

/** Of a read without pages no cursor was ever given out. */
function refuseStrayCursor(query: URLSearchParams, { reply }: Report): void {
  if ("nextCursor" in reply || !query.get("cursor")) return;
  throw invalidParameter("cursor", "This read has no pages.");
}

/**
 * The slugs of segments that are asked for. A share is read without any: its filters alone say whom it
 * is of, and what a segment leaves out would be told by the difference.
 */
function readSegments(query: URLSearchParams, share: ShareLimits | null | undefined) {
  const slugs = { own: readSegmentSlug(query), compared: comparedSegment(query) };
  if (!share) return slugs;
  const refused = slugs.own !== null ? "segment" : slugs.compared !== null ? "compare" : null;
  if (refused !== null) throw invalidParameter(refused, "A shared dashboard takes no segments.");
  return slugs;
}

interface ReadParameters {
  readonly shared: SharedRead;
  readonly slugs: ReturnType<typeof readSegments>;
  readonly question: Question;
  /** The filters that were asked for, without a share's. */
  readonly own: readonly Filter[];
}

/**
 * All parameters of a read, the report's own too: every one that is wrong is told at once, and before
 * any statement is sent.
 */
function readParameters(
  { project, url: { searchParams: query }, params, share }: Asked,
  report: Report,
  asOfMs: number,
): ReadParameters {
  const known = [...Object.keys(READ_QUERY), ...Object.keys(report.parameters)];
  const { time, slugs, filters, bots, limit, question } = readAll({
    unknown: () => refuseUnknown(query, known),
    time: () => readTimes(query, project.timezone, asOfMs, { allowHour: report.hourly ?? true }),
    slugs: () => readSegments(query, share),
    filters: () => readFilters(query),
    bots: () => oneOf(query, "bots", BOT_CHOICES, "exclude"),
    limit: () => pageRows(query),
    cursor: () => refuseStrayCursor(query, report),
    question: () => report.ask(query, params),
  });
  const scope: Scope = {
    projectId: project.projectId,
    siteHost: siteHostOf(project),
    bots,
    filters: [...share?.filters ?? [], ...filters],
  };
  const visitorsMin = share?.visitorsMin ?? 1;
  const comparedBy = comparisonKind(query);
  const shared: SharedRead = { project, scope, ...time, comparedBy, limit, asOfMs, visitorsMin };
  question.refuse?.(shared);
  if (share) refuseNaming(filters, question.terms ?? {});
  return { shared, slugs, question, own: filters };
}

/** Segments of a read; null: none is asked for. */
interface Segments {
  readonly own: SavedSegment | null;
  readonly compared: SavedSegment | null;
}

async function loadSegments(
  sql: Sql,
  { project: { projectId } }: SharedRead,
  slugs: ReadParameters["slugs"],
): Promise<Segments> {
  return {
    own: await namedSegment(sql, projectId, "segment", slugs.own),
    compared: await namedSegment(sql, projectId, "compare", slugs.compared),
  };
}

/** The read of its segment, with the one that it is compared with. `all`: of everybody. */
function segmented(place: SegmentPlace, all: Read, { own, compared }: Segments): Read {
  const of = (segment: SavedSegment | null, range: Range): Read => ({
    ...ofSegment(place, all, segment, range),
    range,
    ...segment === null ? {} : { segment },
  });
  const { comparison } = all;
  const read = of(own, all.range);
  if (comparison === null || own === null && compared === null) return read;
  const other = of(compared ?? own, comparison);
  return { ...read, compared: { ...other, comparison: null } };
}

/** What the parameters look for, so that values that never were are told. */
function askingOf(filters: readonly Filter[], { own, compared }: Segments): Asking[] {
  return [
    { parameter: "filters", filters },
    ...own === null ? [] : [{ parameter: "segment", filters: filtersOfSegment(own) }],
    ...compared === null ? [] : [{ parameter: "compare", filters: filtersOfSegment(compared) }],
  ];
}

interface Warned extends Answer {
  readonly warnings: readonly Warning[];
  readonly pending: number;
  readonly segments: Segments;
  readonly comparison: Range | null;
}

/** `compare` by its name, or as the instants that were named. */
function comparedWith(query: URLSearchParams, comparison: Range | null): unknown {
  const value = query.get("compare") || "none";
  return comparison === null || comparisonKind(query) !== "dates"
    ? value
    : { from: comparison.from.toISOString(), to: comparison.to.toISOString() };
}

/** What is echoed: the parameters as resolved, and what the answer means. */
function resolvedQuery(
  { url: { searchParams: query }, share }: Asked,
  report: Report,
  { project, range, interval, scope, limit }: SharedRead,
  { segments: { own, compared }, comparison, warnings, ...answer }: Warned,
): Record<string, unknown> {
  const ofSegments = own === null && compared === null ? "" : SEGMENT_SEMANTICS;
  return {
    project: project.id,
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    timezone: range.timezone,
    interval,
    compare: comparedWith(query, comparison),
    ...own === null ? {} : { segment: own },
    filters: scope.filters,
    bots: scope.bots,
    limit,
    cursor: query.get("cursor") || null,
    ...share ? { minimumVisitors: share.visitorsMin } : {},
    ...answer.query,
    semantics: [report.semantics, answer.semantics ?? "", ofSegments].filter(Boolean).join(" "),
    warnings,
  };
}

/**
 * `GET <report.path>`: reads the parameters, waits a moment for what is pending to be projected, and lets
 * the report answer from one snapshot of the database.
 * @throws Problem `invalid_parameter`, `range_too_large`, `read_timeout`, and what the report throws.
 */
export async function getReport(
  { reads, projection, readTimeoutMs, now, ...services }: ReportServices,
  report: Report,
  asked: Asked,
): Promise<Response> {
  const asOfMs = now();
  const { shared, slugs, question, own } = readParameters(asked, report, asOfMs);
  const { project, scope } = shared;
  await projection.catchUpWithin(project.projectId, PROJECTION_WAIT_MS_MAX);
  const found: Warned = await withinTime(
    reads,
    readTimeoutMs,
    async (sql, signal) => {
      await planJoins(sql, project.projectId);
      const projected = await projectedState(sql, project.projectId);
      const { share } = asked;
      const segments = await loadSegments(sql, shared, slugs);
      const access = { sql, scope, signal };
      const [answer, told] = await withTimelines(services, access, async (timelines, memory) => {
        const rolled = asRolled(project, projected);
        const counting = { sql, scope, timelines, project: rolled };
        const told = share && question.isCounted !== false
          ? await keptShare(counting, shared, share, own, question.terms ?? {})
          : shared;
        const read = {
          ...told,
          project: rolled,
          importedTimezone: projected.hasImported ? project.timezone : null,
          sql,
          timelines,
        };
        const place = { load: timelines, memory, segments: services.segments };
        const asked = question.isOfOne === true ? read : segmented(place, read, segments);
        return [await question.answer(asked), told];
      });
      const asking = [...askingOf(scope.filters, segments), ...answer.asking ?? []];
      const { pending } = projected;
      // What is near to a value that never was may be the value of one person.
      const ofValues = share ? [] : await valueWarnings(sql, project.projectId, asking);
      const warnings = [...answer.warnings ?? [], ...ofValues];
      const { comparison } = told;
      return { ...answer, pending, warnings, comparison, segments };
    },
    asked.request.signal,
  );
  const resolved = resolvedQuery(asked, report, shared, found);
  const told = { asOf: new Date(asOfMs), pending: found.pending };
  return readReply(asked.request, told, resolved, found.result, found.volatile);
}
