/** Sessions longer than this are found by their length, the others by their start. */
const LONG_S = 3_600;

/**
 * Returns a subquery of the sessions of project `k.project_id` that overlap a span, both ends included, with
 * their `actor_id`. `is_sure`: it has no event of a bot, and its first or last event lies in the span, so that
 * the actor did something there. Of any other session only its events tell.
 * @param fromMs the ends, in SQL
 */
export const sessionsIn = (fromMs: string, toMs: string): string => `
  SELECT actor_id, humans = events AND (first_ms >= ${fromMs} OR last_ms <= ${toMs}) AS is_sure
  FROM sessions
  WHERE project_id = k.project_id AND first_ms >= ${fromMs} - ${LONG_S * 1000}
    AND first_ms <= ${toMs} AND last_ms >= ${fromMs} AND humans > 0
  UNION ALL
  SELECT actor_id, humans = events AND last_ms <= ${toMs}
  FROM sessions
  WHERE project_id = k.project_id AND ((last_ms - first_ms) / 1000) >= ${LONG_S}
    AND first_ms < ${fromMs} - ${LONG_S * 1000} AND last_ms >= ${fromMs} AND humans > 0`;
