import { packInts, unpackInts } from "../../db/packed_ints.ts";
import type { Sql } from "../../db/sql.ts";
import type { Timelines } from "../../timelines/timelines.ts";
import type { Span } from "../../query/selection.ts";
import type { Pairs } from "./newcomers.ts";

/** Counts the collected actors who are new, by place. */
export function countNew(
  { actors, places }: Pairs,
  isNew: (actor: number) => boolean,
  length: number,
): Int32Array {
  const counts = new Int32Array(length);
  for (let i = 0; i < actors.length; i++) {
    if (isNew(actors[i]!)) counts[places[i]!]!++;
  }
  return counts;
}

/**
 * Awaits a scan, and meanwhile asks the database which actors are new in the span.
 * @param reach the span that the scan's timelines were loaded for
 */
export async function withNewcomers<Counts>(
  sql: Sql,
  timelines: Timelines,
  { span, reach }: { readonly span: Span; readonly reach: Span },
  scan: Promise<Counts>,
): Promise<{ readonly counts: Counts; readonly isNew: (actor: number) => boolean }> {
  const news = readNewActors(sql, timelines, span, reach);
  // Awaited after the scan: until then a failure must not be an unhandled rejection.
  news.catch(() => {});
  const counts = await scan;
  const isNew = await news;
  return { counts, isNew: (actor) => isNew === null || isNew[actor] === 1 };
}

// One statement, so that the database works on it during the scan.
const NEWS = `
SELECT p.is_preceded, CASE WHEN p.is_preceded THEN (
    SELECT ${packInts(["actor_id"])} FROM actors
    WHERE project_id = $1::int AND first_ms >= $2::int8 AND first_ms < $3::int8
  ) END AS actors
FROM (
  SELECT EXISTS (
    SELECT FROM actors WHERE project_id = $1::int AND first_ms < $4::int8
  ) AS is_preceded
) AS p`;

/**
 * Returns 1 at the place of each actor whose first event ever is in a span. Null if no event precedes `reach`,
 * which must begin no later than the span: the loaded timelines then suffice to find who is new.
 */
async function readNewActors(
  sql: Sql,
  { projectId, actorOf }: Timelines,
  span: Span,
  reach: Span,
): Promise<Uint8Array | null> {
  const [row] = await sql.query<{ is_preceded: boolean; actors: string | null }>(
    NEWS,
    [projectId, span.fromMs, span.toMs, reach.fromMs],
  );
  const { is_preceded, actors } = row!;
  if (!is_preceded) return null;
  const news = new Uint8Array(actorOf.length);
  for (const actor of unpackInts(actors)) news[actor] = 1;
  return news;
}
