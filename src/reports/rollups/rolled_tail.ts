import { arrayLiteral, type Row } from "../../db/sql.ts";
import { TAIL_ACTORS_LOOKED_UP_MAX } from "../../limits.ts";
import { keyedRow } from "../../db/keyed_rows.ts";
import type { Span } from "../../query/selection.ts";
import type { TimelineSource } from "../../scans/read.ts";
import { readTechnicalNames } from "../../scans/technical_names.ts";
import { NEVER } from "../../store/no_day.ts";
import { TAIL_COUNTS, type TailCounts } from "./tail_visitor.ts";

/** Counts what people did in a part of a day. */
export async function countTail(
  { sql, timelines }: TimelineSource,
  projectId: number,
  span: Span,
): Promise<TailCounts> {
  const loaded = await timelines(span, []);
  const technical = await readTechnicalNames(sql, projectId);
  return await loaded.scan(TAIL_COUNTS, () => ({ span, technical }), { byRun: true });
}

// An actor of the tail is already counted if its last day before the tail is in the span.
const countedInTail = (actors: string): string => `
SELECT count(*) FILTER (WHERE prev_day < $4::int) AS visitors,
  count(*) FILTER (WHERE prev_day < $4::int AND first_day >= $4::int) AS "newVisitors",
  count(*) FILTER (WHERE prev_day < $5::int) AS "visitorsInBucket",
  count(*) FILTER (WHERE prev_day < $5::int AND first_day >= $5::int) AS "newInBucket"
FROM (
  SELECT a.first_day, coalesce(a.days[width_bucket($3::int - 1, a.days)], ${NEVER}) AS prev_day
  FROM unnest($2::text::int[]) AS t (actor_id) ${actors}
) AS known`;
const OF_FEW = countedInTail(
  `CROSS JOIN ${keyedRow("actors v", "v.actor_id = t.actor_id", "$1::int")} AS a`,
);
const OF_MANY = countedInTail(
  "JOIN actors a ON a.project_id = $1::int AND a.actor_id = t.actor_id",
);

/** What the tail adds to the whole span, and to the last bucket. */
type TailVisitors = "visitors" | "newVisitors" | "visitorsInBucket" | "newInBucket";

/**
 * Reads what the tail, the part of a day at the end of a span, adds to the whole days before it.
 * @param lastStart the first day of the last bucket, which the tail belongs to
 */
export async function readTail(
  source: TimelineSource,
  { projectId, fromDay, toDay }: Readonly<Record<"projectId" | "fromDay" | "toDay", number>>,
  tail: Span,
  lastStart: number,
) {
  const { sql } = source;
  const { actors, events, pageviews } = await countTail(source, projectId, tail);
  const params = [projectId, arrayLiteral([...actors]), toDay, fromDay, lastStart];
  const read = async (text: string) =>
    (await sql.query<Row & Record<TailVisitors, number>>(text, params))[0]!;
  // Few actors are best looked up one by one, many are not. The planner does not know how many there are.
  if (actors.size <= TAIL_ACTORS_LOOKED_UP_MAX) return { ...await read(OF_FEW), events, pageviews };
  const [joins] = await sql.query<{ loops: string }>(
    "SELECT current_setting('enable_nestloop') AS loops",
  );
  await sql.query("SELECT set_config('enable_nestloop', 'off', true)");
  const row = await read(OF_MANY);
  await sql.query("SELECT set_config('enable_nestloop', $1, true)", [joins!.loops]);
  return { ...row, events, pageviews };
}
