-- Properties of events beside the segments' numbers, so that reads need not look up facts for them.
-- Which events of a segment have any, where each one's JSON text ends, and the texts, which
-- PostgreSQL compresses. The first fold makes the histories of each project anew.
DELETE FROM history_segments;
ALTER TABLE history_segments
  ADD COLUMN propertied bytea NOT NULL,
  ADD COLUMN text_ends bytea NOT NULL,
  ADD COLUMN texts bytea NOT NULL;
UPDATE fold_projects SET has_histories = false;

-- Page views are counted from histories: what is still looked up by path is where and when they were.
-- An entry for each of them with all that counting takes made that index the largest by far.
DROP INDEX facts_by_path;
CREATE INDEX facts_by_view ON facts (project_id, path_id, tick) WHERE name_id = 1;
CREATE INDEX facts_by_path ON facts (project_id, name_id, path_id, tick) INCLUDE (actor_id, context_id, spot)
  WHERE name_id = 2 OR name_id = 3;
