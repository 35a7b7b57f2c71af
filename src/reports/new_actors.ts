import { packInts, unpackInts } from "../db/packed_ints.ts";
import type { Row, Sql } from "../db/sql.ts";
import type { Histories } from "../histories/histories.ts";
import type { Span } from "../selection/selection.ts";

// One statement, so that the database works on it while histories are walked.
const NEWS = `
SELECT p.is_preceded, CASE WHEN p.is_preceded THEN (
    SELECT ${packInts(["actor_id"])} FROM actors
    WHERE project_id = $1::int AND first_tick >= $2::int8 << 16 AND first_tick < $3::int8 << 16
  ) END AS actors
FROM (
  SELECT EXISTS (
    SELECT FROM history_segments WHERE project_id = $1::int AND to_ms < $4::int8
  ) AS is_preceded
) AS p`;

interface News extends Row {
  readonly is_preceded: boolean;
  readonly actors: string | null;
}

/**
 * Whose first event ever lies in a span: 1 at the place of each. Null where no event precedes the
 * histories that were loaded for `reach`, which must begin no later than the span: then they tell it.
 */
export async function readNewActors(
  sql: Sql,
  { projectId, actorOf }: Histories,
  span: Span,
  reach: Span,
): Promise<Uint8Array | null> {
  const [row] = await sql.query<News>(NEWS, [projectId, span.fromMs, span.toMs, reach.fromMs]);
  const { is_preceded, actors } = row!;
  if (!is_preceded) return null;
  const news = new Uint8Array(actorOf.length);
  for (const actor of unpackInts(actors)) news[actor] = 1;
  return news;
}
