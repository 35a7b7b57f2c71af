import type { Sql } from "../db/sql.ts";
import type { Timeline } from "../timelines/timeline.ts";

/** The ids of a project's technical names, whose events are not counted. */
export type TechnicalNames = ReadonlySet<number>;

/** Reads the technical names; most projects have none. `sql` must see the same moment as the timelines. */
export async function readTechnicalNames(sql: Sql, projectId: number): Promise<TechnicalNames> {
  const rows = await sql.query<{ term_id: number }>(
    "SELECT term_id FROM technical_names WHERE project_id = $1::int",
    [projectId],
  );
  return new Set(rows.map(({ term_id }) => term_id));
}

/** Returns the time of the first event on a timeline that is counted; Infinity where none is. */
export function firstCountedMs(timeline: Timeline, technical: TechnicalNames): number {
  const { segments, segmentOf, starts, ends } = timeline;
  for (let i = timeline.first; i < timeline.end; i++) {
    const { fromMs, times, names } = segments[segmentOf[i]!]!;
    for (let at = starts[i]!; at < ends[i]!; at++) {
      if (technical.size === 0 || !technical.has(names[at]!)) return fromMs + times[at]!;
    }
  }
  return Infinity;
}
