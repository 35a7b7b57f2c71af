import { z } from "zod";
import type { Project } from "../../auth/projects.ts";
import type { Sql } from "../../db/sql.ts";
import { readReply } from "../../http/read_reply.ts";
import { PROJECTION_WAIT_MS_MAX } from "../../limits.ts";
import { counted } from "../../number_words.ts";
import { BUCKET_SHOWN, shownBucket } from "../../query/buckets.ts";
import {
  invalidCursor,
  invalidParameter,
  oneOf,
  pageRows,
  readAll,
  refuseUnknown,
} from "../../query/parameters.ts";
import { cutPage, encodeRowCursor, readRowCursor, type RowPage } from "../../query/row_cursor.ts";
import type { Warning } from "../../query/warnings.ts";
import { withTimelines } from "../../scans/filtered_timelines.ts";
import { NOTHING_LACKED } from "../answer/counted.ts";
import { projectedStates } from "../answer/projected_state.ts";
import type { CountLacked } from "../answer/replica.ts";
import type { ReportServices } from "../answer/report_endpoint.ts";
import { withinTime } from "../answer/time_limit.ts";
import { type OverviewDays, readDays } from "./overview_days.ts";
import { figuresOf, type ListedProject, scanNow, scanVisitors } from "./overview_figures.ts";
import { readNow } from "./overview_sessions.ts";
import {
  type OwnVisitors,
  readRolledSeries,
  readRolledSums,
  rolledDays,
  scopeOf,
} from "./overview_sums.ts";
import { readTails } from "./overview_tails.ts";

/** The most projects whose figures are read for one list, even if it shows fewer. */
const PROJECTS_MAX = 1_000;
/** The most projects whose pending events a list waits for; `pending` counts those of all projects. */
const AWAITED_MAX = 20;
/** The most characters of a search. */
export const OVERVIEW_SEARCH_LENGTH_MAX = 200;
/**
 * The events in the segments scanned for parts of a day, after which no other project is scanned for one: ten
 * million take a second if nothing of them is cached.
 */
const SCANNED_EVENTS_MAX = 10_000_000;

/** The parameters of `GET /v1/overview`. */
export const OVERVIEW_QUERY: Readonly<Record<string, string>> = {
  from: "Local date, inclusive, by each project's own days. Default: 29 days before `to`",
  to: "Local date, inclusive. Default: today",
  timezone: "IANA time zone of the days of all projects. Default: of each project its own",
  interval: "Of the series: day (default), week (Monday) or month",
  project:
    "Only the project of this id, which the token must be for. Default: all that one may see",
  q: "Only projects whose name, id or site holds this text, in capitals or not",
  sort: "visitors (default), now or change: the most first; or name",
  limit: "Projects, 1 to 1000. Default: 100",
  cursor: "The last page's `nextCursor`",
};

/** What the numbers mean, echoed as `query.semantics`. */
export const OVERVIEW_SEMANTICS =
  "Visitors, of the range and of each bucket, are those of GET /v1/kpis for the same project and days, in the project's own time zone unless `timezone` names one. " +
  "change is that of GET /v1/kpis with compare=previous: against as many days before the range, of an unfinished one against the equally long part; null where nobody came then, and where a warning says that it is left out. " +
  "now is visitors.last5Minutes of GET /v1/live. Bots are left out. " +
  "total counts all projects that match; of more than 1,000 those that were made first are looked at.";

/** The reply, in addition to `query`, `asOf` and `pending`. */
export const OVERVIEW_REPLY = {
  total: z.int().describe("Projects that match, shown or not"),
  projects: z.array(z.object({
    id: z.string(),
    name: z.string(),
    siteUrl: z.string().nullable(),
    timezone: z.string().describe("Whose days are counted"),
    from: z.iso.datetime().describe("The range by these days, `to` exclusive"),
    to: z.iso.datetime(),
    now: z.int().describe("Visitors in the last 5 minutes"),
    visitors: z.int().nullable().describe("Null: of imported days alone, which do not tell them"),
    change: z.number().nullable().describe(
      "Against as many days before; null: nobody came then, or a warning says why",
    ),
    series: z.array(z.object({ ...BUCKET_SHOWN, visitors: z.int().nullable() })),
    imported: z.literal(true).optional().describe("Daily sums of another product are in it"),
  })),
  nextCursor: z.string().nullable().describe("Null on the last page"),
};

const SORTS = ["visitors", "now", "change", "name"] as const;

function readSearch(query: URLSearchParams): string {
  const text = query.get("q") ?? "";
  if (text.length <= OVERVIEW_SEARCH_LENGTH_MAX) return text.trim();
  throw invalidParameter("q", `Use at most ${OVERVIEW_SEARCH_LENGTH_MAX} characters.`);
}

