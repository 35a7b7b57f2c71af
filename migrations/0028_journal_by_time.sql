-- The newest events are listed from the journal: its rows by when their last event happened.
CREATE INDEX journal_by_time ON journal (project_id, to_ms, journal_id);

-- The time of the last event that the journal may lack; null: it holds all that was ever stored. Of
-- what was stored before, nobody noted it.
ALTER TABLE projections ADD COLUMN journal_lacks_to_ms int8;
UPDATE projections p SET journal_lacks_to_ms =
  (SELECT max(s.to_ms) FROM segments s WHERE s.project_id = p.project_id);
