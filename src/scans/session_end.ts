import { arrayLiteral, type Row } from "../db/sql.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import type { Span } from "../query/selection.ts";
import { CROSSING } from "./crossing_visitor.ts";
import type { FilteredTimelines } from "./filtered_timelines.ts";
import type { TimelineSource } from "./read.ts";

/** The earliest start and the latest end of the sessions that cross a moment; nulls: none does. */
const FIGURES = "min(s.first_ms) AS first_ms, max(s.last_ms) AS last_ms";

// A subquery hides the project from the planner: it would take one that its statistics do not know for one without rows,
// and read all of its sessions for each actor.
const CROSSING_OF_ACTORS = `
SELECT ${FIGURES}
FROM unnest($3::text::int[]) AS near (actor_id)
CROSS JOIN LATERAL (
  SELECT first_ms, last_ms FROM sessions
  WHERE project_id = (SELECT $1::int) AND actor_id = near.actor_id AND first_ms < $2::int8
  ORDER BY first_ms DESC LIMIT 1
) AS s
WHERE s.last_ms >= $2::int8`;

/** Returns the actors with events of sessions on both sides of a moment, within a session's gap of it. */
async function actorsAround(timelines: FilteredTimelines, atMs: number): Promise<number[]> {
  const { before, after } = await timelines.scan(CROSSING, () => ({ atMs }), { byRun: true });
  return [...new Set(before).intersection(new Set(after))];
}

/**
 * Returns the span from the start of the earliest of the sessions that cross a moment to after the end of the
 * latest; it is empty, at the moment, if none does.
 */
export async function sessionsAcross(
  { sql, timelines }: TimelineSource,
  projectId: number,
  atMs: number,
): Promise<Span> {
  // A session that crosses a moment has an event before it and one after it, and no gap in a session
  // is longer than `SESSION_GAP_MS`: the few events around the moment tell who may have such a session.
  const span = { fromMs: atMs - SESSION_GAP_MS, toMs: atMs + SESSION_GAP_MS + 1 };
  const loaded = await timelines(span, []);
  const empty = { fromMs: atMs, toMs: atMs };
  // No event follows the present, where each range of the last days ends.
  if (loaded.lastMs < atMs) return empty;
  const actors = await actorsAround(loaded, atMs);
  if (actors.length === 0) return empty;
  const [row] = await sql.query<Row & Record<"first_ms" | "last_ms", number | null>>(
    CROSSING_OF_ACTORS,
    [projectId, atMs, arrayLiteral(actors)],
  );
  const { first_ms, last_ms } = row!;
  return { fromMs: first_ms ?? atMs, toMs: last_ms === null ? atMs : last_ms + 1 };
}
