import { arrayLiteral, type Row } from "../db/sql.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import type { Span } from "../query/selection.ts";
import { CROSSING, type Edge } from "./crossing_visitor.ts";
import type { TimelineSource } from "./read.ts";

type CrossingRow = Row & Record<"at_ms" | "first_ms" | "last_ms", number>;

// The earliest start and the latest end of the sessions that cross each moment; no row for one that none crosses.
// A subquery hides the project from the planner: it would take one that its statistics do not know for one without rows,
// and read all of its sessions for each actor.
const CROSSING_OF_ACTORS = `
SELECT near.at_ms, min(s.first_ms) AS first_ms, max(s.last_ms) AS last_ms
FROM unnest($2::text::int[], $3::text::int8[]) AS near (actor_id, at_ms)
CROSS JOIN LATERAL (
  SELECT first_ms, last_ms FROM sessions
  WHERE project_id = (SELECT $1::int) AND actor_id = near.actor_id AND first_ms < near.at_ms
  ORDER BY first_ms DESC LIMIT 1
) AS s
WHERE s.last_ms >= near.at_ms
GROUP BY near.at_ms`;

/** Returns the actors with events of sessions on both sides of a moment, within a session's gap of it. */
async function actorsAround({ timelines }: TimelineSource, edge: Edge): Promise<number[]> {
  const { atMs } = edge;
  // A session that crosses a moment has an event before it and one after it, and no gap in a session
  // is longer than `SESSION_GAP_MS`: the few events around the moment tell who may have such a session.
  const span = { fromMs: atMs - SESSION_GAP_MS, toMs: atMs + SESSION_GAP_MS + 1 };
  const loaded = await timelines(span, []);
  // No event follows the present, where each range of the last days ends.
  if (loaded.lastMs < atMs) return [];
  const { before, after } = await loaded.scan(CROSSING, () => edge, { byRun: true });
  return [...new Set(before).intersection(new Set(after))];
}

/**
 * Returns, for each of some edges, the span from the start of the earliest of the sessions that cross it to after the
 * end of the latest; it is empty, at the moment, if none does.
 */
export async function sessionsAcross(
  source: TimelineSource,
  projectId: number,
  edges: readonly Edge[],
): Promise<Span[]> {
  const looking = edges.map(async (edge) => {
    const actors = await actorsAround(source, edge);
    return actors.map((id) => ({ id, atMs: edge.atMs }));
  });
  // No thread may visit what one of them has loaded once this has failed.
  await Promise.allSettled(looking);
  const actors = (await Promise.all(looking)).flat();
  const rows = actors.length === 0 ? [] : await source.sql.query<CrossingRow>(CROSSING_OF_ACTORS, [
    projectId,
    arrayLiteral(actors.map(({ id }) => id)),
    arrayLiteral(actors.map(({ atMs }) => atMs)),
  ]);
  const crossing = new Map(rows.map((row) => [row.at_ms, row]));
  return edges.map(({ atMs }) => {
    const row = crossing.get(atMs);
    if (row === undefined) return { fromMs: atMs, toMs: atMs };
    return { fromMs: row.first_ms, toMs: row.last_ms + 1 };
  });
}

/**
 * Returns a span with the whole of each session that crosses one of its edges.
 * @param isOfEntries whether only the entries of sessions matter: then most need not be followed past the span
 */
export async function withWholeSessions(
  source: TimelineSource,
  projectId: number,
  { fromMs, toMs }: Span,
  isOfEntries = false,
): Promise<Span> {
  const edges = [{ atMs: fromMs }, { atMs: toMs, isOfEntries }];
  const [first, last] = await sessionsAcross(source, projectId, edges);
  return { fromMs: first!.fromMs, toMs: last!.toMs };
}

/** Returns when the last of the sessions that cross a moment is over; the moment itself if none crosses it. */
export async function endOfSessions(
  source: TimelineSource,
  projectId: number,
  atMs: number,
): Promise<number> {
  const [across] = await sessionsAcross(source, projectId, [{ atMs }]);
  return across!.toMs;
}
