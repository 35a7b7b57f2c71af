/** What `fold_changed` holds of a session, behind its sign: 1 where it came, -1 where it went. */
export const CHANGED =
  "first_tick, last_tick, views, customs, humans, actor_id, traffic_id, context_id, entry_path_id";

/**
 * Whether a fact is counted as an event, by its name: technical ones are not. They make nobody a
 * visitor, and say nothing of when somebody was first seen. $1 is the project.
 */
export const COUNTED =
  "name_id NOT IN (SELECT term_id FROM technical_names WHERE project_id = $1::int)";

/**
 * Working tables of one fold. They are the connection's own, empty at each start of a transaction,
 * and written set by set: no row of them outlives the commit.
 */
export const FOLD_TABLES = `
CREATE TEMP TABLE IF NOT EXISTS fold_fresh (
  event_id uuid, at_ms bigint, name text, path text, title text, referrer_key text, anonymous_id text, user_id text, hash text,
  in_session bool, context_key text, traffic_key text, spot int,
  depth float8, properties jsonb
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_keys (
  kind "char", key text, digest uuid, sample uuid, id int
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_who (
  kind "char", value text, identity_id int, actor_id int
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_moves (
  identity_id int, old_actor int, new_actor int, value text
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_left (
  event_id uuid, tick bigint, old_actor int, new_actor int, session_id int
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_new (
  event_id uuid, tick bigint, actor_id int, name_id int, path_id int, context_id int, traffic_id int,
  spot int, identity_id int, title_id int, referrer_id int, depth float8, properties jsonb
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_ties (
  actor_id int, tick bigint
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_removed (
  tick bigint, actor_id int, name_id int, context_id int
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_changed (
  sign int, first_tick bigint, last_tick bigint, views int, customs int, humans int,
  actor_id int, traffic_id int, context_id int, entry_path_id int
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_days (
  actor_id int, old_days int[], old_first int, new_days int[], new_first int, recount bool
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_dissolved (session_id int) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_gone (
  session_id int, actor_id int, first_tick bigint, last_tick bigint
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_loose (
  event_id uuid, tick bigint, actor_id int, name_id int, path_id int, context_id int, traffic_id int,
  is_new bool
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_reach (
  actor_id int, low_tick bigint, high_tick bigint
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_segments (
  first_tick bigint, last_tick bigint, first_view_tick bigint, last_view_tick bigint, island bigint,
  event_id uuid, actor_id int, session_id int, events int, views int, customs int, humans int,
  entry_path_id int, exit_path_id int, context_id int, traffic_id int
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS fold_islands (
  first_tick bigint, last_tick bigint, first_view_tick bigint, last_view_tick bigint, island bigint,
  actor_id int, session_id int, events int, views int, customs int, humans int,
  entry_path_id int, exit_path_id int, context_id int, traffic_id int
) ON COMMIT DELETE ROWS;`;
