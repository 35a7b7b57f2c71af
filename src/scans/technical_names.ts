import type { Sql } from "../db/sql.ts";
import type { Timeline } from "../timelines/timeline.ts";

/** The ids of a project's technical names, whose events are not counted. */
export type TechnicalNames = ReadonlySet<number>;

/** Mostly none. `sql` must see the moment that the timelines are of. */
export async function readTechnicalNames(sql: Sql, projectId: number): Promise<TechnicalNames> {
  const rows = await sql.query<{ term_id: number }>(
    "SELECT term_id FROM technical_names WHERE project_id = $1::int",
    [projectId],
  );
  return new Set(rows.map(({ term_id }) => term_id));
}

/** When the first event of a timeline was that is counted; Infinity where none is. */
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