/** Reads the parameters. Throws one Problem that names every wrong one, before any statement is sent. */
function readQuestion(query: URLSearchParams, asOfMs: number) {
  return readAll({
    unknown: () => refuseUnknown(query, Object.keys(OVERVIEW_QUERY)),
    days: () => readDays(query, "UTC", asOfMs),
    project: () => query.get("project") || null,
    q: () => readSearch(query),
    sort: () => oneOf(query, "sort", SORTS, "visitors"),
    limit: () => pageRows(query),
    after: () => readRowCursor(query, 0)?.value ?? null,
  });
}

/** The parameters, as the reply says them. */
function resolvedOf(
  query: URLSearchParams,
  { project, q, sort, limit }: ReturnType<typeof readQuestion>,
) {
  const given = (name: string) => query.get(name) || null;
  return {
    ...{ from: given("from"), to: given("to"), timezone: given("timezone") },
    ...{ project, q, sort, limit, cursor: given("cursor") },
    semantics: OVERVIEW_SEMANTICS,
  };
}

function matches({ name, id, siteUrl }: Project, q: string): boolean {
  const wanted = q.toLowerCase();
  return [name, id, siteUrl ?? ""].some((text) => text.toLowerCase().includes(wanted));
}

interface FoundProject extends Awaited<ReturnType<typeof figuresOf>> {
  readonly listed: ListedProject;
  readonly now: number;
  /** Own visitors by bucket, if they were counted by a scan. */
  readonly series: readonly number[];
  /** Whether the visitors before are not counted, so that there is no change. */
  readonly isLeftOut: boolean;
}

/** Warns of projects whose change is left out, because too much was scanned for that of others. */
function leftOutWarnings(found: readonly FoundProject[]): Warning[] {
  const count = found.filter(({ isLeftOut }) => isLeftOut).length;
  if (count === 0) return [];
  const message = `The change of ${counted(count, "project")} is left out: a ` +
    "part of a day is compared, and too many events would be read. Ask for one project, or until yesterday.";
  return [{ code: "change_left_out", parameter: "to", message }];
}

/** Sorts the largest figure first, nulls last; ties by name, then by id. */
function inOrder(found: readonly FoundProject[], sort: typeof SORTS[number]): FoundProject[] {
  const figure = (one: FoundProject) => sort === "name" ? 0 : one[sort] ?? -Infinity;
  const nameOf = ({ listed: { project } }: FoundProject) => project.name.toLowerCase();
  const compared = (a: string, b: string) => a < b ? -1 : a > b ? 1 : 0;
  return found.toSorted((a, b) => {
    const [more, less] = [figure(b), figure(a)];
    if (more !== less) return more > less ? 1 : -1;
    return compared(nameOf(a), nameOf(b)) ||
      compared(a.listed.project.id, b.listed.project.id);
  });
}

/**
 * Cuts a sorted list to the page after a project. The list is sorted by the figures of now, which change between
 * pages as people come.
 * @param after the project's id; null: the first page
 * @throws Problem `invalid_parameter` if the list does not have it, or no longer
 */
function pageAfter(
  found: readonly FoundProject[],
  after: string | null,
  limit: number,
): RowPage<FoundProject> {
  const idOf = ({ listed: { project } }: FoundProject) => project.id;
  const last = after === null ? -1 : found.findIndex((one) => idOf(one) === after);
  if (last === -1 && after !== null) throw invalidCursor();
  return cutPage(
    found.slice(last + 1),
    limit,
    (one) => encodeRowCursor({ counts: [], value: idOf(one) }),
  );
}

/** Reads all projects together from rollups and sessions; scans each project that these cannot answer for. */
async function readProjects(
  sql: Sql,
  listed: readonly ListedProject[],
  asOfMs: number,
  scannedEventsMax: number,
): Promise<FoundProject[]> {
  const sums = (await readRolledSums(sql, listed.flatMap(({ rolled }) => rolled ?? []))).values();
  const tails = await readTails(sql, listed, scannedEventsMax);
  const ids = listed.map(({ project }) => project.projectId);
  const present = await readNow(sql, ids, asOfMs);
  const rolledVisitors = (tail: number | null): OwnVisitors => {
    const { range, before } = sums.next().value!;
    return { range, before: tail === null ? null : before + tail };
  };
  const found: FoundProject[] = [];
  for (const [i, one] of listed.entries()) {
    // A new project is not scanned: of a thousand of them that would take many statements for nothing.
    const { own, series } = one.rolled !== null
      ? { own: rolledVisitors(tails[i]!), series: [] }
      : one.isBegun
      ? await scanVisitors(one)
      : { own: { range: 0, before: 0 }, series: one.days.buckets.map(() => 0) };
    const now = present.get(one.project.projectId);
    found.push({
      ...await figuresOf(one, own),
      listed: one,
      now: now === null ? await scanNow(one) : now ?? 0,
      isLeftOut: own.before === null,
      series,
    });
  }
  return found;
}

