-- No event that belongs to no session (of a backend, or with `$session: false`) is later than this: who is
-- there at a moment after it stands in sessions alone. Null: there is none. Of what was projected before
-- it is not known which events are.
ALTER TABLE projections ADD COLUMN sessionless_to_ms int8;
UPDATE projections p SET sessionless_to_ms =
  (SELECT max(s.to_ms) FROM segments s WHERE s.project_id = p.project_id);
