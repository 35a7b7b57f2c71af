import { arrayLiteral, type Row } from "../db/sql.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import { CROSSING } from "./crossing_visitor.ts";
import type { FilteredTimelines } from "./filtered_timelines.ts";
import type { Read } from "./read.ts";

type Source = Pick<Read, "sql" | "timelines">;

/** When the sessions that cross a moment begin and end, the first and the last of them; nulls: none does. */
interface Crossing extends Row {
  readonly first_ms: number | null;
  readonly last_ms: number | null;
}

const FIGURES = "min(s.first_ms) AS first_ms, max(s.last_ms) AS last_ms";

const CROSSING_OF_ACTORS = `
SELECT ${FIGURES}
FROM unnest($3::text::int[]) AS near (actor_id)
CROSS JOIN LATERAL (
  SELECT first_ms, last_ms FROM sessions
  WHERE project_id = $1::int AND actor_id = near.actor_id AND first_ms < $2::int8
  ORDER BY first_ms DESC LIMIT 1
) AS s
WHERE s.last_ms >= $2::int8`;

/** Which actors have events of sessions on both sides of a moment, as near as those of one session lie. */
async function actorsAround(timelines: FilteredTimelines, atMs: number): Promise<number[]> {
  const { before, after } = await timelines.scan(CROSSING, () => ({ atMs }), { byRun: true });
  return [...new Set(before).intersection(new Set(after))];
}

async function crossingAt(
  { sql, timelines }: Source,
  projectId: number,
  atMs: number,
): Promise<Crossing> {
  // A session that crosses a moment has an event before it, and no longer pause from there to the next
  // than any session may have: so the few events around the moment name all that cross it.
  const span = { fromMs: atMs - SESSION_GAP_MS, toMs: atMs + SESSION_GAP_MS + 1 };
  const loaded = await timelines(span, []);
  const [found] = await sql.query<Crossing>(
    CROSSING_OF_ACTORS,
    [projectId, atMs, arrayLiteral(await actorsAround(loaded, atMs))],
  );
  return found!;
}

/** When the first of the sessions starts that reach beyond a moment: in milliseconds, at most that moment. */
export async function sessionsStartMs(
  source: Source,
  projectId: number,
  fromMs: number,
): Promise<number> {
  return (await crossingAt(source, projectId, fromMs)).first_ms ?? fromMs;
}

/**
 * How far sessions that start before a moment reach: an instant in milliseconds, at least that
 * moment, before which the last event of each of them lies.
 */
export async function sessionsEndByMs(
  source: Source,
  projectId: number,
  toMs: number,
): Promise<number> {
  const { last_ms } = await crossingAt(source, projectId, toMs);
  return last_ms === null ? toMs : last_ms + 1;
}
