-- Names of events that begin with `$` are technical: they tell who is who, and are counted only where
-- a question names them. Here are those that the fold has met.
CREATE TABLE technical_names (
  project_id int NOT NULL,
  term_id int NOT NULL,
  name text NOT NULL,
  PRIMARY KEY (project_id, term_id)
);

-- Projects that have such events already are folded anew.
CREATE TEMP TABLE anew ON COMMIT DROP AS
SELECT DISTINCT f.project_id FROM terms t
JOIN facts f ON f.project_id = t.project_id AND f.name_id = t.term_id
WHERE t.term LIKE '$%' AND f.name_id > 3;

UPDATE events e SET in_session = false WHERE e.in_session AND e.name LIKE '$%';
DELETE FROM facts WHERE project_id IN (SELECT project_id FROM anew);
DELETE FROM sessions WHERE project_id IN (SELECT project_id FROM anew);
DELETE FROM actors WHERE project_id IN (SELECT project_id FROM anew);
DELETE FROM identities WHERE project_id IN (SELECT project_id FROM anew);
DELETE FROM history_segments WHERE project_id IN (SELECT project_id FROM anew);
DELETE FROM day_totals WHERE project_id IN (SELECT project_id FROM anew);
DELETE FROM session_durations WHERE project_id IN (SELECT project_id FROM anew);
DELETE FROM visitor_days WHERE project_id IN (SELECT project_id FROM anew);
DELETE FROM acquisition_days WHERE project_id IN (SELECT project_id FROM anew);
DELETE FROM fold_marks WHERE project_id IN (SELECT project_id FROM anew);
INSERT INTO fold_marks (project_id, event_count, event_ids)
SELECT project_id, count(*), array_agg(event_id)
FROM (
  SELECT project_id, event_id,
    (row_number() OVER (PARTITION BY project_id ORDER BY occurred_at, event_id) - 1) / 500 AS slice
  FROM events WHERE project_id IN (SELECT project_id FROM anew)
) AS listed
GROUP BY project_id, slice ORDER BY project_id, slice;
UPDATE fold_projects SET links_version = links_version + 1
WHERE project_id IN (SELECT project_id FROM anew);
