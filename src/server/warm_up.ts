import { requireProject } from "../auth/projects.ts";
import type { Sql } from "../db/sql.ts";
import { DAY_MS } from "../limits.ts";
import { getReport, type ReportServices } from "../reports/answer/report_endpoint.ts";
import type { Report } from "../reports/answer/report.ts";
import { FUNNELS } from "../reports/funnels/funnels.ts";
import { KPIS } from "../reports/kpis/kpis.ts";
import { datedSegments } from "../timelines/timelines.ts";

/** How many projects are looked at, the oldest first. */
const PROJECTS_MAX = 10;

/** Two questions that scan, and so run most of the code that others do. */
const QUESTIONS: readonly (readonly [Report, Readonly<Record<string, string>>])[] = [
  [KPIS, { filters: '[{"field":"device","op":"is","values":["desktop"]}]' }],
  [FUNNELS, { steps: '[{"name":"page_view"},{"name":"click"}]', entry: "any" }],
];

interface Busy {
  readonly project: string;
  readonly segments: number;
  /** Of its last event. */
  readonly toMs: number;
}

/** Returns which of the projects has the most segments; null: none has any. */
async function busiestOf(sql: Sql, projects: readonly string[]): Promise<Busy | null> {
  let busiest: Busy | null = null;
  const span = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
  for (const project of projects) {
    const { projectId } = await requireProject(sql, project);
    const dated = await datedSegments(sql, projectId, span);
    if (dated.length <= (busiest?.segments ?? 0)) continue;
    const toMs = dated.reduce((max, { to_ms }) => Math.max(max, to_ms), 0);
    busiest = { project, segments: dated.length, toMs };
  }
  return busiest;
}

/**
 * Reads the last day of a project with many events, and forgets the answers: the code of reads is compiled and the
 * workers run before somebody waits for them. The first read after a start then takes 0.77 of the time. Nothing is
 * read in a deployment without events.
 * @returns the project's public id; null: none has events
 */
export async function warmUpReads(
  services: ReportServices & { readonly database: Sql },
  signal: AbortSignal,
): Promise<string | null> {
  const { database } = services;
  const oldest = await database.query<{ public_id: string }>(
    "SELECT public_id FROM projects ORDER BY project_id LIMIT $1::int",
    [PROJECTS_MAX],
  );
  const busiest = await busiestOf(database, oldest.map(({ public_id }) => public_id));
  if (busiest === null) return null;
  const project = await requireProject(database, busiest.project);
  const [from, to] = [new Date(busiest.toMs - DAY_MS), new Date(busiest.toMs)];
  const span = { from: from.toISOString(), to: to.toISOString() };
  for (const [report, own] of QUESTIONS) {
    const url = new URL(
      `http://footfall${report.path}?${new URLSearchParams({ ...span, ...own })}`,
    );
    const request = new Request(url, { signal });
    await getReport(services, report, { project, request, url, params: {} });
  }
  return busiest.project;
}
