import type { Sql } from "../../db/sql.ts";
import type { Scope, Span } from "../../query/selection.ts";
import { allBlocks } from "../../store/segment_head.ts";
import { fetchBlocks, fetchHeadsById } from "../../store/stored_segments.ts";
import { yielding } from "../../store/yielding.ts";
import { datedSegments } from "../../timelines/timelines.ts";
import { type FoundEvents, NewestEvents } from "../newest/newest_events.ts";

/**
 * Finds the newest events of a span without filters, reading only the times (and contexts) of its segments,
 * with one segment in memory at a time. A scan would keep 20 bytes of each event of the span. `sql` must see
 * one snapshot of the database.
 */
export async function newestStored(
  { sql, scope: { projectId, bots } }: {
    readonly sql: Sql;
    readonly scope: Pick<Scope, "projectId" | "bots">;
  },
  span: Span,
  rows: number,
  edgeMs: number,
): Promise<FoundEvents> {
  const newest = new NewestEvents(rows, edgeMs, span.fromMs);
  const pause = yielding();
  const latestFirst = [...await datedSegments(sql, projectId, span)]
    .sort((a, b) => b.to_ms - a.to_ms);
  for (const { segment_id: segmentId, to_ms } of latestFirst) {
    if (to_ms < newest.floorMs) continue;
    const stored = (await fetchHeadsById(sql, projectId, [segmentId])).get(segmentId)!;
    const columns = bots === "include" ? ["times"] as const : ["times", "contexts"] as const;
    const wanted = { ...stored, blocks: allBlocks(stored.head) };
    const [reader] = await fetchBlocks(sql, projectId, [wanted], columns);
    const moments = reader!.moments();
    // Contexts of bots have negative ids.
    const contexts = bots === "include" ? null : reader!.integers("contexts");
    for (let at = 0; at < moments.length; at++) {
      const ms = moments[at]!;
      if (ms < newest.floorMs || ms >= span.toMs) continue;
      if (contexts !== null && (contexts[at]! < 0) !== (bots === "only")) continue;
      newest.add(ms, segmentId, at);
    }
    await pause();
  }
  return newest.found();
}
