import type { Sql } from "../../src/db/sql.ts";
import { DIMENSIONS } from "../../src/sessions/value_numbers.ts";
import { assertHistories } from "./stored_history.ts";

/** The value that a number of a rollup of acquisition (alias v) stands for. */
const NAMES = `(ARRAY['${DIMENSIONS.join("', '")}'])[v.dimension + 1]`;
const VALUE = `CASE
  WHEN v.dimension = 0 THEN ''
  WHEN v.dimension = 8 THEN coalesce(p.term, '')
  WHEN v.dimension > 8 THEN coalesce(to_jsonb(c) ->> ${NAMES}, '-')
  ELSE coalesce(to_jsonb(t) ->> ${NAMES}, '-') END`;
const VALUE_JOINS = `
  LEFT JOIN terms p ON p.project_id = v.project_id AND p.term_id = v.value_number
  LEFT JOIN contexts c ON c.project_id = v.project_id AND c.context_id = v.value_number
  LEFT JOIN traffic t ON t.project_id = v.project_id AND t.traffic_id = v.value_number`;

/**
 * What the fold has made of a project, without the numbers it chose: two folds of the same events
 * must agree on every line. Histories must be those of the facts.
 */
export async function foldedState(sql: Sql, projectId: number): Promise<string[]> {
  await assertHistories(sql, projectId);
  const rows = await sql.query<{ line: string }>(
    `WITH who AS (
      SELECT project_id, identity_id, kind::text || ':' || value AS who FROM identities
    )
    SELECT concat_ws(' ', 'fact', f.event_id, f.tick, w.who, n.term, p.term,
      c.host, c.country, c.device, f.context_id < 0, s.first_tick) AS line
    FROM facts f
    JOIN who w ON w.project_id = f.project_id AND w.identity_id = f.actor_id
    JOIN terms n ON n.project_id = f.project_id AND n.term_id = f.name_id
    LEFT JOIN terms p ON p.project_id = f.project_id AND p.term_id = f.path_id
    JOIN contexts c ON c.project_id = f.project_id AND c.context_id = f.context_id
    LEFT JOIN sessions s ON s.project_id = f.project_id AND s.session_id = f.session_id
    WHERE f.project_id = $1::int
    UNION ALL
    SELECT concat_ws(' ', 'session', w.who, s.first_tick, s.last_tick, coalesce(s.first_view_tick, 0),
      coalesce(s.last_view_tick, 0), s.events, s.views, s.customs, s.humans, n.term, p.term, '|', t.channel,
      t.rule, t.source, t.medium, t.campaign, t.referrer, '|', c.host, c.country, c.device)
    FROM sessions s
    JOIN who w ON w.project_id = s.project_id AND w.identity_id = s.actor_id
    LEFT JOIN terms n ON n.project_id = s.project_id AND n.term_id = s.entry_path_id
    LEFT JOIN terms p ON p.project_id = s.project_id AND p.term_id = s.exit_path_id
    JOIN traffic t ON t.project_id = s.project_id AND t.traffic_id = s.traffic_id
    JOIN contexts c ON c.project_id = s.project_id AND c.context_id = s.context_id
    WHERE s.project_id = $1::int
    UNION ALL
    SELECT concat_ws(' ', 'actor', w.who, a.first_tick >> 16, a.first_day, a.days)
    FROM actors a JOIN who w ON w.project_id = a.project_id AND w.identity_id = a.actor_id
    WHERE a.project_id = $1::int
    UNION ALL
    SELECT concat_ws(' ', 'day', day, events, pageviews, sessions, bounces, duration_ms)
    FROM day_totals
    WHERE project_id = $1::int AND (events, sessions) <> (0, 0)
    UNION ALL
    SELECT concat_ws(' ', 'durations', day, seconds, sessions)
    FROM session_durations WHERE project_id = $1::int AND sessions <> 0
    UNION ALL
    SELECT concat_ws(' ', 'visitors', day, prev_day, cohort_day, first_day, actors)
    FROM visitor_days WHERE project_id = $1::int AND actors <> 0
    UNION ALL
    SELECT concat_ws(' ', 'came', v.dimension, v.day, ${VALUE}, l.prev_day, l.first_day, l.actors)
    FROM acquisition_days v ${VALUE_JOINS}
    CROSS JOIN LATERAL unnest(v.prev_days, v.first_days, v.actors) AS l (prev_day, first_day, actors)
    WHERE v.project_id = $1::int
    UNION ALL
    SELECT concat_ws(' ', 'by', v.dimension, v.day, ${VALUE}, r.rule, s.sessions, s.bounces, s.pageviews)
    FROM acquisition_days v ${VALUE_JOINS}
    CROSS JOIN LATERAL unnest(v.rules, v.sessions, v.bounces, v.pageviews)
      AS s (rule_number, sessions, bounces, pageviews)
    JOIN traffic r ON r.project_id = v.project_id AND r.traffic_id = s.rule_number
    WHERE v.project_id = $1::int
    ORDER BY line`,
    [projectId],
  );
  return rows.map(({ line }) => line);
}
