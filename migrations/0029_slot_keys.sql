-- The properties, as JSON, that have a column of their own in a segment: so that those of a project's
-- segments together stay few.
ALTER TABLE segments ADD COLUMN slot_keys text[] NOT NULL DEFAULT '{}';
