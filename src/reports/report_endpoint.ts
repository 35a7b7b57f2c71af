import type { Project } from "../auth/projects.ts";
import type { Database } from "../db/sql.ts";
import { PROJECTION_WAIT_MS_MAX } from "../limits.ts";
import { type Filter, readFilters } from "../query/filters.ts";
import { planJoins } from "../query/join_plans.ts";
import { invalidParameter, oneOf, pageRows, readAll, refuseUnknown } from "../query/parameters.ts";
import type { Range } from "../query/range.ts";
import type { Scope } from "../query/selection.ts";
import { readTimes } from "../query/times.ts";
import { valueWarnings, type Warning } from "../query/warnings.ts";
import { type ScanServices, withTimelines } from "../scans/filtered_timelines.ts";
import type { SharedRead } from "../scans/read.ts";
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

/** Of a read without pages no cursor was ever given out. */
function refuseStrayCursor(query: URLSearchParams, { reply }: Report): void {
  if ("nextCursor" in reply || !query.get("cursor")) return;
  throw invalidParameter("cursor", "This read has no pages.");
}

interface ReadParameters {
  readonly shared: SharedRead;
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
  const { time, filters, bots, limit, question } = readAll({
    unknown: () => refuseUnknown(query, known),
    time: () => readTimes(query, project.timezone, asOfMs, { allowHour: report.hourly ?? true }),
    filters: () => readFilters(query),
    bots: () => oneOf(query, "bots", BOTS, "exclude"),
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
  const shared: SharedRead = { project, scope, ...time, limit, asOfMs, visitorsMin };
  question.refuse?.(shared);
  if (share) refuseNaming(filters, question.terms ?? {});
  return { shared, question, own: filters };
}

interface Warned extends Answer {
  readonly warnings: readonly Warning[];
  readonly pending: number;
  readonly comparison: Range | null;
}

/** `compare` by its name, or as the instants that were named. */
function comparedWith(query: URLSearchParams, comparison: Range | null): unknown {
  const value = query.get("compare") || "none";
  return comparison === null || value === "previous" || value === "year"
    ? value
    : { from: comparison.from.toISOString(), to: comparison.to.toISOString() };
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
  const query = asked.url.searchParams;
  const asOfMs = now();
  const { shared, question, own } = readParameters(asked, report, asOfMs);
  const { project, scope, range } = shared;
  await projection.catchUpWithin(project.projectId, PROJECTION_WAIT_MS_MAX);
  const { warnings, pending, comparison, ...answer }: Warned = await withinTime(
    reads,
    readTimeoutMs,
    async (sql, signal) => {
      await planJoins(sql, project.projectId);
      const projected = await projectedState(sql, project.projectId);
      const { share } = asked;
      const access = { sql, scope, signal };
      const [answer, told] = await withTimelines(services, access, async (timelines) => {
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
        return [await question.answer(read), told];
      });
      const asking = [{ parameter: "filters", filters: scope.filters }, ...answer.asking ?? []];
      const { pending } = projected;
      // What is near to a value that never was may be the value of one person.
      const ofValues = share ? [] : await valueWarnings(sql, project.projectId, asking);
      const warnings = [...answer.warnings ?? [], ...ofValues];
      return { ...answer, pending, warnings, comparison: told.comparison };
    },
    asked.request.signal,
  );
  const resolved = {
    project: project.id,
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    timezone: range.timezone,
    interval: shared.interval,
    compare: comparedWith(query, comparison),
    filters: scope.filters,
    bots: scope.bots,
    limit: shared.limit,
    cursor: query.get("cursor") || null,
    ...asked.share ? { minimumVisitors: asked.share.visitorsMin } : {},
    ...answer.query,
    semantics: [report.semantics, answer.semantics ?? ""].join(" ").trim(),
    warnings,
  };
  const told = { asOf: new Date(asOfMs), pending };
  return readReply(asked.request, told, resolved, answer.result, answer.volatile);
}