async function shown(sql: Sql, found: readonly FoundProject[], asOfMs: number) {
  const summed = found.flatMap(({ listed: { rolled } }) => rolled ?? []);
  const series = (await readRolledSeries(sql, summed)).values();
  return found.map((one) => {
    const { listed, now, visitors, change, isImported } = one;
    const { project: { id, name, siteUrl }, days: { range, buckets } } = listed;
    const visitorsAt = one.seriesOf(listed.rolled === null ? one.series : series.next().value!);
    return {
      id,
      name,
      siteUrl,
      timezone: range.timezone,
      from: range.from.toISOString(),
      to: range.to.toISOString(),
      now,
      visitors,
      change,
      series: buckets.map((bucket, i) => ({
        ...shownBucket(bucket, range, asOfMs),
        visitors: visitorsAt[i]!,
      })),
      ...isImported ? { imported: true } : {},
    };
  });
}

/**
 * Waits a moment for the pending events of some of the projects.
 * @returns a function that counts the stored events that a snapshot of the reading database lacks
 */
async function catchUp(
  { reads, projection, replica }: ReportServices,
  projects: readonly Project[],
): Promise<CountLacked> {
  const endsAtMs = performance.now() + PROJECTION_WAIT_MS_MAX;
  const ids = projects.map(({ projectId }) => projectId);
  const countLacked = await replica?.lagging(ids, PROJECTION_WAIT_MS_MAX) ?? NOTHING_LACKED;
  const states = await projectedStates(reads, ids);
  const waiting = [...states.values()].filter(({ pending }) => pending > 0);
  await Promise.all(
    waiting.slice(0, AWAITED_MAX).map(({ projectId }) =>
      projection.catchUpWithin(projectId, endsAtMs - performance.now())
    ),
  );
  if (!replica || waiting.length === 0) return countLacked;
  return await replica.lagging(ids, endsAtMs - performance.now()) ?? NOTHING_LACKED;
}

/**
 * `GET /v1/overview`: every project that the caller may see, in a few statements for all of them.
 * @param projectsOf returns only the project of this id, or for null all that the caller may see, the oldest first
 * @param scannedEventsMax see `readTails`
 * @throws Problem `invalid_parameter`, `range_too_large`, `read_timeout`.
 */
export async function getOverview(
  services: ReportServices,
  request: Request,
  projectsOf: (id: string | null) => Promise<readonly Project[]>,
  scannedEventsMax = SCANNED_EVENTS_MAX,
): Promise<Response> {
  const { reads, readTimeoutMs, now } = services;
  const query = new URL(request.url).searchParams;
  const asOfMs = now();
  const question = readQuestion(query, asOfMs);
  const all = (await projectsOf(question.project)).filter((project) =>
    matches(project, question.q)
  );
  const projects = all.slice(0, PROJECTS_MAX);
  // Projects share the days of a time zone, which are read once.
  const known = new Map<string, OverviewDays>();
  const daysOf = (timezone: string) =>
    known.getOrInsertComputed(timezone, () => readDays(query, timezone, asOfMs));
  const countLacked = await catchUp(services, projects);
  const ids = projects.map(({ projectId }) => projectId);
  const { pending, result, warnings } = await withinTime(
    reads,
    readTimeoutMs,
    ids.length === 1 ? ids[0]! : "overview",
    async (sql, signal) => {
      const states = await projectedStates(sql, ids);
      const lacked = await countLacked(sql, ids);
      const listed = projects.map((project): ListedProject => {
        const scope = scopeOf(project.projectId);
        const days = daysOf(project.timezone);
        const { timezone, isBegun, hasImported } = states.get(project.projectId)!;
        const isRolled = timezone === days.range.timezone;
        return {
          project,
          days,
          rolled: isRolled ? rolledDays(project.projectId, days) : null,
          asOfMs,
          isBegun,
          hasImported,
          source: {
            sql,
            scope,
            withTimelines: (work) => withTimelines(services, { sql, scope, signal }, work),
          },
        };
      });
      const read = await readProjects(sql, listed, asOfMs, scannedEventsMax);
      const found = inOrder(read, question.sort);
      const pending = states.values().reduce((sum, state) => sum + state.pending, lacked);
      const { rows, nextCursor } = pageAfter(found, question.after, question.limit);
      const result = { projects: await shown(sql, rows, asOfMs), nextCursor };
      return { pending, result, warnings: leftOutWarnings(found) };
    },
    request.signal,
  );
  const { interval } = daysOf(query.get("timezone") || "UTC");
  const resolved = { ...resolvedOf(query, question), interval, warnings };
  const told = { asOf: new Date(asOfMs), pending };
  return await readReply(request, told, resolved, { total: all.length, ...result });
}
