import type { Sql } from "../../src/db/sql.ts";
import { ROLLED_DIMENSIONS } from "../../src/attribution/dimensions.ts";
import { eventsOfIdentities } from "../support/segment_events.ts";

/** The value that a number of a rollup of acquisition (alias v) stands for. */
const NAMES = `(ARRAY['${ROLLED_DIMENSIONS.join("', '")}'])[v.dimension + 1]`;
const VALUE = `CASE
  WHEN v.dimension = 0 THEN ''
  WHEN v.dimension = 8 THEN coalesce(p.term, '')
  WHEN v.dimension > 8 THEN coalesce(to_jsonb(c) ->> ${NAMES}, '-')
  ELSE coalesce(to_jsonb(t) ->> ${NAMES}, '-') END`;
const VALUE_JOINS = `
  LEFT JOIN terms p ON p.project_id = v.project_id AND p.term_id = v.value_number
  LEFT JOIN contexts c ON c.project_id = v.project_id AND c.context_id = v.value_number
  LEFT JOIN traffic t ON t.project_id = v.project_id AND t.traffic_id = v.value_number`;

interface Words extends Record<string, unknown> {
  readonly kind: string;
  readonly id: number;
  readonly word: string;
}

const WORDS = `
SELECT 'term' AS kind, term_id AS id, term AS word FROM terms WHERE project_id = $1::int
UNION ALL SELECT 'referrer', referrer_id, address || ' ' || coalesce(host, '-') FROM referrers
  WHERE project_id = $1::int
UNION ALL SELECT 'context', context_id, concat_ws(' ', host, country, device, context_id < 0)
  FROM contexts WHERE project_id = $1::int
UNION ALL SELECT 'traffic', traffic_id, concat_ws(' ', channel, source, medium) FROM traffic
  WHERE project_id = $1::int
UNION ALL SELECT 'actor', i.identity_id, a.kind::text || a.value FROM identities i
  JOIN identities a ON a.project_id = i.project_id AND a.identity_id = i.actor_id
  WHERE i.project_id = $1::int`;

/** Every stored event, whole, and what its numbers stand for. */
async function eventLines(sql: Sql, projectId: number): Promise<string[]> {
  const words = new Map<string, string>();
  const identities = new Set<number>();
  for (const { kind, id, word } of await sql.query<Words>(WORDS, [projectId])) {
    words.set(`${kind} ${id}`, word);
    if (kind === "actor") identities.add(id);
  }
  const wordOf = (kind: string, id: number) => id === 0 ? "-" : words.get(`${kind} ${id}`)!;
  const events = await eventsOfIdentities(sql, projectId, identities);
  return events.map(({ identity, ms, name, path, title, referrer, context, traffic, row }) => {
    const { project_id: _project, received_at: _arrived, ...members } = row;
    const numbers = [["term", name], ["term", path], ["term", title], [
      "referrer",
      referrer,
    ]] as const;
    return [
      ...["event", ms, wordOf("actor", identity), ...numbers.map(([kind, id]) => wordOf(kind, id))],
      ...[wordOf("context", context), wordOf("traffic", traffic)],
      JSON.stringify(members, Object.keys(members).sort()),
    ].join(" ");
  }).sort();
}

/**
 * What the projection has made of a project, without the numbers it chose: two projections of the
 * same events must agree on every line.
 */
export async function projectedState(sql: Sql, projectId: number): Promise<string[]> {
  const rows = await sql.query<{ line: string }>(
    `WITH who AS (
      SELECT project_id, identity_id, kind::text || ':' || value AS who FROM identities
    )
    SELECT concat_ws(' ', 'session', w.who, s.first_ms, s.last_ms, coalesce(s.first_view_ms, 0),
      coalesce(s.last_view_ms, 0), s.entry_id, s.exit_id, s.events, s.views, s.customs, s.humans, n.term, p.term, '|', t.channel,
      t.rule, t.source, t.medium, t.campaign, t.referrer, '|', c.host, c.country, c.device) AS line
    FROM sessions s
    JOIN who w ON w.project_id = s.project_id AND w.identity_id = s.actor_id
    LEFT JOIN terms n ON n.project_id = s.project_id AND n.term_id = s.entry_path_id
    LEFT JOIN terms p ON p.project_id = s.project_id AND p.term_id = s.exit_path_id
    JOIN traffic t ON t.project_id = s.project_id AND t.traffic_id = s.traffic_id
    JOIN contexts c ON c.project_id = s.project_id AND c.context_id = s.context_id
    WHERE s.project_id = $1::int
    UNION ALL
    SELECT concat_ws(' ', 'actor', w.who, a.first_ms, a.first_day, a.days)
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
  return [...await eventLines(sql, projectId), ...rows.map(({ line }) => line)];
}
